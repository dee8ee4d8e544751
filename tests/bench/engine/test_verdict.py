"""A drawn person in a drawn garment, put on perfectly with a paint brush, and then spoilt."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from bench.engine.pairs import Outcome
from bench.engine.verdict import MEASURES, Laid, Row, Shop, judge, summary
from cli.studio import Person
from engines.base import Category, Label, Picture, RenderResult
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import network
from tests.engines.mannequin import draw_mannequin

BLUE = (40, 90, 160)


@pytest.fixture(scope="module")
def shop() -> Shop:
    return Shop.of(draw_garment(colour=BLUE, folds=0.0).picture, Category.UPPER_BODY, network())


@pytest.fixture(scope="module")
def painted() -> Outcome:
    """The old top, and the rim of pixels mixed with it, became blue."""
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels
    top = cv2.dilate((labels == Label.UPPER).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    # Plain chance decides about single levels of a pixel; a perfect picture has none of the old ones.
    result = mannequin.photo.copy()
    result[top & (labels != Label.HANDS)] = BLUE
    person = Person(mannequin.photo, mannequin.person_map, 1)
    return Outcome(
        Path("anna.jpg"),
        Path("top.jpg"),
        Category.UPPER_BODY,
        person,
        draw_garment(colour=BLUE, folds=0.0).picture,
        RenderResult(result),
        "",
        1.0,
    )


def laid_on(outcome: Outcome, colour: tuple[int, int, int] = BLUE) -> Laid:
    """Cloth over all of the old top."""
    labels = outcome.person.person_map.labels
    cover = np.where(labels == Label.UPPER, 255, 0).astype(np.uint8)
    return Laid(np.repeat(cover[..., None], 3, axis=2), np.full((*labels.shape, 3), colour, np.uint8))


def spoilt(outcome: Outcome, where: np.ndarray, picture: Picture) -> Outcome:
    assert outcome.result is not None
    result = outcome.result.picture.copy()
    result[where] = picture[where]
    return replace(outcome, result=RenderResult(result))


def chest_of(outcome: Outcome) -> np.ndarray:
    """The left half of the old top."""
    labels = outcome.person.person_map.labels
    return (labels == Label.UPPER) & (np.arange(labels.shape[1]) < labels.shape[1] // 2)


def test_a_perfect_picture_has_perfect_figures(painted: Outcome, shop: Shop) -> None:
    row = judge(painted, laid_on(painted), shop)
    assert row["residue"] == 0
    assert row["coverage"] == 1
    assert row["outside_equal"] == 1
    assert row["kept_changed"] == 0
    assert row["colour_ab"] == pytest.approx(0, abs=1.0)
    assert row["colour_exposure"] == pytest.approx(0, abs=1.5)
    assert row["print"] is None
    assert row["true_likeness"] is None


def test_what_was_left_of_the_old_top_is_residue_and_lacks_cover(painted: Outcome, shop: Shop) -> None:
    left = spoilt(painted, chest_of(painted), painted.person.photo)
    row = judge(left, laid_on(left), shop)
    assert row["residue"] == pytest.approx(0.5, abs=0.05)
    assert row["coverage"] == pytest.approx(0.5, abs=0.05)


def test_a_piece_of_the_old_top_that_was_taken_for_a_bag_is_overlooked(painted: Outcome, shop: Shop) -> None:
    """The segmenter names half of the top something else, the engine leaves it, and the result shows it."""
    true_map, half = painted.person.person_map, chest_of(painted)
    laid = laid_on(painted)
    laid.cover[half] = 0
    mistaken = replace(true_map, labels=np.where(half, Label.OTHER, true_map.labels).astype(np.uint8))
    person = replace(painted.person, person_map=mistaken)
    left = replace(spoilt(painted, half, painted.person.photo), person=person)
    row = judge(left, laid, shop, true_map)
    assert row["residue"] == pytest.approx(0, abs=0.01)
    assert row["overlooked"] == pytest.approx(1, abs=0.15)
    assert judge(painted, laid_on(painted), shop, true_map)["overlooked"] == 0
    assert judge(painted, laid_on(painted), shop)["overlooked"] is None


def test_half_of_the_new_top_that_is_taken_for_trousers_is_not_recognised(painted: Outcome, shop: Shop) -> None:
    true_map, half = painted.person.person_map, chest_of(painted)
    mistaken = replace(true_map, labels=np.where(half, Label.LOWER, true_map.labels).astype(np.uint8))
    laid = laid_on(painted)
    assert judge(painted, laid, shop, true_map)["recognised"] == 1
    assert judge(painted, laid, shop, mistaken)["recognised"] == pytest.approx(0.5, abs=0.1)
    assert judge(painted, laid, shop)["recognised"] is None


def test_an_old_top_of_the_new_colour_leaves_no_residue(painted: Outcome, shop: Shop) -> None:
    left = spoilt(painted, chest_of(painted), painted.person.photo)
    row = judge(left, laid_on(left, (150, 60, 60)), shop)
    assert row["residue"] is None
    assert row["coverage"] == 1


def test_a_spot_on_the_face_and_one_on_the_wall_are_counted(painted: Outcome, shop: Shop) -> None:
    labels = painted.person.person_map.labels
    faces = labels == Label.FACE
    rows = np.flatnonzero(faces.any(axis=1))
    spot = np.zeros_like(faces)
    spot[rows[len(rows) // 4] : rows[len(rows) // 4] + 6] = True
    face = judge(spoilt(painted, spot & faces, 255 - painted.person.photo), laid_on(painted), shop)
    assert face["kept_changed"] > 0.01
    assert face["outside_equal"] < 1
    wall = np.zeros_like(faces)
    wall[:10, :10] = True
    there = judge(spoilt(painted, wall, 255 - painted.person.photo), laid_on(painted), shop)
    assert there["kept_changed"] == 0
    assert there["outside_equal"] < 1


def test_another_colour_is_measured(painted: Outcome, shop: Shop) -> None:
    labels = painted.person.person_map.labels
    greener = np.full_like(painted.person.photo, (40, 120, 130))
    worn = labels == Label.UPPER
    assert judge(spoilt(painted, worn, greener), laid_on(painted), shop)["colour_ab"] > 15


def test_a_true_pair_is_compared_with_the_photo(painted: Outcome, shop: Shop) -> None:
    true_pair = replace(painted, garment_path=Path("elsewhere/anna.png"))
    same = replace(true_pair, result=RenderResult(painted.person.photo.copy()))
    assert judge(same, laid_on(same), shop)["true_likeness"] == pytest.approx(1.0)
    assert judge(true_pair, laid_on(true_pair), shop)["true_likeness"] < 0.999


def test_a_large_photo_is_judged_at_its_own_size(painted: Outcome, shop: Shop) -> None:
    """Its cover has the size at which engines work; one changed pixel of the photo shows."""
    person, size = painted.person, (960 * 2, 1280 * 2)
    assert painted.result is not None
    photo, result = (cv2.resize(picture, size) for picture in (person.photo, painted.result.picture))
    scale = size[0] / person.photo.shape[1]
    large_map = replace(
        person.person_map,
        labels=cv2.resize(person.person_map.labels, size, interpolation=cv2.INTER_NEAREST),
        matte=cv2.resize(person.person_map.matte, size),
        landmarks=person.person_map.landmarks * np.array([scale, scale, scale, 1], np.float32),
    )
    small = laid_on(painted)
    working = [cv2.resize(picture, (768, 1024), interpolation=0) for picture in (small.cover, small.colours)]
    laid = Laid(*working)
    large = replace(painted, person=Person(photo, large_map, 1), result=RenderResult(result))
    row = judge(large, laid, shop)
    assert row["outside_equal"] == 1
    assert row["coverage"] > 0.99
    result[0, 0] ^= 1
    assert judge(large, laid, shop)["outside_equal"] == pytest.approx(1, abs=1e-5)
    assert judge(large, laid, shop)["outside_equal"] < 1


def test_a_refused_pair_is_not_judged(painted: Outcome, shop: Shop) -> None:
    with pytest.raises(ValueError, match="refused"):
        judge(replace(painted, result=None, refusal="pose_not_usable"), laid_on(painted), shop)


def test_the_worst_lies_on_the_bad_side() -> None:
    rows: list[dict[str, object]] = [
        {"pair": "a", "residue": 0.0, "coverage": 1.0, "colour_exposure": -6.0},
        {"pair": "b", "residue": 0.3, "coverage": 0.4, "colour_exposure": 2.0},
        {"pair": "c", "residue": 0.1, "coverage": 0.8, "colour_exposure": 1.0, "print": None},
    ]
    summed = summary(rows)
    assert summed["residue"] == {"pairs": 3, "median": 0.1, "worst": 0.3, "worst_pair": "b"}
    assert summed["coverage"] == {"pairs": 3, "median": 0.8, "worst": 0.4, "worst_pair": "b"}
    assert summed["colour_exposure"]["worst_pair"] == "a"
    assert "print" not in summed


def test_every_figure_has_a_measure(painted: Outcome, shop: Shop) -> None:
    row: Row = judge(painted, laid_on(painted), shop)
    assert set(row) == {measure.name for measure in MEASURES}
