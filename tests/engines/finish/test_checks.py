"""Each fault that generative networks are known for is caught, and an honest picture passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import Category, EngineError, Garment, Label, Picture
from engines.finish.checks import Bounds, broken, measure, pose_drift
from engines.finish.swatches import swatch
from engines.finish.views import seen_at, view_of
from engines.finish.zone import check_shown
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import TROUSERS, draw_mannequin
from tests.engines.painted import NEW_TOP, OLD_TOP, painted, person_at_a_wall, shifted, tinted

PERSON = person_at_a_wall()
DRESSED = person_at_a_wall(NEW_TOP)
VIEW = view_of(PERSON.photo, PERSON.person_map)
TOP = Garment(draw_garment(colour=NEW_TOP).picture, Category.UPPER_BODY)


def pixels_of(colour: tuple[int, int, int]) -> np.ndarray:
    drawn = draw_garment(colour=colour)
    return swatch(drawn.picture, drawn.mask > 200)


def faults_of(drawn: Picture, colour: tuple[int, int, int] = NEW_TOP) -> list[str]:
    figures = measure(VIEW, seen_at(drawn, VIEW.size), [TOP], [pixels_of(colour)])
    return sorted(broken(figures, Bounds()))


def somebody_else() -> Picture:
    other = draw_mannequin(640, 480, arms="out", sleeves="long", top=NEW_TOP, ground=(90, 110, 90))
    return shifted(other.photo, 70, 40)


def test_honest_painting_passes() -> None:
    assert faults_of(painted(DRESSED.photo)) == []


@pytest.mark.parametrize(("colour", "faults"), [(NEW_TOP, []), ((200, 190, 40), ["colours"])])
def test_garment_in_a_dark_photo_is_compared_as_dark_as_that(colour: tuple[int, int, int], faults: list[str]) -> None:
    night = view_of((PERSON.photo * 0.35).astype(np.uint8), PERSON.person_map)
    drawn = (painted(person_at_a_wall(colour).photo) * 0.35).astype(np.uint8)
    figures = measure(night, seen_at(drawn, night.size), [TOP], [pixels_of(NEW_TOP)])
    assert [name for name in broken(figures, Bounds()) if name == "colours"] == faults


def test_hood_around_a_face_is_no_other_face() -> None:
    face = PERSON.person_map.labels == Label.FACE
    hooded = DRESSED.photo.copy()
    hooded[~face] = 255 - hooded[~face]
    drawn = painted(DRESSED.photo).copy()
    size = (drawn.shape[1], drawn.shape[0])
    near = cv2.resize(cv2.dilate(face.astype(np.uint8), np.ones((61, 61), np.uint8)), size) > 0
    drawn[near] = cv2.resize(hooded, size, interpolation=cv2.INTER_AREA)[near]
    figures = measure(VIEW, seen_at(drawn, VIEW.size), [TOP], [pixels_of(NEW_TOP)])
    assert figures["face"] > 0.6


def test_small_shift_and_tint_pass_since_they_are_taken_out() -> None:
    assert faults_of(tinted(shifted(painted(DRESSED.photo), 3, 2), (5, 3, -4))) == []


@pytest.mark.parametrize(
    ("spoilt", "fault"),
    [
        (lambda: painted(PERSON.photo), "changed"),
        (lambda: np.zeros((512, 384, 3), np.uint8), "contrast"),
        (somebody_else, "outside"),
        (somebody_else, "face"),
        (lambda: shifted(painted(DRESSED.photo), 24), "shift"),
        (lambda: tinted(painted(DRESSED.photo), (35, 0, -30)), "cast"),
        (lambda: painted(person_at_a_wall((200, 190, 40)).photo), "colours"),
    ],
    ids=["echo", "black", "somebody else", "another face", "shifted", "colour cast", "another garment"],
)
def test_fault_is_caught_by_its_figure(spoilt: Callable[[], Picture], fault: str) -> None:
    assert fault in faults_of(spoilt())


def test_garment_that_is_worn_already_may_change_little_but_not_nothing() -> None:
    redrawn = painted(person_at_a_wall((153, 58, 66)).photo)
    assert faults_of(redrawn, OLD_TOP) == []
    assert faults_of(PERSON.photo, OLD_TOP) == ["changed"]


def test_garment_dropped_from_an_outfit_is_caught() -> None:
    skirt = Garment(TOP.picture, Category.LOWER_BODY)
    swatches = [pixels_of(NEW_TOP), pixels_of((220, 200, 40))]
    figures = measure(VIEW, seen_at(painted(DRESSED.photo), VIEW.size), [TOP, skirt], swatches)
    assert set(broken(figures, Bounds())) == {"changed", "colours_2"}
    assert figures["colours"] > 0.5


def test_garment_under_another_one_is_not_looked_for() -> None:
    figures = measure(VIEW, seen_at(painted(DRESSED.photo), VIEW.size), [TOP, TOP], [pixels_of(TROUSERS)] * 2)
    assert "colours" not in figures
    assert "colours_2" in figures


def test_pose_drift_counts_shoulder_widths() -> None:
    moved = VIEW.landmarks.copy()
    moved[:, 0] += 30.0
    unit = float(np.linalg.norm(VIEW.landmarks[11, :2] - VIEW.landmarks[12, :2]))
    assert pose_drift(VIEW, VIEW.landmarks) == 0.0
    assert pose_drift(VIEW, moved) == pytest.approx(30.0 / unit, rel=1e-3)


def test_figure_that_is_no_number_is_out_of_bounds() -> None:
    assert broken({"face": float("nan"), "outside": float("nan")}, Bounds()).keys() == {"face", "outside"}


def test_figures_without_a_bound_are_only_recorded() -> None:
    assert broken({"symmetry": 0.1, "tries": 2.0}, Bounds()) == {}


def test_flat_wall_has_no_shift_whatever_the_garment_does() -> None:
    flat = draw_mannequin(640, 480, top=OLD_TOP)
    view = view_of(flat.photo, flat.person_map)
    dressed = draw_mannequin(640, 480, top=NEW_TOP, sleeves="none").photo
    figures = measure(view, seen_at(painted(dressed), view.size), [TOP], [pixels_of(NEW_TOP)])
    assert figures["shift"] < 0.005


def test_echo_is_caught_where_no_old_clothes_are_labelled() -> None:
    labels = np.where(PERSON.person_map.labels == Label.LOWER, Label.OTHER, PERSON.person_map.labels)
    view = view_of(PERSON.photo, replace(PERSON.person_map, labels=labels.astype(np.uint8)))
    trousers = Garment(TOP.picture, Category.LOWER_BODY)
    figures = measure(view, view.photo, [trousers], [pixels_of((220, 200, 40))])
    assert "changed" in broken(figures, Bounds())
    assert "changed" in broken(measure(view, view.photo, [trousers], [np.zeros((0, 3), np.uint8)]), Bounds())


def test_photo_that_does_not_show_where_the_garment_is_worn_is_refused() -> None:
    labels = np.where(PERSON.person_map.labels == Label.LOWER, Label.BACKGROUND, PERSON.person_map.labels)
    view = view_of(PERSON.photo, replace(PERSON.person_map, labels=labels.astype(np.uint8)))
    check_shown(view, [Category.UPPER_BODY])
    with pytest.raises(EngineError, match="down to the knees") as caught:
        check_shown(view, [Category.UPPER_BODY, Category.LOWER_BODY])
    assert caught.value.code == "pose_not_usable"
