from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.imaging.shop import Shop, open_shop


@pytest.fixture
def shared_decoders() -> None:
    """None: how each pool starts and ends its processes is what is tested here."""


@pytest.fixture
async def shop(certificate: tuple[Path, Path]) -> AsyncIterator[Shop]:
    async with open_shop(*certificate) as running:
        yield running
