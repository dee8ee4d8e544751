"""Invented skin lies in the light that falls on the seen one."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.bare_parts import bare_arm, bare_leg
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.skin.light import (
    DARKEST,
    USUAL_DEPTH,
    SkinLight,
    hem_shade,
    limb_lights,
    limb_shade,
    lit_from_around,
)
from tests.engines.mannequin import draw_mannequin


def lights_of(photo: np.ndarray, body: BodyModel) -> dict[Label, dict[int, SkinLight]]:
    limbs = {
        Label.ARMS: {side: bare_arm(body, side, 0.0) for side in SIDES},
        Label.LEGS: {side: bare_leg(body, side, 0.0) for side in SIDES},
    }
    return limb_lights(photo, body.labels, limbs)


def lit(tilt: float, depth: float) -> tuple[np.ndarray, BodyModel]:
    """A mannequin with bare arms on which light was painted."""
    mannequin = draw_mannequin(sleeves="none", arms="out")
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    for side in SIDES:
        arm = bare_arm(body, side, 0.0)
        photo[arm.on] *= ((1.0 - depth * arm.across**2) * (1.0 + tilt * arm.across))[arm.on][:, None]
    return photo, body


@pytest.mark.parametrize(("tilt", "depth"), [(0.0, 0.3), (0.15, 0.2), (-0.15, 0.35)])
def test_light_on_seen_arms_is_measured(tilt: float, depth: float) -> None:
    lights = lights_of(*lit(tilt, depth))[Label.ARMS]
    for side in SIDES:
        assert lights[side].tilt == pytest.approx(tilt, abs=0.06)
        assert lights[side].depth == pytest.approx(depth, abs=0.08)


def test_hidden_legs_lie_in_the_light_of_the_arms() -> None:
    lights = lights_of(*lit(0.10, 0.3))
    assert lights[Label.LEGS][LEFT] == lights[Label.LEGS][RIGHT]
    assert lights[Label.LEGS][LEFT].tilt == pytest.approx(0.10, abs=0.05)


def test_without_seen_skin_the_usual_light_falls() -> None:
    mannequin = draw_mannequin(sleeves="long")
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    lights = lights_of(photo, body)[Label.LEGS]
    assert lights[LEFT].depth == USUAL_DEPTH
    # The sides that face each other are the darker ones.
    assert lights[LEFT].tilt == -lights[RIGHT].tilt < 0.0


def test_a_limb_is_dark_at_its_edges_and_never_black() -> None:
    body = measure_body(draw_mannequin(arms="out").person_map)
    arm = bare_arm(body, RIGHT, 0.4)
    shade, across = limb_shade(arm, SkinLight(0.3, 0.42)), arm.across[arm.on]
    assert shade[across < -0.9].mean() < shade[np.abs(across) < 0.2].mean() - 0.15
    assert shade.min() > 1.0 - DARKEST


def test_a_hem_throws_a_shadow_on_the_skin_below_it() -> None:
    body = measure_body(draw_mannequin().person_map)
    leg = bare_leg(body, LEFT, 0.4)
    shade, share = hem_shade(leg, body.shoulder_width), leg.share[leg.on]
    assert shade[share < 0.42].mean() < 0.9
    assert shade[share > 0.7].min() > 0.99


def test_shades_do_not_add_up_to_black() -> None:
    shade = lit_from_around(np.linspace(0.1, 1.3, 25, dtype=np.float32))
    assert shade.min() > 1.0 - DARKEST
    assert (np.diff(shade) > 0.0).all()
    assert shade[-1] == pytest.approx(1.3)
