"""Tops lie on the body."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.cloth import Cloth
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.warp.body.model import LEFT, RIGHT, measure_body
from engines.warp.drape.sleeves import lay_sleeve, with_overlap
from engines.warp.drape.torso import TorsoLoft, fit_garment
from engines.warp.drape.upper import GAP_AT_HEM, GAP_AT_NECK, drape_upper, drawn_open, parted
from engines.warp.ribbon import Drape, Ribbon, draw
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import cut
from tests.engines.mannequin import Mannequin, draw_mannequin


def drape(mannequin: Mannequin, kind: str, *, tucked: bool = False) -> Drape:
    cloth = cut(draw_garment(kind).picture)
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


@pytest.mark.parametrize("worn", ["none", "long"])
def test_cap_sleeve_keeps_its_size(worn: str) -> None:
    cloth = cut(draw_garment("cap sleeve").picture)
    marks = find_upper_landmarks(cloth)
    body = measure_body(draw_mannequin(960, 760, arms="out", sleeves=worn).person_map)
    loft = TorsoLoft(marks, body, fit_garment(marks, body))
    assert marks.sleeves is not None
    for side, sleeve in zip((LEFT, RIGHT), marks.sleeves, strict=True):
        ribbon, end = lay_sleeve(marks, body, loft, side, sleeve)
        assert ribbon.scale == pytest.approx(loft.fit.scale, rel=0.25)
        assert end < 0.4
        outer = ribbon.target[:, 1]
        drawn = np.linalg.norm(np.diff(outer, axis=0), axis=1).sum()
        natural = np.linalg.norm(np.diff(sleeve.upper, axis=0), axis=1).sum() * loft.fit.scale
        assert drawn == pytest.approx(natural, rel=0.3)


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


def test_top_tucked_into_what_comes_after_it_ends_there() -> None:
    cloth, body = cut(draw_garment("t-shirt").picture), measure_body(draw_mannequin().person_map)
    drawn = drape_upper(cloth, find_upper_landmarks(cloth), body, tucked=True, waistband=0.8)
    torso = drawn.pieces[0].alpha
    assert torso[(body.heights > 0.86) & (np.abs(body.laterals) < 0.4)].max() < 0.1
    # Well inside it goes on under the waistband, at its sides it would stick out.
    x, y = body.point(0.82).round().astype(int)
    assert torso[y, x] > 0.9
    assert (
        torso[(body.heights > 0.81) & (np.abs(body.laterals) * body.shoulder_width > 0.48 * body.width(0.8))].max()
        < 0.1
    )


ROWS, COLUMNS = 9, 21


def straight_ribbon() -> Ribbon:
    """100 wide and 200 high on the garment, twice that on the body."""
    x, y = np.meshgrid(np.linspace(0, 100, COLUMNS), np.linspace(0, 200, ROWS))
    source = np.stack([x, y], axis=-1).astype(np.float32)
    return Ribbon(source, 2 * source, np.linspace(-1, 1, source.shape[1], dtype=np.float32))


def columns_of(ribbon: Ribbon, row: int) -> NDArray[np.float32]:
    return ribbon.target[row, :, 0]


@pytest.mark.parametrize("side", [-1, 1])
def test_a_half_keeps_its_outer_edge_and_leaves_the_axis(side: int) -> None:
    half = parted(straight_ribbon(), side)
    inner, outer = (1, -1) if side > 0 else (-2, 0)
    for row, gap in ((0, GAP_AT_NECK), (ROWS - 1, GAP_AT_HEM)):
        assert columns_of(half, row)[outer] == pytest.approx(100 + side * 100, abs=0.1)
        assert columns_of(half, row)[inner] == pytest.approx(100 + side * gap * 100, abs=0.1)


def test_what_is_under_an_open_top_is_seen_between_its_fronts() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    cloth = cut(draw_garment("long sleeve").picture)
    marks = find_upper_landmarks(cloth)
    ribbon = TorsoLoft(marks, body, fit_garment(marks, body)).ribbon()
    closed, opened = (
        piece.alpha
        for piece in (draw(ribbon, cloth, body.shape, "torso"), drawn_open(ribbon, cloth, marks, body.shape))
    )
    x, y = body.point(0.6).astype(int)
    assert closed[y, x] > 0.99
    assert opened[y, x] == 0.0
    row = np.flatnonzero(opened[y] > 0.5)
    whole = np.flatnonzero(closed[y] > 0.5)
    assert (row[0], row[-1]) == pytest.approx((whole[0], whole[-1]), abs=2)
    assert opened.max() < 1.0001


SEAM, TOP, OVERLAP = 50, 20, 4


def torso_of_a_garment() -> Cloth:
    alpha = np.zeros((100, 100), np.float32)
    alpha[TOP:80, 10:90] = 1
    part = np.zeros(alpha.shape, bool)
    part[TOP:80, 10:SEAM] = True
    cloth = Cloth(np.full((100, 100, 3), 0.5, np.float32), alpha)
    return with_overlap(cloth, part, OVERLAP, (alpha > 0) & ~part)


def test_a_part_goes_on_under_its_neighbour() -> None:
    torso = torso_of_a_garment()
    assert torso.alpha[50, SEAM + OVERLAP - 2] > 0.9
    assert torso.alpha[50, SEAM + 2 * OVERLAP] == 0


def test_nothing_goes_on_beside_the_tip_of_the_shoulder() -> None:
    torso = torso_of_a_garment()
    assert torso.alpha[TOP + 1, SEAM - 3] > 0.9
    assert torso.alpha[TOP + 1, SEAM + 2] < 0.1
