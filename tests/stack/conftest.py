from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from PIL import Image

from api.dashboard.samples import PORTRAIT, pixels_of
from tests.pictures import data_uri, encoded
from tests.stack.full_store import FullStore, filled_store

SIDE = 288
"""Pixels: nearly as small as pictures may be, which is a quarter of the work of those that people send."""


@pytest.fixture(scope="session")
def portrait() -> str:
    """A person that may be shipped, as a data: URI."""
    return data_uri(encoded(Image.fromarray(pixels_of(PORTRAIT)).resize((SIDE, SIDE))))


@pytest.fixture(scope="session")
def sweater() -> str:
    return data_uri(encoded(Image.fromarray(pixels_of("striped_sweater")).resize((SIDE, SIDE))))


@pytest.fixture(scope="session", autouse=True)
async def full_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[FullStore | None]:
    """Begun before the first test, where the test that waits for it is one of them."""
    if any(item.path.name == "test_full_disk.py" for item in request.session.items):
        async with filled_store(tmp_path_factory.mktemp("full")) as store:
            yield store
    else:
        yield None
