"""Arms in front of new clothes."""

import numpy as np

from engines.base import Label
from engines.warp.body.model import RIGHT, SIDES, BodyModel, measure_body
from engines.warp.composite.arms import arms_in_front
from engines.warp.composite.front import hands_in_front
from tests.engines.mannequin import Mannequin, draw_mannequin

SHAPE = (960, 760)
BARE = np.zeros(SHAPE, np.float32)


def worn_by(mannequin: Mannequin) -> np.ndarray:
    return np.asarray(mannequin.person_map.labels == Label.UPPER)


def cover_of(body: BodyModel, old: np.ndarray, end: float) -> np.ndarray:
    return arms_in_front(old, body, dict.fromkeys(SIDES, end))


def test_a_bare_forearm_is_drawn_whole_and_the_wall_is_not() -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="short")
    body = measure_body(mannequin.person_map)
    cover = cover_of(body, worn_by(mannequin), 0.35)
    forearm = (body.labels == Label.ARMS) & (body.arm_places[RIGHT][1] > 0.5)
    assert cover[forearm].mean() > 0.85
    assert cover[body.matte < 0.01].mean() < 0.001


def test_no_gap_between_arm_and_hand() -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="short")
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    hands = hands_in_front(photo, body.labels, body.shoulder_width, body.arm_places, {})
    cover = np.maximum(cover_of(body, worn_by(mannequin), 0.35), hands)
    x, y = np.rint(body.arms[RIGHT].points(np.linspace(0.8, 1.04, 40))).astype(int).T
    assert cover[y, x].min() > 0.9


def test_new_cloth_covers_the_arm_above_the_end_of_its_sleeve() -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="none")
    body = measure_body(mannequin.person_map)
    cover = cover_of(body, worn_by(mannequin), 0.5)
    near, share = body.arm_places[RIGHT]
    assert cover[(share < 0.47) & (near < 1.2)].max() < 0.05
    assert cover[(share > 0.53) & (share < 0.9) & (near < 0.4)].min() > 0.95
