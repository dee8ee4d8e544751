"""A drawn garment laid on a drawn person."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.warp.body.model import LEFT, RIGHT, measure_body
from engines.warp.drape.upper import drape_upper
from engines.warp.pieces import Drape
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import Mannequin, draw_mannequin


def drape(mannequin: Mannequin, kind: str, *, tucked: bool = False) -> Drape:
    cloth = cut_out(draw_garment(kind).picture)
    body = measure_body(mannequin.person_map)
    return drape_upper(cloth, find_upper_landmarks(cloth), body, tucked=tucked)


@pytest.mark.parametrize("arms", ["down", "out"])
def test_torso_lies_on_the_torso(arms: str) -> None:
    mannequin = draw_mannequin(arms=arms, sleeves="none")
    body = measure_body(mannequin.person_map)
    torso = drape(mannequin, "t-shirt").pieces[0].alpha > 0.5
    chest = (mannequin.person_map.labels == Label.UPPER) & (body.heights > 0.15) & (body.heights < 0.9)
    assert torso[chest].mean() > 0.98
    assert np.abs(body.laterals[torso]).max() < 0.75


@pytest.mark.parametrize("arms", ["down", "out"])
def test_long_sleeves_lie_on_the_arms(arms: str) -> None:
    mannequin = draw_mannequin(arms=arms, sleeves="none")
    pieces = {piece.name: piece for piece in drape(mannequin, "long sleeve").pieces}
    body = measure_body(mannequin.person_map)
    for name, side in (("left_sleeve", LEFT), ("right_sleeve", RIGHT)):
        arm = body.arms[side]
        x, y = np.rint(arm.points(np.linspace(0.25, 0.95, 12, dtype=np.float32))).astype(int).T
        assert (pieces[name].alpha[y, x] > 0.9).all()


def test_short_sleeves_end_above_the_elbow() -> None:
    checks = drape(draw_mannequin(), "t-shirt").checks
    assert 0.15 < checks["left_sleeve_end"] < 0.62
    assert checks["left_sleeve_end"] == pytest.approx(checks["right_sleeve_end"], abs=0.06)


def test_no_crack_between_torso_and_sleeve() -> None:
    mannequin = draw_mannequin(arms="out", sleeves="none")
    body = measure_body(mannequin.person_map)
    cover = drape(mannequin, "long sleeve").alpha
    for side in (LEFT, RIGHT):
        start = body.skeleton.shoulders
        end = body.arms[side].points(np.array([0.4], np.float32))[0]
        x, y = np.rint(start + np.linspace(0.25, 1, 60)[:, None] * (end - start)).astype(int).T
        assert cover[y, x].min() > 0.9


def test_tank_top_leaves_arms_bare() -> None:
    mannequin = draw_mannequin(arms="out", sleeves="none")
    cover = drape(mannequin, "tank top").alpha
    arms = np.isin(mannequin.person_map.labels, (Label.ARMS, Label.HANDS))
    assert cover[arms].mean() < 0.05


def test_tucked_top_ends_at_the_waist() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    below = body.heights > body.waist.line(body.laterals) + 0.03
    torso = (np.abs(body.laterals) < 0.4) & below
    assert drape(mannequin, "t-shirt").pieces[0].alpha[torso].max() > 0.9
    assert drape(mannequin, "t-shirt", tucked=True).pieces[0].alpha[torso].max() < 0.1


def test_shoulder_seam_lies_on_the_shoulder() -> None:
    mannequin = draw_mannequin(960, 760, sleeves="none")
    body = measure_body(mannequin.person_map)
    cover = drape(mannequin, "t-shirt").alpha > 0.5
    for side in (LEFT, RIGHT):
        column = int(body.point(0.0, side * 0.38 * body.shoulder_width)[0])
        silhouette = int(np.argmax(mannequin.person_map.matte[:, column] > 127))
        assert abs(int(np.argmax(cover[:, column])) - silhouette) < 0.05 * body.shoulder_width


def test_no_notch_in_the_shoulder_where_the_seam_lies_at_the_joint() -> None:
    mannequin = draw_mannequin(960, 760, sleeves="long")
    body = measure_body(mannequin.person_map)
    # A bulky old garment: the shoulder joint is taken for higher than it is.
    raised = {
        side: body.skeleton.shoulder[side] - 0.07 * body.shoulder_width * body.skeleton.down for side in (LEFT, RIGHT)
    }
    body = replace(body, skeleton=replace(body.skeleton, shoulder=raised))
    cloth = cut_out(draw_garment("t-shirt").picture)
    cover = drape_upper(cloth, find_upper_landmarks(cloth), body).alpha > 0.5
    shoulders = np.abs(np.abs(body.laterals) - 0.5) < 0.12
    tops = [int(np.argmax(cover[:, column])) for column in np.flatnonzero(shoulders[int(body.skeleton.shoulders[1])])]
    steps = np.abs(np.diff(tops))
    assert np.percentile(steps, 95) < 0.05 * body.shoulder_width
