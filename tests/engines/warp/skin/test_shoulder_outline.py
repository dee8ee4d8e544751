"""Bare shoulders have one smooth outline."""

import cv2
import numpy as np

from engines.base import Label
from engines.garment.regions import eroded
from engines.warp.body.bare_parts import bare_arm, bare_torso
from engines.warp.body.model import SIDES, BodyModel, measure_body
from engines.warp.skin.shoulder_outline import curved
from tests.engines.mannequin import draw_mannequin


def bare_cover(body: BodyModel) -> np.ndarray:
    cover = bare_torso(body).on
    for side in SIDES:
        cover = cover | bare_arm(body, side, 0.0).on
    return cover


def test_a_notch_in_the_shoulder_is_filled_and_a_lump_on_it_taken_off() -> None:
    body = measure_body(draw_mannequin(sleeves="long").person_map)
    cover = bare_cover(body)
    rows = [
        int(np.flatnonzero(cover[:, int(body.point(0.0, aside * body.shoulder_width)[0])])[0])
        for aside in (-0.42, 0.42)
    ]
    notched = cover.astype(np.uint8)
    left, right = (int(body.point(0.0, aside * body.shoulder_width)[0]) for aside in (-0.42, 0.42))
    radius = max(2, round(0.03 * body.shoulder_width))
    cv2.circle(notched, (left, rows[0]), radius, 0, -1)
    cv2.circle(notched, (right, rows[1] - radius // 2), radius, 1, -1)
    smooth = curved(notched > 0, body)
    first = [int(np.flatnonzero(smooth[:, column])[0]) for column in (left, right)]
    assert first[0] < rows[0] + 0.6 * radius
    assert first[1] > rows[1] - 0.7 * radius


def test_seen_skin_and_the_outline_of_the_belly_stay() -> None:
    body = measure_body(draw_mannequin(sleeves="short").person_map)
    cover = bare_cover(body)
    seen = body.labels == Label.ARMS
    smooth = curved(cover | seen, body)
    assert smooth[eroded(seen, 3)].all()
    belly = (body.heights > 0.3) & (np.abs(body.laterals) < 0.4)
    np.testing.assert_array_equal(smooth[belly], (cover | seen)[belly])


def test_the_gap_between_an_arm_and_the_body_stays_open() -> None:
    body = measure_body(draw_mannequin(sleeves="long").person_map)
    cover = bare_cover(body) | (np.abs(body.laterals) < 0.7)
    gap = (np.abs(body.laterals - 0.52) < 0.015) & (body.heights > 0.44) & (body.heights < 0.9)
    smooth = curved(cover & ~gap, body)
    assert not smooth[gap].any()
