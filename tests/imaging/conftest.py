from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.imaging.shop import Shop, make_certificate, open_shop


@pytest.fixture
def shared_decoders() -> None:
    """None: how each pool starts and ends its processes is what is tested here."""


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("the openssl program, which signs the test server's certificate, is not installed")
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
async def shop(certificate: tuple[Path, Path]) -> AsyncIterator[Shop]:
    async with open_shop(*certificate) as running:
        yield running
