"""What ``python -m bench.engine`` gathers and writes, without rendering."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bench.engine.__main__ import Session, Watcher, write
from bench.engine.pairs import Outcome
from bench.engine.sheets import HEIGHT, Strip, sheet, thumbnail
from bench.figures import Figure
from cli.studio import Person
from engines.base import Category, EngineError, Label, PersonMap, Picture, RenderResult
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin


@pytest.fixture
def outcome() -> Outcome:
    mannequin = draw_mannequin()
    person = Person(mannequin.photo, mannequin.person_map, 250)
    result = RenderResult(mannequin.photo.copy())
    garment = draw_garment().picture
    return Outcome(Path("anna.jpg"), Path("top.jpg"), Category.UPPER_BODY, person, garment, result, "", 1.25)


def watcher_of(outcome: Outcome) -> Watcher:
    laid = np.where(outcome.person.person_map.labels == Label.UPPER, 255, 0).astype(np.uint8)
    watcher = Watcher()
    watcher("mask_1", lambda: np.repeat(laid[..., None], 3, axis=2))
    watcher("drape_1", lambda: np.full((*laid.shape, 3), (40, 90, 160), np.uint8))
    watcher("mask_2", lambda: pytest.fail("only the first garment is looked at"))
    return watcher


def nobody(_picture: Picture) -> PersonMap:
    raise EngineError("person_not_found")


def test_rows_summary_refusals_and_sheets_are_written(outcome: Outcome, tmp_path: Path) -> None:
    session = Session(watcher_of(outcome), lambda _picture: outcome.person.person_map)
    session.take(outcome)
    session.take(replace(outcome, person_path=Path("ben.jpg"), result=None, refusal="pose_not_usable: turned away"))
    session.refuse(Path("wall.jpg"), "person_not_found: nobody")
    write(session, [Figure.of("peak memory", "MB", [400.0])], tmp_path)
    document = json.loads((tmp_path / "engine.json").read_text())
    judged, refused = document["pairs"]
    assert judged["pair"] == "upper_body--top--anna"
    assert judged["render_ms"] == 1250
    assert judged["residue"] > 0.9
    assert refused["refusal"].startswith("pose_not_usable")
    assert "residue" not in refused
    assert document["refusals"] == {"pose_not_usable": 1, "person_not_found": 1}
    assert document["summary"]["upper_body"]["residue"]["worst_pair"] == "upper_body--top--anna"
    assert {figure["name"] for figure in document["figures"]} == {"find the person", "render", "peak memory"}
    assert document["engine"]["name"] == "warp"
    with Image.open(tmp_path / "upper_body.jpg") as page:
        assert page.height > HEIGHT


def test_nothing_but_refusals_is_written_too(outcome: Outcome, tmp_path: Path) -> None:
    session = Session(Watcher(), nobody)
    session.take(replace(outcome, result=None, refusal="garment_not_recognised"))
    write(session, [], tmp_path)
    document = json.loads((tmp_path / "engine.json").read_text())
    assert document["summary"] == {"upper_body": {}}
    assert document["refusals"] == {"garment_not_recognised": 1}


def test_a_result_in_which_nobody_is_seen_is_judged_by_the_rest(outcome: Outcome) -> None:
    session = Session(watcher_of(outcome), nobody)
    session.take(outcome)
    assert session.rows[0]["overlooked"] is None
    assert session.rows[0]["coverage"] is not None


@pytest.mark.parametrize("count", [1, 3, 4, 7, 500])
def test_a_sheet_has_room_for_every_pair_and_fits_a_jpeg(count: int) -> None:
    strip = Strip((thumbnail(np.zeros((64, 48, 3), np.uint8)),), "zero")
    page = sheet([strip] * count)
    assert page.height < 65_500
    black = np.asarray(page.convert("L")) < 30
    assert black.sum() >= count * HEIGHT * HEIGHT * 0.74
