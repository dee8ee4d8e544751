"""Drawn photos whose outline is hard to tell: print like the ground, soft shadows."""

import cv2
import numpy as np
import pytest

from engines.garment.canvas import LONG_SIDE, MARGIN, lay_on_canvas
from engines.garment.cutout import garment_mask

HEIGHT, WIDTH = LONG_SIDE, 800
GROUND = (238, 238, 234)


def photo(cloth: np.ndarray, shadow: float = 0.0) -> np.ndarray:
    """Painted cloth, zero where there is none, on plain ground; under it a soft shadow of that depth."""
    mask = cloth.any(axis=2)
    thrown = cv2.GaussianBlur(np.roll(mask, 14, axis=0).astype(np.float32), (0, 0), 9.0)[..., None]
    ground = np.array(GROUND) * (1 - shadow * thrown)
    picture = np.where(mask[..., None], cloth, ground)
    return np.clip(cv2.GaussianBlur(picture, (0, 0), 0.7), 0, 255).astype(np.uint8)


def found(picture: np.ndarray) -> np.ndarray:
    return garment_mask(lay_on_canvas(picture))[MARGIN:-MARGIN, MARGIN:-MARGIN]


def block() -> np.ndarray:
    cloth = np.zeros((HEIGHT, WIDTH, 3))
    cloth[200:850, 220:580] = (70, 140, 220)
    return cloth


def test_pale_print_at_the_edge_is_cloth() -> None:
    cloth = block()
    for row in range(230, 850, 60):
        for column in (226, 574, 400):
            cv2.circle(cloth, (column, row), 16, (226, 230, 240), -1)
    cloth[:, :220] = cloth[:, 580:] = 0
    drawn = cloth.any(axis=2)
    mask = found(photo(cloth))
    assert mask[drawn].mean() > 0.985
    assert mask[~drawn].sum() < 0.01 * drawn.sum()


@pytest.mark.parametrize("depth", [0.10, 0.22])
def test_soft_shadow_under_the_hem_is_ground(depth: float) -> None:
    cloth = block()
    # White and black: by its colours alone the cloth could be ground and shadow.
    for row in range(200, 840, 26):
        cloth[row : row + 13, 220:580] = (254, 254, 252)
        cloth[row + 13 : row + 26, 220:580] = (25, 25, 25)
    mask = found(photo(cloth, depth))
    assert mask[858:, :].sum() == 0
    assert mask[cloth.any(axis=2)].mean() > 0.985
