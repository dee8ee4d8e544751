"""``tryon render`` from files to files. Needs the person segmenter's model files."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from typer.testing import CliRunner

import cli.engines
from api.dashboard.samples import PORTRAIT, pixels_of
from cli.engines import CLEAR_LINE, progress_line
from cli.main import app
from engines.models import models_present

MODELS = Path(__file__).parents[2] / ".models"
SIDE = 512


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A person and a sweater; drawing them takes seconds."""
    folder = tmp_path_factory.mktemp("drawn")
    Image.fromarray(pixels_of(PORTRAIT)).resize((SIDE, SIDE)).save(folder / "person.png")
    Image.fromarray(pixels_of("striped_sweater")).save(folder / "sweater.jpg")
    return folder


@pytest.fixture
def folder(drawn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not models_present(MODELS):
        pytest.skip("the pose models were not fetched")
    monkeypatch.setenv("TRYON_MODELS_DIR", str(MODELS))
    shutil.copytree(drawn, tmp_path, dirs_exist_ok=True)
    return tmp_path


def rendered(folder: Path, *more: str, person: str = "person.png") -> tuple[int, str]:
    files = ["--person", str(folder / person), "--garment", str(folder / "sweater.jpg"), "--category", "upper_body"]
    result = CliRunner().invoke(app, ["render", *files, "--out", str(folder / "out" / "result.png"), *more])
    return result.exit_code, result.output


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line_about_a_drawing_and_none_when_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = FakeTerminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress_line() as tell:
        tell("step 1 of 2, about 6 minutes left")
        tell("step 2 of 2, about 3 minutes left")
    assert terminal.getvalue().split(CLEAR_LINE) == [
        "",
        "step 1 of 2, about 6 minutes left",
        "step 2 of 2, about 3 minutes left",
        "",
    ]


def test_a_log_has_a_few_lines_about_a_drawing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_line() as tell:
        tell("step 1 of 2")
        monkeypatch.setattr(cli.engines, "LOG_SECONDS", 0.0)
        tell("step 2 of 2")
    assert capsys.readouterr() == ("", "step 2 of 2\n")


def opened(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as picture:
        return np.asarray(picture)


def test_the_picture_has_the_photos_size_and_what_the_garment_does_not_touch_is_the_photo(folder: Path) -> None:
    code, _ = rendered(folder)
    assert code == 0
    before, after = opened(folder / "person.png"), opened(folder / "out" / "result.png")
    assert after.shape == before.shape == (SIDE, SIDE, 3)
    changed = (before != after).any(axis=2)
    assert 0.1 < changed.mean() < 0.7
    assert not changed[: SIDE // 5].any(), "nothing above the chin"


def test_json_tells_times_checks_and_what_became_of_each_hint(folder: Path) -> None:
    code, output = rendered(folder, "--json", "--hints", '{"tuckState": "untucked", "viewAngle": "left"}')
    assert code == 0
    report = json.loads(output)
    assert (report["width"], report["height"]) == (SIDE, SIDE)
    assert {"segment", "drape", "composite"} <= report["timingsMs"].keys()
    assert 0 < report["checks"]["changed_share"] < 1
    assert {*report["hintsApplied"], *report["hintsNotApplied"]} == {"tuck_state", "view_angle"}


def test_the_back_is_drawn_from_its_photo_when_it_is_asked_for(folder: Path) -> None:
    Image.fromarray(pixels_of("plain_tee")).save(folder / "back.jpg")
    assert rendered(folder)[0] == 0
    front = opened(folder / "out" / "result.png")
    code, output = rendered(folder, "--json", "--hints", '{"viewAngle": "back"}', "--back", str(folder / "back.jpg"))
    assert code == 0
    assert set(json.loads(output)["hintsApplied"]) == {"view_angle", "back_picture"}
    assert (opened(folder / "out" / "result.png") != front).any(axis=2).mean() > 0.1


@pytest.mark.parametrize("backs", [("missing.jpg",), ("-", "-")])
def test_backs_that_do_not_fit_the_garments_are_told(folder: Path, backs: tuple[str, ...]) -> None:
    code, output = rendered(folder, *(part for name in backs for part in ("--back", name)))
    assert code == 2
    assert "is no file" in output or "for each --garment" in output


def test_debug_writes_a_picture_of_every_step(folder: Path) -> None:
    code, _ = rendered(folder, "--debug", str(folder / "steps"))
    assert code == 0
    steps = {}
    for path in (folder / "steps").iterdir():
        with Image.open(path) as picture:
            steps[path.stem.split("_", 1)[1]] = picture.size
    names = {"map", "body", "cut_out_1", "mesh_1", "drape_1", "mask_1", "plate_1", "result_1"}
    assert steps.keys() == names
    assert {size for name, size in steps.items() if name != "cut_out_1"} == {(SIDE, SIDE)}


def test_a_refusal_is_a_sentence_and_leaves_no_file(folder: Path) -> None:
    Image.new("RGB", (SIDE, SIDE), "grey").save(folder / "nobody.png")
    code, output = rendered(folder, person="nobody.png")
    assert code == 1
    assert "person_not_found" in output
    assert not (folder / "out").exists()
    assert json.loads(rendered(folder, "--json", person="nobody.png")[1]).keys() == {"error"}


def test_of_several_garments_the_one_that_is_none_is_named(folder: Path) -> None:
    blank = folder / "blank.png"
    Image.new("RGB", (SIDE, SIDE), "white").save(blank)
    code, output = rendered(folder, "--garment", str(blank), "--category", "lower_body")
    assert code == 1
    assert output.splitlines()[-1].startswith(f"{blank}: garment_not_recognised")


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--category", "lower_body"], "one --category for each"),
        (["--hints", "{}", "--hints", "{}"], "--hints for each"),
        (["--hints", '{"tuckState": "maybe"}'], "are no hints"),
        (["--hints", "[]"], "are no hints"),
        (["--engine", "magic"], "engines are"),
    ],
)
def test_options_that_do_not_fit_together_are_named(folder: Path, more: list[str], complaint: str) -> None:
    code, output = rendered(folder, *more)
    assert code == 2
    assert complaint in " ".join(output.replace("│", " ").split())
