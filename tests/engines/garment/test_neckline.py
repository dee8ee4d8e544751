"""Drawn garments lying flat: their front neckline is known."""

import cv2
import numpy as np
import pytest

from cli.samples import draw_sample
from engines.garment.cloth import Cloth
from engines.garment.cutout import cut_out
from engines.garment.neckline import inner_back, without_inner_back
from engines.garment.upper_landmarks import find_upper_landmarks

SIDE, AXIS, TOP = 700, 350.0, 120.0
WIDTH, TORSO = 160.0, 420.0
LEFT, RIGHT = np.array([AXIS - WIDTH / 2, TOP]), np.array([AXIS + WIDTH / 2, TOP])


def hung(depth: float, half: float = WIDTH / 2, across: float = 2.2, downwards: float = 2.0) -> np.ndarray:
    """Row of a curve of that depth in every column, as far below the neck as it hangs; its ends outside."""
    offset = np.clip(np.abs(np.arange(SIDE) - AXIS) / half, 0, 1)
    return TOP + depth * WIDTH * (1 - offset**across) ** (1 / downwards)


def flat(colour: np.ndarray) -> Cloth:
    """Cloth of a shirt's shape: shoulders that fall away from the neck, a back neckline a little below its points."""
    offset = np.abs(np.arange(SIDE) - AXIS)
    top = np.where(offset < WIDTH / 2, hung(0.10), TOP + 0.4 * (offset - WIDTH / 2))
    mask = (np.arange(SIDE)[:, None] > top) & (offset < TORSO / 2)[None] & (np.arange(SIDE) < 650)[:, None]
    noise = np.random.default_rng(4).normal(0, 0.012, (SIDE, SIDE, 1))
    alpha = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 0.8)
    return Cloth(np.clip(colour + noise, 0, 1).astype(np.float32), alpha)


def plain(inside: float, *, label: bool = True, seam: bool = True, front: float = 0.6) -> np.ndarray:
    """A plain shirt with a dark line along the back's band, and a white label below it."""
    rows = np.arange(SIDE)[:, None]
    colour = np.broadcast_to(np.array([0.2, 0.3, 0.5]), (SIDE, SIDE, 3)).copy()
    within = (rows < hung(front)[None]) & (np.abs(np.arange(SIDE) - AXIS) < WIDTH / 2)[None]
    if seam:
        colour[np.abs(rows - hung(0.24, across=4.0)[None]) < 2] *= 0.5
    if label:
        colour[int(TOP + 0.26 * WIDTH) : int(TOP + 0.38 * WIDTH), int(AXIS - 28) : int(AXIS + 28)] = 0.95
    colour[~within] = (0.2, 0.3, 0.5)
    colour[within] *= inside
    return colour


def depth_of(back: np.ndarray) -> float:
    """Of the line found, in neck widths."""
    return float((np.flatnonzero(back[:, int(AXIS)])[-1] - TOP) / WIDTH)


@pytest.mark.parametrize("inside", [0.85, 0.93])
@pytest.mark.parametrize("front", [0.45, 0.6, 0.75])
def test_front_neckline_is_told_from_the_seam_of_the_back_and_its_label(inside: float, front: float) -> None:
    back = inner_back(flat(plain(inside, front=front)), LEFT, RIGHT, TORSO)
    assert depth_of(back) == pytest.approx(front, abs=0.05)


def test_nothing_of_the_label_remains() -> None:
    cloth = flat(plain(0.88))
    shown = without_inner_back(cloth, inner_back(cloth, LEFT, RIGHT, TORSO))
    assert (shown.alpha[(cloth.colour > 0.8).all(axis=2)] > 0.1).sum() == 0
    assert shown.alpha[int(TOP + 0.7 * WIDTH), int(AXIS)] == pytest.approx(1.0)


