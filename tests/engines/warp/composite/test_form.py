"""Broad light and the form of the body."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.composite.form import MOST_TILT, USUAL_DROP, BroadLight, broad_light, falling_light, roundness
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin


def lit_from(side: float, brightness: float = 0.6) -> tuple[np.ndarray, np.ndarray, BodyModel]:
    """A person whose cloth and skin are lit from one side by a share of the light."""
    mannequin = draw_mannequin(960, 760)
    body = measure_body(mannequin.person_map)
    light = brightness * (1 + side * np.clip(body.laterals / 0.45, -1, 1))
    photo = np.repeat(light[..., None], 3, axis=2).astype(np.float32)
    return photo, np.asarray(body.labels == Label.UPPER), body


@pytest.mark.parametrize("side", [-0.04, 0.0, 0.04])
def test_the_side_that_light_comes_from_is_read_off_the_photo(side: float) -> None:
    assert broad_light(*lit_from(side)).tilt == pytest.approx(side, abs=0.012)


def test_the_tilt_is_bounded() -> None:
    assert broad_light(*lit_from(0.5)).tilt == pytest.approx(MOST_TILT)


def test_prints_and_black_cloth_say_nothing() -> None:
    photo, old, body = lit_from(0.0)
    photo[old & (body.laterals > 0)] = 0.05
    assert abs(broad_light(photo, old, body).tilt) < 0.02
    black, old, body = lit_from(0.0, brightness=0.03)
    assert broad_light(black, old, body).drop == pytest.approx(USUAL_DROP)


def test_cloth_is_darkest_at_the_edge_away_from_the_light() -> None:
    _, _, body = lit_from(0.0)
    across = np.broadcast_to(np.linspace(-1, 1, 760, dtype=np.float32), body.shape)
    cover = np.ones(body.shape, np.float32)
    piece = Piece("torso", np.full((*body.shape, 3), 0.9, np.float32), cover, across)
    factor = roundness(piece, body, BroadLight(tilt=0.04, drop=0.0), below_armpit=False)[500]
    assert factor[380] > 0.99
    assert factor[0] < factor[-1] < 0.97
    falling = falling_light(body, BroadLight(tilt=0.04, drop=0.05))
    assert falling[500, 300] < falling[500, 460]
    assert falling[560, 380] < falling[300, 380]
