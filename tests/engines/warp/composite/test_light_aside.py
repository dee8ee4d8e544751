"""From which side light falls, read off worn cloth."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import measure_body
from engines.warp.composite.form import read_off_cloth
from tests.engines.mannequin import draw_mannequin


@pytest.mark.parametrize("side", [-1, 1])
def test_the_lighter_side_faces_the_light(side: int) -> None:
    body = measure_body(draw_mannequin(960, 760).person_map)
    light = np.where(side * body.laterals > 0, 0.6, 0.45)
    photo = np.repeat(light[..., None], 3, axis=2).astype(np.float32)
    said = read_off_cloth(photo, body, 4)
    assert said.tilt == pytest.approx(side / 7, abs=0.01)
    assert said.sure == 1


def test_another_colour_is_no_light() -> None:
    body = measure_body(draw_mannequin(960, 760).person_map)
    photo = np.full((*body.shape, 3), 0.6, np.float32)
    photo[(body.laterals > 0) & (body.labels == Label.UPPER)] = (0.5, 0.1, 0.1)
    assert read_off_cloth(photo, body, 4).sure == 0
