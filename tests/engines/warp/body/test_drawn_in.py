"""A waist behind loose clothes is as narrow as chest and hips say, within bounds."""

from dataclasses import replace

import numpy as np
import pytest

from engines.warp.body.drawn_in import UNDER_LOOSE, UNDER_TUCKED, WAIST_AT, drawn_in
from engines.warp.body.model import PROFILE_HEIGHTS, SIDES, BodyModel, measure_body
from tests.engines.mannequin import draw_mannequin


def in_a_sack(*, tucked: bool, waist: float = 0.50) -> BodyModel:
    """Chest and hips half a shoulder width wide to either side, the waist as told."""
    body = measure_body(draw_mannequin(arms="out").person_map)
    half = np.interp(PROFILE_HEIGHTS, [0.3, WAIST_AT, 1.0], [0.5, waist, 0.5]) * body.shoulder_width
    widths = {side: half.astype(np.float32) for side in SIDES}
    return replace(body, widths=widths, waist=replace(body.waist, tucked=tucked))


@pytest.mark.parametrize(("tucked", "most"), [(False, UNDER_LOOSE), (True, UNDER_TUCKED)])
def test_a_loose_top_hides_more_than_a_tucked_one(tucked: bool, most: float) -> None:
    assert drawn_in(in_a_sack(tucked=tucked), np.array([WAIST_AT]))[0] == pytest.approx(1.0 - most, abs=0.02)


def test_chest_and_hips_are_as_wide_as_they_look() -> None:
    np.testing.assert_allclose(drawn_in(in_a_sack(tucked=False), np.array([0.0, 0.3, 1.0, 1.6])), 1.0)


def test_a_slim_waist_that_is_seen_stays() -> None:
    np.testing.assert_allclose(drawn_in(in_a_sack(tucked=False, waist=0.42), np.linspace(0.3, 1.1, 9)), 1.0, atol=2e-3)


def test_a_top_that_billows_below_the_chest_is_no_body() -> None:
    body = in_a_sack(tucked=False)
    half = np.interp(PROFILE_HEIGHTS, [0.3, 0.4, WAIST_AT, 1.0], [0.45, 0.5, 0.44, 0.5]) * body.shoulder_width
    billowing = replace(body, widths={side: half.astype(np.float32) for side in SIDES})
    assert drawn_in(billowing, np.array([0.4]))[0] == pytest.approx(0.45 / 0.5, abs=0.03)
