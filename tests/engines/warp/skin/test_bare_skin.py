"""Bare skin has smooth outlines, and fades into the skin that is seen."""

import cv2
import numpy as np

from engines.base import Category, Label
from engines.warp.body.model import SIDES, BodyModel, measure_body
from engines.warp.skin.bare_skin import (
    _with_round_shoulders,
    antialiased,
    bare_body,
    bare_skin,
    faded_into_seen,
)
from tests.engines.mannequin import SKIN, draw_mannequin


def test_a_belly_is_not_as_dark_as_the_strip_of_it_under_the_old_hem() -> None:
    mannequin = draw_mannequin()
    photo, labels = mannequin.photo.astype(np.float32) / 255.0, mannequin.person_map.labels
    body = measure_body(mannequin.person_map)
    strip = (labels == Label.UPPER) & (body.heights > body.waist.height - 0.07)
    labels[strip] = Label.TORSO_SKIN
    photo[strip] = np.array(SKIN) / 255.0 * 0.5
    body = measure_body(mannequin.person_map)
    from_old = np.asarray(cv2.distanceTransform((labels != Label.UPPER).astype(np.uint8), cv2.DIST_L2, 5), np.float32)
    nothing = np.zeros(body.shape, np.float32)
    skin = bare_skin(photo, body, bare_body(body), nothing, from_old, category=Category.UPPER_BODY)
    x, y = body.point(0.7).round().astype(int)
    assert skin.colour[y - 3 : y + 4, x + 8 : x + 20].mean() > 0.9 * np.mean(SKIN) / 255.0


def bare_cover(body: BodyModel) -> np.ndarray:
    naked = bare_body(body)
    return naked.torso.on | naked.both(Label.ARMS)


def test_a_notch_in_the_shoulder_is_filled_and_a_lump_on_it_taken_off() -> None:
    body = measure_body(draw_mannequin(sleeves="long").person_map)
    cover = bare_cover(body)
    columns = [int(body.point(0.0, side * 0.42 * body.shoulder_width)[0]) for side in SIDES]
    rows = [int(np.flatnonzero(cover[:, column])[0]) for column in columns]
    notched, radius = cover.astype(np.uint8), max(2, round(0.03 * body.shoulder_width))
    cv2.circle(notched, (columns[0], rows[0]), radius, 0, -1)
    cv2.circle(notched, (columns[1], rows[1] - radius // 2), radius, 1, -1)
    smooth = _with_round_shoulders(notched > 0, body)
    first = [int(np.flatnonzero(smooth[:, column])[0]) for column in columns]
    assert first[0] < rows[0] + 0.6 * radius
    assert first[1] > rows[1] - 0.8 * radius


def test_the_outline_of_the_belly_stays() -> None:
    body = measure_body(draw_mannequin(sleeves="short").person_map)
    cover = bare_cover(body)
    belly = (body.heights > 0.3) & (np.abs(body.laterals) < 0.4)
    np.testing.assert_array_equal(_with_round_shoulders(cover, body)[belly], cover[belly])


def test_the_outline_of_a_slanted_limb_has_no_teeth() -> None:
    rows, columns = np.indices((300, 400), np.float32)
    cover = antialiased(np.abs(columns - 40.0 - 0.3 * rows) < 30.0)
    edge = cover[80:220, 80:].sum(axis=1)
    assert (edge - np.polyval(np.polyfit(np.arange(140), edge, 1), np.arange(140))).std() < 0.1


def test_the_shadow_of_an_old_armhole_goes_and_a_tattoo_and_hands_stay() -> None:
    labels = np.full((120, 120), Label.ARMS, np.uint8)
    labels[:, :40], labels[100:] = Label.UPPER, Label.HANDS
    skin = np.full((*labels.shape, 3), (0.50, 0.34, 0.27), np.float32)
    from_old = np.maximum(np.indices(labels.shape)[1] - 39.0, 0.0).astype(np.float32)
    # Its warmth is about three quarters of that of lit skin, and uneven.
    noise = 0.008 * np.random.default_rng(1).standard_normal((*labels.shape, 3)).astype(np.float32)
    dark = np.float32((0.25, 0.19, 0.165)) + noise
    share = faded_into_seen(dark, skin, from_old, labels, 200.0)
    assert share[20:90, 41:47].min() > 0.7
    assert not share[100:].any()
    ink = np.full_like(dark, 0.2)
    assert faded_into_seen(ink, skin, from_old, labels, 200.0)[20:90, 53:60].max() < 0.05
