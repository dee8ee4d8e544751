"""Scraps between torso and sleeve are closed; the corner under a cuff and what is wide stay open."""

import numpy as np

from engines.base import Label
from engines.garment.regions import dilated
from engines.warp.body.model import measure_body
from engines.warp.composite.gaps import bare_scraps, closed_up
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

UNIT = 200.0
BODY, WALL = np.ones((200, 200), np.float32), np.zeros((200, 200), np.float32)


def piece(name: str, rows: slice, columns: slice) -> Piece:
    alpha = np.zeros((200, 200), np.float32)
    alpha[rows, columns] = 1
    return Piece(name, np.array([0.2, 0.5, 0.3], np.float32) * alpha[..., None], alpha, np.zeros_like(alpha))


def torso_with(hole: tuple[slice, slice]) -> Piece:
    torso = piece("torso", slice(20, 180), slice(20, 120))
    torso.alpha[hole] = 0
    torso.colour[hole] = 0
    return torso


def test_a_gap_in_the_armpit_is_filled_with_the_cloth_around_it() -> None:
    hole = (slice(60, 80), slice(115, 120))
    mended = closed_up(torso_with(hole), [piece("left_sleeve", slice(30, 110), slice(120, 170))], UNIT, BODY)
    assert mended.alpha[hole].min() == 1
    assert np.abs(mended.colour[hole] - [0.2, 0.5, 0.3]).max() < 0.02


def test_the_corner_between_cuff_and_body_stays_open() -> None:
    torso, sleeve = (
        piece("torso", slice(20, 180), slice(20, 120)),
        piece("left_sleeve", slice(30, 110), slice(120, 170)),
    )
    assert closed_up(torso, [sleeve], UNIT, BODY) is torso


def test_a_wide_opening_stays() -> None:
    hole = (slice(50, 90), slice(100, 120))
    mended = closed_up(torso_with(hole), [piece("left_sleeve", slice(30, 110), slice(120, 170))], UNIT, BODY)
    assert mended.alpha[hole].max() == 0


def test_a_filled_gap_that_is_open_to_a_side_ends_softly_there() -> None:
    hole = (slice(96, 180), slice(115, 120))
    torso = torso_with(hole)
    mended = closed_up(torso, [piece("left_sleeve", slice(30, 110), slice(120, 170))], UNIT, BODY)
    filled = (mended.alpha > 0) & (torso.alpha == 0)
    assert filled[slice(98, 106), slice(116, 119)].all()
    ends = filled[106:116, 115:120]
    assert ((mended.alpha[106:116, 115:120] < 0.9) & ends).any()
    assert np.abs(mended.colour - np.array([0.2, 0.5, 0.3], np.float32) * mended.alpha[..., None]).max() < 0.02


def test_a_notch_in_the_outline_is_filled_up_to_the_outline() -> None:
    notch = (slice(20, 28), slice(116, 120))
    sleeve = piece("left_sleeve", slice(20, 110), slice(120, 170))
    mended = closed_up(torso_with(notch), [sleeve], UNIT, BODY)
    assert mended.alpha[22:28, 116:120].min() == 1
    assert mended.alpha[:19].max() < 0.1
    assert 0.1 < mended.alpha[20, 116] < 0.9
    assert np.abs(mended.colour - [0.2, 0.5, 0.3] * mended.alpha[..., None]).max() < 0.02


def test_a_gap_that_only_one_side_gives_colours_to_is_filled_whole() -> None:
    gap = (slice(95, 111), slice(112, 120))
    torso = piece("torso", slice(20, 180), slice(20, 112))
    below = piece("torso", slice(111, 180), slice(112, 120))
    torso = Piece("torso", torso.colour + below.colour, torso.alpha + below.alpha, torso.across)
    sleeve = piece("left_sleeve", slice(20, 180), slice(120, 170))
    above = piece("right_sleeve", slice(20, 95), slice(112, 120))
    mended = closed_up(torso, [sleeve, above], UNIT, BODY)
    assert mended.alpha[gap].min() == 1
    assert np.abs(mended.colour[gap] - [0.2, 0.5, 0.3]).max() < 0.02


