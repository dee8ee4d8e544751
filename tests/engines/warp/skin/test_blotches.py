"""Bared legs are as blotchy as the skin that is seen."""

import cv2
import numpy as np
import pytest

from engines.warp.body.bare_parts import BarePart, bare_leg
from engines.warp.body.model import LEFT, RIGHT, BodyModel, measure_body
from engines.warp.skin.blotches import LEAST_SEEN, MOST, USUAL, blotches_of, skin_blotches
from tests.engines.mannequin import draw_mannequin

UNIT = 200.0


def blotchy(strength: float) -> tuple[np.ndarray, np.ndarray]:
    """A photo of skin whose red varies over some pixels, and where it is seen."""
    noise = cv2.GaussianBlur(np.random.default_rng(5).normal(0.0, 1.0, (160, 160)).astype(np.float32), (0, 0), 4.0)
    red = strength * noise / noise.std()
    return np.stack([0.7 * (1 + red), np.full_like(red, 0.5), np.full_like(red, 0.4)], axis=2), np.ones(
        (160, 160), bool
    )


@pytest.fixture(scope="module")
def bared() -> tuple[BodyModel, list[BarePart]]:
    body = measure_body(draw_mannequin().person_map)
    return body, [bare_leg(body, side, 0.0) for side in (LEFT, RIGHT)]


def drawn(bared: tuple[BodyModel, list[BarePart]], strength: float) -> np.ndarray:
    body, legs = bared
    photo, skin = np.zeros((*body.shape, 3), np.float32), np.zeros(body.shape, bool)
    photo[:160, :160], skin[:160, :160] = blotchy(strength)
    return skin_blotches(photo, skin, legs, (slice(0, body.shape[0]), slice(0, body.shape[1])), UNIT)


def test_blotches_are_measured_and_bounded() -> None:
    even, uneven, spotted = (blotches_of(*blotchy(strength), UNIT) for strength in (0.0, 0.01, 0.4))
    assert max(even) < 1e-4
    assert max(uneven) > 5e-4
    assert all(found <= most for found, most in zip(spotted, MOST, strict=True))
    assert max(spotted) == max(MOST)


def test_too_little_skin_is_as_blotchy_as_usual() -> None:
    photo, skin = blotchy(0.1)
    skin[:] = False
    assert blotches_of(photo, skin, UNIT) == USUAL
    skin[:4, : LEAST_SEEN // 8] = True
    assert blotches_of(photo, skin, UNIT) == USUAL


def test_legs_are_as_uneven_as_seen_skin_and_on_the_whole_no_darker(bared: tuple[BodyModel, list[BarePart]]) -> None:
    even, uneven = (drawn(bared, strength)[: bared[0].shape[0] // 3] for strength in (0.0, 0.03))
    assert np.ptp(even) < 1e-3
    assert uneven.std(axis=(0, 1)).max() > 0.004
    assert np.abs(uneven.mean(axis=(0, 1)) - 1.0).max() < 0.005


def test_knees_are_redder(bared: tuple[BodyModel, list[BarePart]]) -> None:
    factors, leg = drawn(bared, 0.0), bared[1][0]
    ratio = factors[..., 0] / factors[..., 1]
    knee = leg.on & (np.abs(leg.share - leg.bend) < 0.02) & (np.abs(leg.across) < 0.3)
    thigh = leg.on & (np.abs(leg.share - 0.5 * leg.bend) < 0.02)
    assert ratio[knee].mean() > ratio[thigh].mean() + 0.01


def test_they_are_the_same_every_time(bared: tuple[BodyModel, list[BarePart]]) -> None:
    np.testing.assert_array_equal(drawn(bared, 0.02), drawn(bared, 0.02))


def test_arms_and_chests_are_blotchy_too() -> None:
    photo, skin = blotchy(0.03)
    factors = skin_blotches(photo, skin, [], (slice(0, 120), slice(0, 150)), UNIT)
    assert factors.shape == (120, 150, 3)
    assert (factors[..., 0] / factors[..., 1]).std() > 0.004
