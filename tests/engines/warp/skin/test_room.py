"""Bare skin stays within the outline of the person, whose dents are those of its clothes."""

import numpy as np

from engines.base import Label
from engines.warp.body.model import measure_body
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
