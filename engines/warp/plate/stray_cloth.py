"""Slivers of the old garment that the labels give to something else."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.channels import brightness, largest_channel
from engines.filling import fill_from
from engines.garment.regions import dilated, eroded, opened, reaching, spread, window_of
from engines.labels import labelled_as

BAND = 0.09
"""How far from the old garment slivers are looked for, in shoulder widths."""

LIKE_CLOTH = 0.10
"""Largest distance from the garment's colour nearby, per channel on average, in units of full white."""

TOUCHING = 2.5
"""Pixels within which a sliver touches the garment."""

CLEARLY_CLOSER = 0.55
"""A sliver's distance from the garment's colour is at most this share of that from the colour of what it is said
to be."""

REDUCED = 8
"""Factor by which the colours that are compared are worked out smaller."""

SKIN = (Label.FACE, Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.HANDS, Label.LEGS)

LEAST_SKIN = 200
"""Pixels of seen skin from which its colour is known."""

SEAM, SEAM_TONE = 4, 0.7
"""Pixels between trousers and what hangs together with them, and the brightness of the line between a hem and an ankle,
over that of skin."""

SPECK = 2
"""Radius of the smallest thing of the colour of skin below trousers that may be an ankle, pixels."""

LONGEST_ANKLE = 0.23
"""Farthest that an ankle is seen below trousers, in shoulder widths."""

AROUND_FEET = 16
"""Beside the feet so many pixels more than the width of an ankle are looked at with them."""

LEAST_ANKLE, WIDEST_ANKLE = 0.09, 0.32
"""Width of the narrowest and of the widest ankle, in shoulder widths; what is wider is a shoe in the colour of skin."""

ANKLE_TONES, ANKLE_HUE = (0.3, 1.3), 0.12
"""Brightness of an ankle over that of the other skin, and largest difference from its colour at equal brightness."""

ANKLE_WARMTH = 0.5
"""Least red over blue of an ankle, over that of other skin of equal brightness: a white shoe is near to pale skin."""

SUSPECTS = ((Label.BACKGROUND,), (Label.ARMS, Label.TORSO_SKIN, Label.LEGS))
"""Groups of labels among which slivers hide; faces, hair, hands and shoes are left alone."""


def stray_cloth(
    photo: NDArray[np.float32],
    labels: NDArray[np.uint8],
    old: NDArray[np.bool_],
    from_old: NDArray[np.float32],
    unit: float,
) -> NDArray[np.bool_]:
    """Pixels beside the old garment that look like it and not like what their label says.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        old: ``(height, width)``, the old garment as labelled.
        from_old: ``(height, width)`` distance from it, pixels.
        unit: Shoulder width in pixels.
    """
    nothing = np.zeros(old.shape, bool)
    cloth = eroded(old, max(2, round(0.02 * unit)))
    if cloth.sum() < 0.05 * unit * unit:
        return nothing
    band = (from_old <= max(3, round(BAND * unit))) & ~old
    smooth, window = smoothed(photo), window_of(band)
    from_cloth = distance_from(smooth, fill_from(photo, cloth, REDUCED))
    stray = nothing.copy()
    for suspect in SUSPECTS:
        own = labelled_as(labels, suspect)
        if Label.BACKGROUND in suspect:
            sure = own & ~band
        else:
            # Skin between which cloth was overlooked is told apart by not looking like it.
            sure = eroded(own, max(2, round(0.03 * unit))) & (from_cloth > LIKE_CLOTH)
        questioned = own & band
        if not questioned.any() or not sure.any():
            continue
        near = from_cloth[window]
        from_own = distance_from(smooth[window], fill_from(photo, sure, REDUCED)[window])
        stray[window] |= questioned[window] & (near < LIKE_CLOTH) & (near < CLEARLY_CLOSER * from_own)
    kernel = np.ones((3, 3), np.uint8)
    whole = cv2.morphologyEx(stray.astype(np.uint8), cv2.MORPH_OPEN, kernel)
    grown = np.asarray(cv2.dilate(whole, np.ones((5, 5), np.uint8)) > 0) & band
    grown &= labelled_as(labels, [label for suspect in SUSPECTS for label in suspect])
    return reaching(grown, from_old <= TOUCHING, connectivity=8)


