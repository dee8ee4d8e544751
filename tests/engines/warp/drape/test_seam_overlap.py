"""Torso and sleeve overlap at their seam, and make no corner where it meets the outline."""

import numpy as np

from engines.garment.cloth import Cloth
from engines.warp.drape.upper import with_overlap

SEAM, TOP, OVERLAP = 50, 20, 4


def torso_of_a_garment() -> Cloth:
    alpha = np.zeros((100, 100), np.float32)
    alpha[TOP:80, 10:90] = 1
    part = np.zeros(alpha.shape, bool)
    part[TOP:80, 10:SEAM] = True
    cloth = Cloth(np.full((100, 100, 3), 0.5, np.float32), alpha)
    return with_overlap(cloth, part, OVERLAP, (alpha > 0) & ~part)


def test_a_part_goes_on_under_its_neighbour() -> None:
    torso = torso_of_a_garment()
    assert torso.alpha[50, SEAM + OVERLAP - 2] > 0.9
    assert torso.alpha[50, SEAM + 2 * OVERLAP] == 0


def test_nothing_goes_on_beside_the_tip_of_the_shoulder() -> None:
    torso = torso_of_a_garment()
    assert torso.alpha[TOP + 1, SEAM - 3] > 0.9
    assert torso.alpha[TOP + 1, SEAM + 2] < 0.1


def test_its_own_outline_stays() -> None:
    torso = torso_of_a_garment()
    assert torso.alpha[TOP, 20] > 0.98
    assert torso.alpha[50, 10] > 0.98
