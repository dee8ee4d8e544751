"""The compose file, read once."""

from __future__ import annotations

import pytest

from tests.deployment.compose import FILE, Compose, filled_in, read


@pytest.fixture(scope="session")
def compose() -> Compose:
    return read(FILE.read_text(), filled_in())
