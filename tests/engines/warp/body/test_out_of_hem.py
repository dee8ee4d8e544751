"""Skin comes out where the hem is, at every side of the limb."""

import numpy as np
import pytest

from engines.warp.body.bare_parts import BarePart, bare_arm, bare_leg, clothed_until
from engines.warp.body.model import LEFT, BodyModel, measure_body
from engines.warp.body.out_of_hem import out_of_hem
from tests.engines.mannequin import draw_mannequin


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin().person_map)


def bared(body: BodyModel, clothed: np.ndarray) -> tuple[BarePart, BarePart]:
    """The whole leg, and what of it comes out of cloth."""
    whole = bare_leg(body, LEFT, 0.0)
    return whole, out_of_hem(whole, clothed, clothed_until(body.legs[LEFT], clothed))


def gap(whole: BarePart, part: BarePart, clothed: np.ndarray) -> int:
    """Pixels of the leg below the hem that are neither cloth nor skin; its outermost strips are left out."""
    below = whole.on & (whole.share > 0.3) & (np.abs(whole.across) < 0.85) & (clothed < 0.5)
    return int((below & ~part.on).sum())


def test_no_wall_shows_between_a_slanting_hem_and_the_leg(body: BodyModel) -> None:
    whole = bare_leg(body, LEFT, 0.0)
    clothed = (whole.share + 0.08 * whole.across < 0.5).astype(np.float32)
    whole, part = bared(body, clothed)
    level = whole.on & (whole.share >= part.begin)
    assert gap(whole, part, clothed) < 0.1 * gap(whole, BarePart(level, whole.across, whole.share), clothed)


def test_a_level_hem_bares_the_leg_right_below_it(body: BodyModel) -> None:
    whole = bare_leg(body, LEFT, 0.0)
    whole, part = bared(body, (whole.share < 0.5).astype(np.float32))
    assert part.share[part.on].min() == pytest.approx(0.5, abs=0.03)


def test_beside_a_narrow_trouser_leg_no_skin_stands_out(body: BodyModel) -> None:
    whole = bare_leg(body, LEFT, 0.0)
    _, part = bared(body, ((whole.share < 0.5) & (np.abs(whole.across) < 0.5)).astype(np.float32))
    assert part.share[part.on].min() > 0.45


def test_a_leg_without_cloth_is_bare_from_its_root(body: BodyModel) -> None:
    whole, part = bared(body, np.zeros(body.shape, np.float32))
    assert np.array_equal(whole.on, part.on)


def test_an_arm_is_no_wider_than_the_sleeve_it_comes_out_of(body: BodyModel) -> None:
    whole = bare_arm(body, LEFT, 0.0)
    sleeve = ((whole.share < 0.5) & (whole.across * LEFT < 0.7)).astype(np.float32)
    part = out_of_hem(whole, sleeve, 0.5)
    at_hem = part.on & (part.share < 0.53)
    assert (part.across[at_hem] * LEFT).max() < 0.8
    assert (part.across[part.on & (part.share > 0.7)] * LEFT).max() > 0.95
