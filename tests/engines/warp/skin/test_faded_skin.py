"""Invented skin fades into seen skin, but not over the dark rim of a neck before the wall."""

import numpy as np

from engines.base import Label
from engines.warp.skin.faded_skin import faded_into_seen

UNIT = 200.0


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
