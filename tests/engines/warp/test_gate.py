"""Bounds beyond which nothing is drawn, each with a sentence that says what to do."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from engines.base import Category, EngineError, Label, Landmark, PersonMap
from engines.warp.body.model import measure_body
from engines.warp.gate import MOST_CLOTH_BORDER, check_drape, check_pose
from engines.warp.ribbon import Drape, Piece
from tests.engines.mannequin import Mannequin, draw_mannequin


def figures(person_map: PersonMap) -> dict[str, float]:
    return check_pose(person_map, measure_body(person_map))


def moved(person_map: PersonMap, change: Callable[[np.ndarray], np.ndarray]) -> PersonMap:
    landmarks = person_map.landmarks.copy()
    landmarks[:, :2] = change(landmarks[:, :2])
    return replace(person_map, landmarks=landmarks)


def ends_at(mannequin: Mannequin, row: int) -> PersonMap:
    whole = mannequin.person_map
    return replace(whole, labels=whole.labels[:row], matte=whole.matte[:row])


def with_open_jacket(mannequin: Mannequin) -> PersonMap:
    """Shreds of the top all over the trousers, as when both are black."""
    labels = mannequin.person_map.labels.copy()
    shredded = (labels == Label.LOWER) & (np.indices(labels.shape)[1] // 6 % 2 == 0)
    labels[shredded] = Label.UPPER
    return replace(mannequin.person_map, labels=labels)


def test_who_stands_before_the_camera_is_far_from_every_bound() -> None:
    found = figures(draw_mannequin(sleeves="long").person_map)
    assert found["frontality"] > 0.6
    assert found["lean"] < 0.05
    assert found["torso_shown"] > 2
    assert found["torso_solid"] == 1
    assert found["cloth_border"] < 0.5 * MOST_CLOTH_BORDER


def upside_down(points: np.ndarray) -> np.ndarray:
    return np.asarray(points * (1, -1) + (0, 640))


def lying(points: np.ndarray) -> np.ndarray:
    return np.asarray(points[:, ::-1])


def beside_the_person(points: np.ndarray) -> np.ndarray:
    return np.asarray(points * (0.5, 1.0) + (300, 0))


@pytest.mark.parametrize(
    ("change", "advice"), [(upside_down, "upright"), (lying, "upright"), (beside_the_person, "plain wall")]
)
def test_joints_that_clothes_cannot_hang_on(change: Callable[[np.ndarray], np.ndarray], advice: str) -> None:
    with pytest.raises(EngineError, match=advice) as refusal:
        figures(moved(draw_mannequin().person_map, change))
    assert refusal.value.code == "pose_not_usable"


def test_shoulder_that_is_hardly_seen_is_refused() -> None:
    person_map = draw_mannequin().person_map
    landmarks = person_map.landmarks.copy()
    landmarks[Landmark.LEFT_SHOULDER, 3] = 0.1
    with pytest.raises(EngineError, match="shoulders"):
        figures(replace(person_map, landmarks=landmarks))


def test_photo_that_ends_at_the_chest_is_refused() -> None:
    with pytest.raises(EngineError, match="from head to hips"):
        figures(ends_at(draw_mannequin(), 225))


def test_clothes_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(EngineError, match="jacket"):
        figures(with_open_jacket(draw_mannequin()))


def test_border_of_the_clothes_does_not_grow_with_the_photo() -> None:
    small, large = (figures(draw_mannequin(height, height * 3 // 4).person_map) for height in (640, 1280))
    assert large["cloth_border"] == pytest.approx(small["cloth_border"], rel=0.05)


def drape_over(person_map: PersonMap, share: float) -> Drape:
    """A garment that covers so much of the photo, from the left."""
    height, width = person_map.labels.shape
    alpha = np.zeros((height, width), np.float32)
    alpha[:, : int(share * width)] = 1.0
    return Drape((Piece("torso", np.zeros((height, width, 3), np.float32), alpha, np.zeros_like(alpha)),), {})


def test_garment_beside_the_chest_is_refused() -> None:
    person_map = draw_mannequin().person_map
    body = measure_body(person_map)
    assert check_drape(drape_over(person_map, 1.0), body, Category.UPPER_BODY)["chest_cover"] == 1
    with pytest.raises(EngineError, match="whole garment") as refusal:
        check_drape(drape_over(person_map, 0.5), body, Category.UPPER_BODY)
    assert refusal.value.code == "garment_not_recognised"


def test_trousers_need_legs_and_a_dress_does_not() -> None:
    person_map = ends_at(draw_mannequin(), 350)
    body = measure_body(person_map)
    for category in (Category.UPPER_BODY, Category.FULL_BODY):
        assert check_drape(drape_over(person_map, 1.0), body, category)
    with pytest.raises(EngineError, match="head to feet") as refusal:
        check_drape(drape_over(person_map, 1.0), body, Category.LOWER_BODY)
    assert refusal.value.code == "pose_not_usable"


def with_hands_in_pockets(mannequin: Mannequin) -> PersonMap:
    labels = mannequin.person_map.labels.copy()
    hands = labels == Label.HANDS
    labels[hands] = Label.LOWER
    for landmark in (Landmark.LEFT_WRIST, Landmark.RIGHT_WRIST):
        x, y = mannequin.point(landmark).astype(int)
        labels[y + 8 : y + 40, x - 25 : x + 25] = Label.LOWER
    return replace(mannequin.person_map, labels=labels)


@pytest.mark.parametrize(("end", "refused"), [(0.4, True), (1.0, False)])
def test_arms_are_not_bared_down_to_hands_in_pockets(end: float, refused: bool) -> None:
    person_map = with_hands_in_pockets(draw_mannequin(sleeves="long"))
    drape = drape_over(person_map, 1.0)
    drape.checks.update(left_sleeve_end=end, right_sleeve_end=end)
    body = measure_body(person_map)
    if not refused:
        assert check_drape(drape, body, Category.UPPER_BODY)
        return
    with pytest.raises(EngineError, match="out of your pockets") as refusal:
        check_drape(drape, body, Category.UPPER_BODY)
    assert refusal.value.code == "pose_not_usable"


def test_hands_that_are_seen_may_have_bare_arms() -> None:
    person_map = draw_mannequin(sleeves="long").person_map
    drape = drape_over(person_map, 1.0)
    drape.checks.update(left_sleeve_end=0.4, right_sleeve_end=0.4)
    assert check_drape(drape, measure_body(person_map), Category.UPPER_BODY)


def test_what_a_long_coat_hid_is_not_made_up() -> None:
    person_map = draw_mannequin(sleeves="long").person_map
    body = measure_body(person_map)
    labels = np.where(
        (person_map.labels == Label.LOWER) & (body.heights < 1.6), np.uint8(Label.UPPER), person_map.labels
    )
    coat = replace(person_map, labels=labels)
    (piece,) = drape_over(person_map, 1.0).pieces

    def left_open(worn: PersonMap, down_to: float) -> float:
        drape = Drape((replace(piece, alpha=piece.alpha * (body.heights < down_to)),), {})
        return check_drape(drape, measure_body(worn), Category.UPPER_BODY)["left_open"]

    assert left_open(person_map, 1.1) == 0
    assert left_open(coat, 1.7) == 0
    with pytest.raises(EngineError, match="long coat"):
        left_open(coat, 1.1)
