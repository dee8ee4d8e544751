"""Invented skin fades into seen skin, but not over the dark rim of a neck before the wall."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.bare_parts import bare_arm
from engines.warp.body.model import RIGHT, measure_body
from engines.warp.skin.faded_skin import AT_OLD, EDGE, beside_old, faded_into_seen, under_old
from tests.engines.mannequin import draw_mannequin

UNIT = 200.0


def test_a_neck_keeps_the_shade_of_its_rim() -> None:
    labels = np.zeros((120, 120), np.uint8)
    labels[:80, 30:90] = Label.NECK
    labels[80:] = Label.UPPER
    photo = np.full((*labels.shape, 3), (0.6, 0.4, 0.3), np.float32)
    from_old = np.maximum(80.0 - np.indices(labels.shape)[0], 0.0).astype(np.float32)
    share = faded_into_seen(photo, photo + np.float32(0.1), from_old, labels, UNIT)
    row = round(80 - 2.2 * AT_OLD * UNIT)
    assert share[row, 60] > 0.1
    assert share[row, 30] < 0.4 * share[row, 60]
    assert share[row, 30 + round(EDGE * UNIT) + 1] == share[row, 60]
    # Right at the old garment the rim is dark with its shadow, and goes.
    assert share[79, 30] == share[79, 60] > 0.9


def test_a_dark_armpit_beside_the_old_armhole_goes_without_specks() -> None:
    labels = np.full((120, 120), Label.ARMS, np.uint8)
    labels[:, :40] = Label.UPPER
    skin = np.full((*labels.shape, 3), (0.50, 0.34, 0.27), np.float32)
    from_old = np.maximum(np.indices(labels.shape)[1] - 39.0, 0.0).astype(np.float32)
    # Its warmth is about three quarters of that of lit skin, and uneven.
    noise = 0.008 * np.random.default_rng(1).standard_normal((*labels.shape, 3)).astype(np.float32)
    photo = np.float32((0.25, 0.19, 0.165)) + noise
    share = faded_into_seen(photo, skin, from_old, labels, UNIT)
    near = share[20:100, 41:48]
    assert near.min() > 0.9
    # A tattoo stays.
    ink = np.full_like(photo, 0.2)
    assert faded_into_seen(ink, skin, from_old, labels, UNIT)[20:100, 52:60].max() < 0.05


def test_a_forearm_below_a_short_sleeve_has_its_own_edge() -> None:
    mannequin = draw_mannequin(sleeves="short")
    body = measure_body(mannequin.person_map)
    beside = beside_old(body, mannequin.person_map.labels == Label.UPPER)
    rows, columns = np.rint(body.arms[RIGHT].points(np.array([0.85, 0.9], np.float32))[:, ::-1]).astype(int).T
    assert beside[rows, columns] == pytest.approx([1.0, 1.0], abs=0.01)
    assert beside[mannequin.person_map.labels != Label.ARMS].mean() < 0.01


def test_below_its_cuff_skin_fades_into_the_arm() -> None:
    mannequin = draw_mannequin(sleeves="short")
    body = measure_body(mannequin.person_map)
    labels = mannequin.person_map.labels
    beside = beside_old(body, labels == Label.UPPER)
    near = np.zeros_like(labels, dtype=bool)
    first = np.flatnonzero((labels == Label.ARMS).any(axis=1))[0]
    near[first : first + round(0.06 * body.shoulder_width)] = True
    assert beside[near & (labels == Label.ARMS)].max() < 0.3


def test_an_arm_goes_on_under_a_shirt_that_lay_before_it_and_not_beside_one() -> None:
    body = measure_body(draw_mannequin(sleeves="none", arms="out").person_map)
    arm = bare_arm(body, RIGHT, 0.0)
    forearm = arm.on & (arm.share > 0.6) & (arm.share < 0.9)
    before = forearm & (arm.across * RIGHT < 0.0)
    outer = forearm & (arm.across * RIGHT > 0.1) & (arm.across * RIGHT < 0.3)
    nowhere = np.zeros_like(before)
    assert under_old({RIGHT: arm}, nowhere, before, body.shoulder_width)[outer].mean() > 0.5
    sliver = forearm & (arm.across * RIGHT < -0.9)
    assert under_old({RIGHT: arm}, nowhere, sliver, body.shoulder_width).max() == 0.0
    # Unless the gap beside it is closed with skin: then the rim of the arm would be a line in it.
    beside = forearm & (arm.across * RIGHT < -0.5)
    assert under_old({}, beside, beside, body.shoulder_width)[beside].mean() > 0.5


def test_an_arm_without_a_sleeve_has_its_own_edge_below_its_armhole() -> None:
    mannequin = draw_mannequin(sleeves="none")
    body = measure_body(mannequin.person_map)
    beside = beside_old(body, mannequin.person_map.labels == Label.LOWER)
    rows, columns = np.rint(body.arms[RIGHT].points(np.array([0.6, 0.8], np.float32))[:, ::-1]).astype(int).T
    assert beside[rows, columns] == pytest.approx([1.0, 1.0], abs=0.01)
    row, column = np.rint(body.arms[RIGHT].points(np.array([0.15], np.float32))[0, ::-1]).astype(int)
    assert beside[row, column] < 0.1


def test_nothing_that_is_painted_beside_a_skirt_ends_in_a_line_across_the_wrist() -> None:
    labels = np.full((160, 120), Label.ARMS, np.uint8)
    labels[:, :40], labels[100:, 40:] = Label.LOWER, Label.HANDS
    photo = np.full((*labels.shape, 3), (0.6, 0.4, 0.3), np.float32)
    from_old = np.maximum(np.indices(labels.shape)[1] - 39.0, 0.0).astype(np.float32)
    share = faded_into_seen(photo, photo, from_old, labels, UNIT)
    assert share[40, 44] > 0.5
    assert share[99, 44] < 0.1
    assert np.abs(np.diff(share[40:110, 44])).max() < 0.15
    # The pixels that are mixed with the skirt go all along.
    assert share[40:100, 40].min() > 0.9
