from __future__ import annotations

from collections.abc import Iterator

import pytest
from PIL import Image

from api.dashboard.samples import PORTRAIT, pixels_of
from tests.pictures import data_uri, encoded
from tests.stack.stack import Stack, running_stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One stack for every test that leaves it as it was."""
    with running_stack(tmp_path_factory.mktemp("stack")) as running:
        yield running


@pytest.fixture(scope="session")
def portrait() -> str:
    """A person that may be shipped, as a data: URI."""
    return data_uri(encoded(Image.fromarray(pixels_of(PORTRAIT))))


@pytest.fixture(scope="session")
def sweater() -> str:
    return data_uri(encoded(Image.fromarray(pixels_of("striped_sweater"))))