def test_band_is_found_among_stripes() -> None:
    rows = np.arange(SIDE)[:, None]
    stripes = np.where((rows // 12) % 2 == 0, 0.92, 0.1) * np.ones((1, SIDE))
    band = (rows > hung(0.62)[None]) & (rows < hung(0.72, half=WIDTH / 2 + 14)[None])
    colour = np.where(band[..., None], (0.9, 0.75, 0.2), stripes[..., None])
    assert depth_of(inner_back(flat(colour), LEFT, RIGHT, TORSO)) == pytest.approx(0.62, abs=0.06)


def test_cloth_without_an_edge_has_no_inside() -> None:
    colour = np.broadcast_to(np.array([0.2, 0.3, 0.5]), (SIDE, SIDE, 3))
    assert not inner_back(flat(colour), LEFT, RIGHT, TORSO).any()


def test_open_neckline_shows_no_back() -> None:
    cloth = flat(plain(0.85))
    cloth.alpha[: int(TOP + 0.4 * WIDTH), int(AXIS - 60) : int(AXIS + 60)] = 0
    assert not inner_back(cloth, LEFT, RIGHT, TORSO).any()


def test_leaves_of_a_collar_stay_and_a_turtleneck_too() -> None:
    rows = np.arange(SIDE)[:, None]
    v = rows < hung(0.62, across=1.2, downwards=1.2)[None]
    shirt = np.where(v[..., None], (0.45, 0.1, 0.3), (0.8, 0.5, 0.6))
    back = inner_back(flat(shirt), LEFT, RIGHT, TORSO, collar=30.0)
    assert depth_of(back) == pytest.approx(0.62, abs=0.06)
    leaf = (int(TOP + 0.45 * WIDTH), int(AXIS + 0.38 * WIDTH))
    assert not back[leaf]
    turtleneck = np.broadcast_to(np.array([0.2, 0.3, 0.5]), (SIDE, SIDE, 3))
    assert not inner_back(flat(turtleneck), LEFT, RIGHT, TORSO, collar=30.0).any()


def test_scraps_of_the_back_beside_the_neckband_go_too() -> None:
    cloth = flat(plain(0.85, label=False))
    scrap = (slice(int(TOP) - 12, int(TOP) + 4), slice(int(RIGHT[0]) - 2, int(RIGHT[0]) + 3))
    cloth.alpha[scrap] = 1.0
    assert inner_back(cloth, LEFT, RIGHT, TORSO)[scrap].mean() > 0.6


def test_a_neckband_of_another_colour_stays_on_the_garment() -> None:
    cloth = cut_out(draw_sample("striped_sweater"))
    navy = (cloth.colour[..., 2] > cloth.colour[..., 0] + 0.1) & (cloth.alpha > 0.9)
    marks = find_upper_landmarks(cloth)
    middle = np.s_[: int(marks.armpits.row * 0.6), int(marks.axis) - 20 : int(marks.axis) + 20]
    left = without_inner_back(cloth, marks.back).alpha > 0.9
    rows = np.flatnonzero((navy & left)[middle].any(axis=1))
    assert len(rows) > 15, "the front of the band"
    assert marks.back.sum() > 500, "the inside of the back is found all the same"


@pytest.mark.parametrize("off", [(3.0, 2.0), (-3.0, 2.0), (2.0, -2.0)])
def test_neck_points_a_little_off_still_find_the_neckline(off: tuple[float, float]) -> None:
    stripes = plain(0.65, front=0.6)
    stripes[(np.arange(SIDE) // 12) % 2 == 0] *= 0.85
    back = inner_back(flat(stripes), LEFT + off, RIGHT + off, TORSO)
    assert depth_of(back) == pytest.approx(0.6, abs=0.08)


def test_the_cut_runs_as_evenly_as_the_neckline() -> None:
    curve = hung(0.6)
    back = (np.arange(SIDE)[:, None] < curve[None]) & (np.abs(np.arange(SIDE) - AXIS) < WIDTH / 2)[None]
    cloth = flat(plain(0.85))
    cloth.alpha[:] = 1.0
    columns = slice(int(AXIS - 0.4 * WIDTH), int(AXIS + 0.4 * WIDTH))
    # How much of each column is taken off, in pixels and parts of them, beyond what should be.
    beyond = (1 - without_inner_back(cloth, back).alpha[:, columns]).sum(axis=0) - curve[columns]
    assert np.abs(np.diff(beyond)).max() < 0.25
    assert abs(beyond[len(beyond) // 2]) < 2.5
