"""Shadows of the shop's light are no cloth, whatever the cloth's colour."""

import numpy as np
import pytest

from engines.garment.canvas import lay_on_canvas
from engines.garment.cutout import garment_mask

GROUND = 245


def garment_with_a_gap(cloth: tuple[int, int, int], stripe: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """A torso and sleeves with shaded ground in the corner between them, and that corner's mask."""
    picture = np.full((800, 700, 3), GROUND, np.uint8)
    picture[100:700, 200:500] = cloth
    picture[100:400, 110:590] = cloth
    for row in range(120, 400, 60):
        picture[row : row + 24, 110:590] = stripe
    rows, columns = np.indices(picture.shape[:2])
    corner = (rows > 380) & (rows < 400) & (columns > 505) & (columns < 540)
    picture[corner] = GROUND - 14
    return picture, corner


@pytest.mark.parametrize("stripe", [(25, 35, 80), (140, 141, 142)])
def test_shaded_corner_under_the_arm_is_left_out(stripe: tuple[int, int, int]) -> None:
    picture, corner = garment_with_a_gap((222, 208, 175), stripe)
    mask = garment_mask(lay_on_canvas(picture))
    on_canvas = lay_on_canvas(np.repeat((corner * 255).astype(np.uint8)[..., None], 3, axis=2))[..., 0] > 127
    assert mask[on_canvas].mean() < 0.3
    cloth = np.repeat((picture == (222, 208, 175)).all(axis=2)[..., None], 3, axis=2)
    assert mask[lay_on_canvas((cloth * 255).astype(np.uint8))[..., 0] > 200].mean() > 0.97
