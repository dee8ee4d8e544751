"""Slivers of the old garment that the labels give to something else."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import dilated, eroded
from engines.warp.plate.fill import fill_from

BAND = 0.09
"""How far from the old garment slivers are looked for, in shoulder widths."""

LIKE_CLOTH = 0.10
"""Largest distance from the garment's colour nearby, per channel on average, in units of full white."""

CLEARLY_CLOSER = 0.55
"""A sliver's distance from the garment's colour is at most this share of that from the colour of what it is said
to be."""

SUSPECTS = ((Label.BACKGROUND,), (Label.ARMS, Label.HANDS, Label.TORSO_SKIN, Label.LEGS))
"""Groups of labels among which slivers hide; faces, hair and shoes are left alone."""


def stray_cloth(
    photo: NDArray[np.float32], labels: NDArray[np.uint8], old: NDArray[np.bool_], unit: float
) -> NDArray[np.bool_]:
    """Pixels beside the old garment that look like it and not like what their label says.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        old: ``(height, width)``, the old garment as labelled.
        unit: Shoulder width in pixels.
    """
    nothing = np.zeros(old.shape, bool)
    cloth = eroded(old, max(2, round(0.02 * unit)))
    if cloth.sum() < 0.05 * unit * unit:
        return nothing
    band = dilated(old, max(3, round(BAND * unit))) & ~old
    from_cloth = _distance(photo, fill_from(photo, cloth))
    stray = nothing.copy()
    for suspect in SUSPECTS:
        own = np.isin(labels, suspect)
        sure = own & ~band if Label.BACKGROUND in suspect else eroded(own, max(2, round(0.03 * unit)))
        questioned = own & band
        if not questioned.any() or not sure.any():
            continue
        from_own = _distance(photo, fill_from(photo, sure))
        stray |= questioned & (from_cloth < LIKE_CLOTH) & (from_cloth < CLEARLY_CLOSER * from_own)
    kernel = np.ones((3, 3), np.uint8)
    opened = cv2.morphologyEx(stray.astype(np.uint8), cv2.MORPH_OPEN, kernel)
    return np.asarray(cv2.dilate(opened, np.ones((5, 5), np.uint8)) > 0) & band


def _distance(photo: NDArray[np.float32], colour: NDArray[np.float32]) -> NDArray[np.float32]:
    smooth = cv2.GaussianBlur(photo, (0, 0), 0.8)
    return np.asarray(np.abs(smooth - colour).mean(axis=2), dtype=np.float32)
