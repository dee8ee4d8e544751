"""The gallery of a folder with one person, two garments and nobody. Needs the person segmenter's model files."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from api.dashboard.samples import PORTRAIT, pixels_of
from bench.engine import gallery
from engines.models import models_present

MODELS = Path(__file__).parents[3] / ".models"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not models_present(MODELS):
        pytest.skip("the pose models were not fetched")
    monkeypatch.setenv("TRYON_MODELS_DIR", str(MODELS))
    for name in ("person", "upper", "lower"):
        (tmp_path / name).mkdir()
    Image.fromarray(pixels_of(PORTRAIT)).save(tmp_path / "person" / "portrait.png")
    Image.new("RGB", (512, 512), "grey").save(tmp_path / "person" / "nobody.png")
    Image.fromarray(pixels_of("striped_sweater")).save(tmp_path / "upper" / "sweater.jpg")
    Image.fromarray(pixels_of("striped_sweater")).save(tmp_path / "lower" / "hidden.jpg")
    (tmp_path / "upper" / "torn.jpg").write_bytes(b"no picture")
    return tmp_path


def test_a_page_shows_what_makes_sense_and_says_who_was_skipped(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["gallery", str(folder), "--out", str(folder / "out")])
    gallery.main()
    page = (folder / "out" / "index.html").read_text()
    assert page.count("<figure>") == 1, "a portrait without legs gets no trousers"
    assert "upper_body--sweater--portrait" in page
    assert "chest_cover" in page
    with Image.open(folder / "out" / "upper_body--sweater--portrait--result.jpg") as result:
        assert result.size == (512, 512)
    said = capsys.readouterr().out
    assert "nobody.png: person_not_found" in said
    assert "torn.jpg: " in said


def test_only_pairs_that_were_asked_for_are_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["gallery", str(folder), "--out", str(folder / "out"), "--only", "lower_body"])
    gallery.main()
    assert "<figure" not in (folder / "out" / "index.html").read_text()
