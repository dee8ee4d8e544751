"""A strip of a sleeve's inside beyond its front's edge goes; stripes, bands and plain cuffs stay."""

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from engines.garment.cloth import Cloth
from engines.garment.cuff_lining import without_cuff_linings
from engines.garment.regions import BoolMask
from engines.garment.sleeves import Sleeve, trace_sleeve

TIP, ARMPIT, CORNER = np.array([300.0, 120.0]), np.array([300.0, 340.0]), np.array([190.0, 210.0])
FRONT_ENDS = np.array([300.0, 322.0])
"""Where the front's edge, which begins at the cuff's outer corner, meets the torso."""

INK, PALE = (0.1, 0.1, 0.12), (0.88, 0.88, 0.9)
Painter = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _beyond_front() -> np.ndarray:
    """``(h, w)`` how far beyond the front's edge each pixel lies, outwards."""
    rows, columns = np.indices((480, 480))
    way = FRONT_ENDS - CORNER
    away = (columns - CORNER[0]) * way[1] - (rows - CORNER[1]) * way[0]
    return np.asarray(-away / np.linalg.norm(way))


def _garment(painted: Painter, hangs: bool = True) -> tuple[Cloth, tuple[Sleeve, Sleeve], BoolMask]:
    """The left half of a top with a cap sleeve, whose back ends below its front or with it."""
    outline = [TIP, CORNER, (216, 262), (262, 330), ARMPIT] if hangs else [TIP, CORNER, FRONT_ENDS]
    part = cv2.fillPoly(np.zeros((480, 480), np.uint8), [np.rint(outline).astype(np.int32)], 1) > 0
    sleeve = trace_sleeve(part, TIP, ARMPIT, -1)
    assert sleeve is not None
    mask = part.copy()
    mask[100:460, 300:460] = True
    rows, columns = np.indices(mask.shape)
    colour = np.where(painted(_beyond_front(), rows + columns)[..., None], np.float32(PALE), np.float32(INK))
    alpha = np.asarray(cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 0.8), np.float32)
    colour = np.asarray(cv2.GaussianBlur(colour.astype(np.float32), (0, 0), 0.8), np.float32)
    return Cloth(colour, alpha), (sleeve, sleeve), np.stack([part, np.zeros_like(part)])


def test_inside_of_a_sleeve_is_taken_off() -> None:
    cloth, sleeves, parts = _garment(lambda beyond, _: beyond > 0)
    alpha = without_cuff_linings(cloth, sleeves, parts).alpha
    beyond = _beyond_front()
    assert alpha[parts[0] & (beyond > 5)].mean() < 0.02
    assert np.array_equal(alpha[beyond < -6], cloth.alpha[beyond < -6])


@pytest.mark.parametrize(
    "painted",
    [
        lambda beyond, _: np.zeros_like(beyond, bool),
        lambda beyond, _: np.sin(beyond / 3.0) > 0,
        lambda _, diagonal: np.sin(diagonal / 5.0) > 0,
        lambda beyond, _: np.random.default_rng(2).uniform(size=beyond.shape) > 0.5,
    ],
    ids=["plain", "stripes along", "stripes across", "print"],
)
def test_cloth_of_the_front_stays(painted: Painter) -> None:
    cloth, sleeves, parts = _garment(painted, hangs=False)
    left = without_cuff_linings(cloth, sleeves, parts).alpha
    assert left[_beyond_front() < -6].sum() == pytest.approx(cloth.alpha[_beyond_front() < -6].sum())
    assert (cloth.alpha - left).sum() < 0.02 * parts[0].sum()


def _lace(front: tuple[float, float, float], inside: tuple[float, float, float], hangs: bool) -> np.ndarray:
    """``(h, w)`` what is taken off a sleeve of thin lace whose back may hang out below half of its front."""
    half = (CORNER + FRONT_ENDS) / 2
    out = np.array([-22.0, 22.0])
    hanging = [half, half + out, FRONT_ENDS + out + (-20.0, -18.0), FRONT_ENDS] if hangs else [FRONT_ENDS]
    outline = [TIP, CORNER, *hanging, ARMPIT]
    part = cv2.fillPoly(np.zeros((480, 480), np.uint8), [np.rint(outline).astype(np.int32)], 1) > 0
    sleeve = trace_sleeve(part, TIP, ARMPIT, -1)
    assert sleeve is not None
    threads = np.where((_beyond_front() > 0)[..., None], np.float32(inside), np.float32(front))
    ground = np.random.default_rng(1).uniform(size=(240, 240)).repeat(2, 0).repeat(2, 1) > 0.6
    colour = np.where(ground[..., None], np.float32((0.97, 0.97, 0.97)), threads)
    alpha = np.asarray(cv2.GaussianBlur(part.astype(np.float32), (0, 0), 0.8), np.float32)
    cloth = Cloth(np.asarray(colour, np.float32), alpha)
    return alpha - without_cuff_linings(cloth, (sleeve, sleeve), np.stack([part, np.zeros_like(part)])).alpha


def test_the_inside_of_thin_lace_that_hangs_out_below_half_a_cuff_is_taken_off() -> None:
    gone = _lace((0.1, 0.65, 0.35), INK, hangs=True)
    beyond = _beyond_front()
    assert gone[(beyond > 5) & (np.arange(480) < 270)].sum() > 300
    assert gone[beyond < -6].sum() == 0.0


@pytest.mark.parametrize(
    ("front", "inside", "hangs"),
    [
        ((0.1, 0.65, 0.35), (0.1, 0.65, 0.35), True),
        ((0.15, 0.15, 0.15), INK, True),
        ((0.1, 0.65, 0.35), INK, False),
    ],
    ids=["of the same colour", "of black lace", "no inside"],
)
def test_lace_that_hangs_out_alike_stays(
    front: tuple[float, float, float], inside: tuple[float, float, float], hangs: bool
) -> None:
    assert _lace(front, inside, hangs).sum() == 0.0
