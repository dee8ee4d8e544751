"""Drawn camisoles: each strap is a loop of two strands, the corner of the front stands at the inner one."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from engines.garment.cloth import Cloth
from engines.garment.strands import without_back_strands

HEIGHT, WIDTH = 700, 600
CLOTH, GROUND = (0.9, 0.8, 0.2), (0.96, 0.96, 0.96)


def camisole(strands: int = 2, front: str = "inner", sliver: bool = False) -> tuple[Cloth, np.ndarray, np.ndarray]:
    """The cut-out, and where its front and its back strands are."""
    drawn = {name: np.zeros((HEIGHT, WIDTH), np.uint8) for name in ("body", "inner", "outer")}
    middle = WIDTH // 2
    for sign in (-1, 1):
        corner, side = 130, 210
        if front == "outer":
            corner = 170
        outline = [(0, 330), (corner, 230), (side, 330), (side, 640), (0, 640)]
        cv2.fillPoly(drawn["body"], [np.array([(middle + sign * x, y) for x, y in outline], np.int32)], 1)
        fold = (middle + sign * 150, 60)
        for name, foot in (("inner", 130), ("outer", 170)):
            if strands == 2 or name == "inner":
                cv2.line(drawn[name], fold, (middle + sign * foot, 240 if name == front else 275), 1, 13)
    mask = (drawn["body"] | drawn["inner"] | drawn["outer"]) > 0
    colour = np.where(mask[..., None], CLOTH, GROUND).astype(np.float32)
    if sliver:
        for sign in (-1, 1):
            x = middle + sign * 141
            colour[120:150, x - 2 : x + 3] = GROUND
    noise = np.random.default_rng(3).normal(0, 0.01, colour.shape)
    alpha = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 0.8)
    cloth = Cloth(np.clip(colour + noise, 0, 1).astype(np.float32), np.asarray(alpha, np.float32))
    back = "outer" if front == "inner" else "inner"
    clear = np.zeros_like(mask)
    clear[140:215] = True
    # Down to where it joins the garment's edge; the gap's own end is rounded.
    to_joint = clear.copy()
    to_joint[215:300] = True
    around = cv2.dilate(drawn[front] | drawn["body"], np.ones((9, 9), np.uint8)) > 0
    only_back = to_joint & (drawn[back] > 0) & ~around
    return cloth, clear & (drawn[front] > 0), only_back


@pytest.mark.parametrize("front", ["inner", "outer"])
def test_the_strand_at_the_corner_of_the_front_is_kept_and_the_other_one_goes(front: str) -> None:
    cloth, kept, gone = camisole(front=front)
    worn = without_back_strands(cloth)
    assert not (worn.alpha[gone] > 0.5).any()
    assert worn.alpha[kept].mean() > 0.85
    assert np.array_equal(worn.alpha[360:], cloth.alpha[360:])


def test_a_single_strand_stays_as_it_is() -> None:
    cloth, _, _ = camisole(strands=1)
    assert np.array_equal(without_back_strands(cloth).alpha, cloth.alpha)


def test_ground_in_a_strap_is_no_cloth() -> None:
    cloth, _, _ = camisole(strands=1, sliver=True)
    worn = without_back_strands(cloth)
    strap = np.zeros(cloth.alpha.shape, bool)
    strap[115:155] = cloth.alpha[115:155] > 0.9
    assert cloth.colour[strap][:, 2].max() > 0.9
    assert worn.colour[strap][:, 2].max() < 0.4


def test_a_garment_without_straps_is_left_alone() -> None:
    mask = np.zeros((HEIGHT, WIDTH), np.float32)
    mask[60:640, 100:500] = 1.0
    cloth = Cloth(np.full((HEIGHT, WIDTH, 3), 0.5, np.float32), mask)
    assert without_back_strands(cloth) is cloth
