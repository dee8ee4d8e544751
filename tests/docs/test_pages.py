"""The docs tell the truth: generated pages are up to date, and what a page names exists."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from imaging.limits import MIB
from runtime.settings import IN_COMBO, ImageSettings

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", PROJECT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name", ["configuration.md", "errors.md", "test-keys.md", "garments.md", "api.md", "observability.md"]
)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert (PROJECT / "docs" / name).read_text() == generator().pages()[name], "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_that_is_named_exists(page: Path) -> None:
    known = (PROJECT / "docs" / "configuration.md").read_text()
    for name in re.findall(r"TRYON_[A-Z0-9_]+", page.read_text()):
        assert f"`{name}`" in known or name == "TRYON_DATA_DIR", name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    for name in re.findall(r"`make ([a-z-]+)", page.read_text()):
        assert name in targets, name


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name != "decisions"], ids=lambda page: page.name
)
def test_every_file_that_is_named_exists(page: Path) -> None:
    """Decisions tell of their own day; every other page of today."""
    folders = "|".join(
        path.name for path in PROJECT.iterdir() if path.is_dir() and path.name[0] != "." and path.name != "out"
    )
    for name in re.findall(rf"`((?:{folders})/[\w./-]*)`", page.read_text()):
        assert (PROJECT / name).exists(), name


def test_pages_name_the_limits_that_there_are() -> None:
    images, pages = ImageSettings(), {path.name: path.read_text() for path in PAGES}
    combo = images.body_cap(IN_COMBO) // MIB
    assert f"| body | {combo} MiB, a little more here |" in pages["deployment.md"]
    assert f"client_max_body_size {combo + 1}m;" in pages["deployment.md"]
    logo = images.logo_limits()
    assert f"at most {logo.size}, at least {logo.min_side} pixels a side, at most {logo.times}" in pages["watermark.md"]
    assert f"| over {logo.size} | `logo_too_large` |" in pages["watermark.md"]
