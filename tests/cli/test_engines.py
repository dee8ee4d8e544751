"""``tryon engines``: what there is, where it comes from, and the same outfit by several engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from api.dashboard.samples import PORTRAIT, pixels_of
from cli.main import app
from engines.catalogue import OFFERED
from engines.models import models_present

MODELS = Path(__file__).parents[2] / ".models"


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_MODELS_DIR", str(MODELS))
    monkeypatch.setenv("TRYON_WEIGHTS_DIR", str(tmp_path / "weights"))


def engines(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["engines", *arguments])


def test_list_says_licence_source_and_how_to_get_what_is_missing() -> None:
    said = engines().output
    assert f"klein  (cuda, mps or cpu, {OFFERED['klein'].info.memory_mb / 1024:.0f} GiB, up to 4 garments)" in said
    assert "licences: code Apache-2.0, weights Apache-2.0: commercial use allowed" in said
    assert "black-forest-labs/FLUX.2-klein-4B at e7b7dc27" in said
    assert "missing: tryon engines fetch fashn" in said


def test_list_as_json_has_every_engine() -> None:
    entries = {entry["name"]: entry for entry in json.loads(engines("--json").output)}
    assert set(entries) == set(OFFERED) == {"warp", "klein", "fashn"}
    assert entries["klein"]["hints"] == sorted(OFFERED["klein"].info.hints)
    assert (entries["fashn"]["weightsPresent"], entries["fashn"]["commercialUse"]) == (False, True)


def test_fetch_of_an_engine_that_does_not_exist() -> None:
    answer = engines("fetch", "flux")
    assert answer.exit_code == 2
    assert "engines are warp, klein, fashn" in answer.output


def test_fetch_without_a_hub_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    answer = engines("fetch", "klein")
    assert answer.exit_code == 1
    assert answer.stderr.startswith("The hub does not give the weights: ")
    assert "Traceback" not in answer.output


def test_comparison_lays_pictures_side_by_side_and_says_what_an_engine_lacks(tmp_path: Path) -> None:
    if not models_present(MODELS):
        pytest.skip("the pose models were not fetched")
    Image.fromarray(pixels_of(PORTRAIT)).resize((320, 320)).save(tmp_path / "person.png")
    Image.fromarray(pixels_of("striped_sweater")).save(tmp_path / "sweater.png")
    files = ["--person", str(tmp_path / "person.png"), "--garment", str(tmp_path / "sweater.png")]
    out = tmp_path / "out" / "sheet.jpg"
    answer = engines("compare", *files, "--category", "upper_body", "--out", str(out), "--json")
    assert answer.exit_code == 0, answer.output
    reports = json.loads(answer.stdout)
    assert reports["klein"]["error"].endswith("fetch them with `tryon engines fetch klein`.")
    assert reports["warp"]["checks"]["changed"] > 3
    with Image.open(tmp_path / "out" / "sheet-warp.png") as picture, Image.open(out) as sheet:
        assert picture.size == (320, 320)
        assert sheet.size[0] > 2 * 1024


def test_comparison_in_which_nothing_is_drawn_fails(tmp_path: Path) -> None:
    Image.fromarray(pixels_of(PORTRAIT)).resize((320, 320)).save(tmp_path / "person.png")
    files = ["--person", str(tmp_path / "person.png"), "--garment", str(tmp_path / "person.png")]
    answer = engines(
        "compare", *files, "--category", "upper_body", "--engine", "fashn", "--out", str(tmp_path / "sheet.jpg")
    )
    assert answer.exit_code == 1
    assert answer.output.startswith("fashn: ")