def bare_ankles(
    photo: NDArray[np.float32], labels: NDArray[np.uint8], old: NDArray[np.bool_], unit: float
) -> NDArray[np.bool_]:
    """``(height, width)``: skin in the shadow of the old hem that the labels call shoes, with the line between them.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        old: ``(height, width)``, the old garment as labelled.
        unit: Shoulder width in pixels.
    """
    skin = eroded(labelled_as(labels, SKIN), 3)
    feet = np.asarray(labels == Label.FEET)
    if skin.sum() < LEAST_SKIN or not feet.any():
        return np.zeros(old.shape, bool)
    found = np.zeros(old.shape, bool)
    distance = np.asarray(cv2.distanceTransform((~old).astype(np.uint8), cv2.DIST_L2, 5), np.float32)
    window = window_of(feet, AROUND_FEET + round(LEAST_ANKLE * unit))
    found[window] = _ankles_in(photo[window], feet[window], distance[window], np.median(photo[skin], axis=0), unit)
    return found


def _ankles_in(
    photo: NDArray[np.float32],
    feet: NDArray[np.bool_],
    distance: NDArray[np.float32],
    usual: NDArray[np.float32],
    unit: float,
) -> NDArray[np.bool_]:
    """The same in a window around the feet, from the distance to the old garment and the usual colour of skin."""
    old = distance == 0
    smooth = np.asarray(cv2.GaussianBlur(photo, (0, 0), 1.0), np.float32)
    tone = brightness(smooth) / max(float(usual.mean()), 1e-3)
    hue = largest_channel(np.abs(smooth / np.maximum(tone, 1e-3)[..., None] - usual))
    warm = (smooth[..., 0] - smooth[..., 2]) > ANKLE_WARMTH * (usual[0] - usual[2]) * tone
    alike = feet & (tone > ANKLE_TONES[0]) & (tone < ANKLE_TONES[1]) & (hue < ANKLE_HUE) & warm
    # Labels and eyelets of a shoe that happen to have the colour of skin are smaller than an ankle.
    alike = spread(opened(alike, SPECK), opened(alike, 1))
    numbered, count = ndimage.label(alike)
    if count == 0:
        return np.zeros(old.shape, bool)
    index = np.arange(1, count + 1)
    # Of the few pixels asked about alone: the extremes of regions are found by sorting.
    below, regions = distance[alike], numbered[alike]
    begins, ends = (np.asarray(of(below, regions, index)) for of in (ndimage.minimum, ndimage.maximum))
    # What goes on further down is a shoe of the colour of skin.
    widths = np.array([place[1].stop - place[1].start for place in ndimage.find_objects(numbered)])
    narrow = widths < WIDEST_ANKLE * unit
    ankles = np.isin(numbered, index[(begins < 2 * SEAM) & (ends < LONGEST_ANKLE * unit) & narrow])
    # The edge of a shoe beside the ankle is lighter than the line under a hem.
    dark = feet & (tone < SEAM_TONE)
    # What is dark and broader than that line is a tongue, or a whole dark shoe.
    seam = dark & ~opened(dark, SEAM) & dilated(old, 2 * SEAM) & _not_below(ankles, 2 * SEAM)
    found = (dilated(ankles, 1) & feet) | seam
    # An ankle ends in one line: what leads down from it into the shoe is a label on its tongue, or its lining.
    row = np.ones((1, max(3, round(LEAST_ANKLE * unit))), np.uint8)
    whole = cv2.morphologyEx((found | dilated(old, SEAM)).astype(np.uint8), cv2.MORPH_OPEN, row) > 0
    return np.asarray(found & whole, bool)


def _not_below(region: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """What lies within some pixels above or beside a region, the region itself included."""
    upwards = np.ones((reach + 1, 2 * reach + 1), np.uint8)
    return np.asarray(cv2.dilate(region.astype(np.uint8), upwards, anchor=(reach, 0)) > 0)


def smoothed(photo: NDArray[np.float32]) -> NDArray[np.float32]:
    """The photo without the finest of its grain."""
    return np.asarray(cv2.GaussianBlur(photo, (0, 0), 0.8), np.float32)


def distance_from(smooth: NDArray[np.float32], colour: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(height, width)`` how far a smoothed photo's colours are from others, per channel on average."""
    return brightness(np.asarray(np.abs(smooth - colour), np.float32))