def a_wedge() -> tuple[Piece, Piece]:
    """A torso and a sleeve that leave its side slowly, without a corner."""
    torso, sleeve = (
        piece("torso", slice(20, 180), slice(20, 120)),
        piece("left_sleeve", slice(30, 180), slice(110, 170)),
    )
    for row in range(80, 180):
        for part in (torso, sleeve):
            part.alpha[row, 110 : 110 + (row - 80) // 4] = 0
        torso.alpha[row, 110:] = 0
    return torso, sleeve


def test_the_point_of_a_wedge_before_the_wall_stays_open() -> None:
    torso, sleeve = a_wedge()
    before = np.maximum(torso.alpha, sleeve.alpha) > 0.5
    shown = closed_up(torso, [sleeve], UNIT, WALL)
    assert ((shown.alpha > 0.5) & ~before).sum() == 0
    assert ((closed_up(torso, [sleeve], UNIT, BODY).alpha > 0.5) & ~before).sum() > 20


def test_a_hole_that_the_outline_of_the_person_crosses_is_closed_whole() -> None:
    hole = (slice(60, 84), slice(114, 120))
    half = np.where(np.arange(200)[None] < 117, 1, 0) * np.ones((200, 1), np.float32)
    sleeve = piece("left_sleeve", slice(30, 110), slice(120, 170))
    mended = closed_up(torso_with(hole), [sleeve], UNIT, half.astype(np.float32))
    assert mended.alpha[hole].min() == 1


def test_a_spot_or_short_line_of_wall_between_cuff_arm_and_torso_is_closed_and_a_way_out_to_the_wall_is_not() -> None:
    torso, sleeve = (
        piece("torso", slice(20, 180), slice(20, 120)),
        piece("left_sleeve", slice(30, 110), slice(120, 170)),
    )
    spot, arm = (slice(110, 122), slice(120, 132)), WALL.copy()
    arm[108:180, 118:170] = 1
    arm[spot] = 0
    mended = closed_up(torso, [sleeve], UNIT, arm)
    assert mended.alpha[111:121, 120:131].min() > 0.9
    assert mended.alpha[126:, 136:].max() == 0
    for end, closed in ((122, True), (150, False)):
        line = arm.copy()
        line[spot] = 1
        line[110:end, 121] = 0
        mended = closed_up(torso, [sleeve], UNIT, line)
        assert mended.alpha[111:121, 121].min() > 0.5 if closed else mended is torso
    arm[112:116, 120:180] = 0
    assert closed_up(torso, [sleeve], UNIT, arm) is torso


def test_no_line_of_the_wall_shows_between_two_soft_edges() -> None:
    seam = (slice(60, 90), slice(119, 120))
    torso, sleeve = torso_with(seam), piece("left_sleeve", slice(30, 110), slice(119, 170))
    for part in (torso, sleeve):
        part.alpha[seam] = 0.5
    torso.colour[seam] = np.array([0.1, 0.25, 0.15], np.float32)
    assert closed_up(torso, [sleeve], UNIT, WALL).alpha[seam].min() > 0.95


def test_a_scrap_of_a_bare_shoulder_over_the_seam_is_covered_and_a_bare_arm_is_not() -> None:
    mannequin = draw_mannequin(960, 760, sleeves="none")
    body = measure_body(mannequin.person_map)
    unit, person = body.shoulder_width, body.matte > 0.5
    aside = np.abs(body.laterals)
    shoulder = person & (aside > 0.34) & (body.heights < 0.1) & (body.labels != Label.HAIR)
    lower = np.roll(shoulder, 3, axis=0) & (body.heights < 0.09)
    worn = (lower | (person & (body.heights > 0.05) & (aside < 0.45))).astype(np.float32)
    torso = Piece("torso", np.full((*worn.shape, 3), 0.4, np.float32) * worn[..., None], worn, np.zeros_like(worn))
    scraps = bare_scraps(body, (torso,))
    skin = np.isin(body.labels, (Label.ARMS, Label.TORSO_SKIN, Label.NECK))
    assert scraps.sum() > 0.05 * unit
    assert not (scraps & ~dilated(skin, 2)).any()
    assert not (scraps & (body.heights > 0.15)).any()
    far_below = skin & (body.heights > 0.3)
    assert not (scraps & far_below).any()
    sleeve = Piece("left_sleeve", np.zeros_like(torso.colour), np.zeros_like(worn), np.zeros_like(worn))
    mended = closed_up(torso, [sleeve], unit, body.matte, scraps=scraps)
    assert (mended.alpha[scraps & person] > 0.5).mean() > 0.8
    shown = scraps & (mended.alpha > 0.5)
    assert np.abs(mended.colour[shown] / mended.alpha[shown][:, None] - 0.4).max() < 0.03
