"""Below its old sleeve the seen skin of an arm goes over into the invented one along the arm, and ink does not."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.bare_parts import BarePart, bare_arm
from engines.warp.body.model import LEFT, SIDES, BodyModel, measure_body
from engines.warp.skin.below_cuffs import IN_SHADOW, SEEN_FROM, below_cuffs
from tests.engines.mannequin import draw_mannequin

SKIN = np.array([0.8, 0.6, 0.5], np.float32)


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(sleeves="short", arms="out").person_map)


def taken(body: BodyModel, old: np.ndarray, photo: np.ndarray | None = None) -> tuple[np.ndarray, BarePart]:
    """Share of the invented skin, and the arm that is looked at."""
    arms = {side: bare_arm(body, side, 0.0) for side in SIDES}
    skin = np.broadcast_to(SKIN, (*body.shape, 3)).copy()
    return below_cuffs(skin if photo is None else photo, skin, old, arms, body), arms[LEFT]


def below(arm: BarePart, body: BodyModel, old: np.ndarray) -> np.ndarray:
    """Distance below the end of the sleeve on the arm's axis, shoulder widths."""
    end = float(arm.share[arm.on & old & (np.abs(arm.across) < 0.3)].max())
    return np.asarray((arm.share - end) * arm.length / body.shoulder_width)


def test_it_fades_along_the_arm(body: BodyModel) -> None:
    old = body.labels == Label.UPPER
    share, arm = taken(body, old)
    seen = arm.on & (body.labels == Label.ARMS) & (np.abs(arm.across) < 0.6)
    distance = below(arm, body, old)
    assert share[seen & (distance < 0.8 * IN_SHADOW)].min() > 0.9
    middle = (IN_SHADOW + SEEN_FROM) / 2.0
    assert share[seen & (np.abs(distance - middle) < 0.015)].mean() == pytest.approx(0.5, abs=0.15)
    assert share[seen & (distance > SEEN_FROM + 0.03)].max() == 0.0


def test_a_frill_beside_the_arm_ends_no_sleeve(body: BodyModel) -> None:
    old = body.labels == Label.UPPER
    share, arm = taken(body, old)
    distance = below(arm, body, old)
    # A crumb of cloth on the outermost edge of the arm, further down.
    frilled = old | (arm.on & (arm.across * arm.side > 0.9) & (distance > 0.0) & (distance < 0.04))
    again, _ = taken(body, frilled)
    seen = arm.on & (body.labels == Label.ARMS) & (np.abs(arm.across) < 0.6)
    assert np.abs(again - share)[seen].max() < 0.15


def test_ink_stays(body: BodyModel) -> None:
    old = body.labels == Label.UPPER
    ink = np.full((*body.shape, 3), 0.25, np.float32)
    share, _ = taken(body, old, ink)
    assert share.max() < 0.05
