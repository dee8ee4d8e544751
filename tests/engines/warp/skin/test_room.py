"""Bare skin stays within the outline of the person, whose dents are those of its clothes."""

import numpy as np

from engines.base import Label
from engines.warp.body.model import LEFT, measure_body
from engines.warp.pieces import Drape, Piece
from engines.warp.skin.room import above_shoulders, skin_room
from tests.engines.mannequin import draw_mannequin


def test_a_waist_has_no_dent_where_a_top_bulged_over_it() -> None:
    body = measure_body(draw_mannequin(arms="out").person_map)
    worn = (np.abs(body.laterals) < 0.35).astype(np.float32)
    x, y = body.point(0.8, 0.35 * body.shoulder_width).round().astype(int)
    size = round(0.015 * body.shoulder_width)
    worn[y - size : y + size, x - 4 * size :] = 0.0
    room = skin_room(worn, body)
    assert room[y, x - 3 * size] == 1.0
    # It does not become wider than it was.
    assert not room[(np.abs(body.laterals) > 0.37) & (body.heights < body.crotch_height)].any()


def test_the_ends_of_hair_leave_no_dent_in_the_slope_of_a_shoulder() -> None:
    body = measure_body(draw_mannequin(960, 760).person_map)
    unit = body.shoulder_width
    along = body.heights * body.torso_length / unit
    slope = along > -0.20 + 0.4 * np.abs(body.laterals)

    def filled(aside: float) -> float:
        """How much of a dent of a shoulder's radius is filled, so far beside the axis."""
        middle = body.point(float((-0.20 + 0.4 * aside) * unit / body.torso_length), LEFT * aside * unit)
        rows, columns = np.indices(body.shape)
        dent = slope & (np.hypot(columns - middle[0], rows - middle[1]) < 0.06 * unit)
        return float(skin_room((slope & ~dent).astype(np.float32), body)[dent].mean())

    assert filled(0.36) > 0.5
    # A neck comes out of its shoulders in such a bend.
    assert filled(0.18) < 0.3


def test_a_wide_neckline_of_somebody_who_leans_leaves_the_shoulder_bare() -> None:
    body = measure_body(draw_mannequin(960, 760).person_map)
    # The lower shoulder lies below the neckline on its way to the other one.
    line = np.interp(body.laterals, (-0.8, -0.46, -0.34, 0.2, 0.8), (0.15, 0.0, 0.02, -0.2, -0.1))
    clothed = (body.heights > line).astype(np.float32)
    flat = np.zeros(body.shape, np.float32)
    drape = Drape((Piece("left_sleeve", np.zeros((*body.shape, 3), np.float32), clothed, flat),), {})
    above = above_shoulders(drape, clothed, body)
    beside_neck = (body.laterals < -0.1) & (body.laterals > -0.3) & (clothed == 0)
    assert above[beside_neck].max() == 0.0
    over_shoulder = (body.laterals > 0.3) & (body.laterals < 0.5) & (clothed == 0) & (line - body.heights < 0.05)
    assert above[over_shoulder].min() > 0.4


def test_no_slit_of_wall_is_left_in_the_neck_beside_a_hood() -> None:
    body = measure_body(draw_mannequin(960, 760).person_map)
    flat = np.zeros(body.shape, np.float32)
    along = body.heights * body.torso_length / body.shoulder_width
    front, aside = along > 0.05, np.abs(body.laterals)
    hood = (aside > 0.125) & (aside < 0.4) & (along > -0.2) & (along < -0.1)
    # At one side the foot of the neckline is found a little within the hood.
    crumb = (body.laterals < -0.095) & (body.laterals > -0.101) & (along > -0.20) & (along < -0.19)
    clothed = (front | hood | crumb).astype(np.float32)
    drape = Drape((Piece("left_sleeve", np.zeros((*body.shape, 3), np.float32), clothed, flat),), {})
    throat = (along > -0.08) & (along < 0.0) & (aside < 0.3)
    assert above_shoulders(drape, clothed, body)[throat].max() == 0.0


def test_the_wall_between_hair_and_a_shoulder_stays() -> None:
    body = measure_body(draw_mannequin().person_map)
    unit = body.shoulder_width
    along = body.heights * body.torso_length / unit
    beside = np.abs(body.laterals - 0.30) < 0.08
    shoulder, above = beside & (along > -0.10), beside & (along < -0.14)
    gap = beside & ~shoulder & ~above
    worn = (shoulder | above).astype(np.float32)
    body.labels[beside] = Label.UPPER
    middle = gap & (np.abs(body.laterals - 0.30) < 0.03)
    assert skin_room(worn, body)[middle].min() > 0.9
    body.labels[above] = Label.HAIR
    assert not skin_room(worn, body)[middle].any()


def test_a_gap_that_the_photo_shows_between_an_arm_and_the_body_has_no_room_for_skin() -> None:
    body = measure_body(draw_mannequin(sleeves="short").person_map)
    worn = (body.matte > 0.5).astype(np.float32)
    arm = body.arms[LEFT]
    sample = int(np.searchsorted(arm.shares, 0.6))
    x, y = (arm.line[sample] - arm.outward[sample] * 1.2 * arm.inner[sample]).round().astype(int)
    gap = np.s_[y - 12 : y + 12, x - 3 : x + 3]
    labels = body.labels.copy()
    labels[y - 12 : y + 12, x - 20 : x + 20], worn[y - 12 : y + 12, x - 20 : x + 20] = Label.UPPER, 1.0
    assert skin_room(worn, body.relabelled(labels))[gap].min() > 0.8
    labels[gap], worn[gap] = Label.BACKGROUND, 0.0
    assert skin_room(worn, body.relabelled(labels))[y - 8 : y + 8, x - 1 : x + 1].max() < 0.1
    # A highlight on the old garment that is called wall is none.
    worn[gap] = 1.0
    assert skin_room(worn, body.relabelled(labels))[gap].min() > 0.8
