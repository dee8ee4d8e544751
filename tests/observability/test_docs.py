from __future__ import annotations

import re
from pathlib import Path

import pytest

from runtime.metric_catalogue import ENGINE_READING
from tests.observability.conftest import Played
from tests.observability.test_metrics import samples

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def named_in(page: Path) -> set[str]:
    """Whatever is written like a metric: such names have three parts at least."""
    return set(re.findall(r"`((?:tryon|temporal|http)_[a-z0-9]+_[a-z0-9_]*)[`{…]", page.read_text()))


@pytest.mark.parametrize("page", [page for page in PAGES if named_in(page)], ids=lambda page: page.name)
async def test_every_metric_that_a_page_names_is_served(page: Path, played: Played) -> None:
    served = {name for text in (played.api, played.cpu, played.gpu) for name in samples(text)}
    histograms = {name.removesuffix("_bucket") for name in served if name.endswith("_bucket")}
    assert named_in(page) <= served | histograms | {ENGINE_READING}
