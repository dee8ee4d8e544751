"""Slivers of the old garment that the labels give to something else."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.channels import brightness, largest_channel
from engines.filling import fill_from
from engines.garment.regions import closed, dilated, eroded, largest, opened, reaching, window_of
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

HEM_ROWS = 0.5
"""Height of the part of the old garment above the other one that tells what hangs together, in shoulder widths."""

NECK = 0.02
"""Half width of the bridge by which a piece may hang together with a garment that it is no part of, in shoulder
widths."""

CRUMB_OF_OTHER, LARGEST_PIECE, MORE_CONTACT = 0.0003, 0.02, 1.5
"""Areas between which such a piece is asked about, in squared shoulder widths, and how much more of its edge the other
garment has than the garment that it is called."""

CUFF = 0.32
"""How far below the trousers their rolled cuffs and the ankles may be called shoes, in shoulder widths."""

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

LEAST_ANKLE = 0.09
"""Width of the narrowest ankle, in shoulder widths."""

NEAR_SHOES = 0.6
"""How far around the shoes the trousers are looked at, in shoulder widths."""

INNER = 0.07
"""Depth within trousers from which they are surely none of the shoe, in shoulder widths."""

SHOE_COLOURS, SHOE_PIXELS = 6, 1500
"""Into how many colours the shoes are gathered, and from how many of their pixels."""

FOLD = 0.04
"""Size of the dark folds and light edges of a cuff, in shoulder widths."""

CRUMB = 0.02
"""Regions smaller than this share of the largest one are no trouser leg."""

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
    from_cloth = _distance(photo, fill_from(photo, cloth, REDUCED))
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
        from_own = _distance(photo, fill_from(photo, sure, REDUCED))
        stray |= questioned & (from_cloth < LIKE_CLOTH) & (from_cloth < CLEARLY_CLOSER * from_own)
    kernel = np.ones((3, 3), np.uint8)
    whole = cv2.morphologyEx(stray.astype(np.uint8), cv2.MORPH_OPEN, kernel)
    grown = np.asarray(cv2.dilate(whole, np.ones((5, 5), np.uint8)) > 0) & band
    grown &= labelled_as(labels, [label for suspect in SUSPECTS for label in suspect])
    return reaching(grown, from_old <= TOUCHING, connectivity=8)


def pieces_of_other(old: NDArray[np.bool_], other: NDArray[np.bool_], unit: float) -> NDArray[np.bool_]:
    """Small pieces of the old garment's label within the edge of the other garment: patches of its waistband.

    Args:
        old: ``(height, width)``, the old garment as labelled.
        other: ``(height, width)``, the garment that stays.
        unit: Shoulder width in pixels.
    """
    pieces = np.zeros(old.shape, bool)
    if not other.any() or not old.any():
        return pieces
    neck = max(2, round(NECK * unit))
    # Only the rows around the hem matter; what lies above them belongs to the garment.
    rows, hem = window_of(old)[0], window_of(other)[0]
    above = max(rows.start, hem.start - round(HEM_ROWS * unit))
    window = (slice(above, min(rows.stop, hem.stop)), window_of(old)[1])
    cloth, staying = old[window], other[window]
    if not cloth.any():
        return pieces
    main = dilated(largest(eroded(cloth, neck)), neck + 1) & cloth
    numbered, count = ndimage.label(cloth & ~main)
    for number in range(1, count + 1):
        piece = np.asarray(numbered == number)
        if not CRUMB_OF_OTHER * unit * unit < piece.sum() < LARGEST_PIECE * unit * unit:
            continue
        around = dilated(piece, 2)
        if (around & staying).sum() > MORE_CONTACT * (around & main).sum():
            pieces[window] |= piece
    return pieces


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
    # What lies farther away from a shoe than an ankle is long says nothing about it.
    window = window_of(feet, round(2.0 * LONGEST_ANKLE * unit) + SEAM)
    found = np.zeros(old.shape, bool)
    found[window] = _ankles(photo[window], feet[window], old[window], np.median(photo[skin], axis=0), unit)
    return found


def _ankles(
    photo: NDArray[np.float32],
    feet: NDArray[np.bool_],
    old: NDArray[np.bool_],
    usual: NDArray[np.float32],
    unit: float,
) -> NDArray[np.bool_]:
    """`bare_ankles` around the shoes, ``(h, w)``; ``usual`` is the colour of the person's skin."""
    smooth = np.asarray(cv2.GaussianBlur(photo, (0, 0), 1.0), np.float32)
    tone = brightness(smooth) / max(float(usual.mean()), 1e-3)
    hue = largest_channel(np.abs(smooth / np.maximum(tone, 1e-3)[..., None] - usual))
    warm = (smooth[..., 0] - smooth[..., 2]) > ANKLE_WARMTH * (usual[0] - usual[2]) * tone
    alike = feet & (tone > ANKLE_TONES[0]) & (tone < ANKLE_TONES[1]) & (hue < ANKLE_HUE) & warm
    # Labels and eyelets of a shoe that happen to have the colour of skin are smaller than an ankle.
    alike = np.asarray(ndimage.binary_propagation(opened(alike, SPECK), mask=opened(alike, 1)))
    numbered, count = ndimage.label(alike)
    if count == 0:
        return np.zeros(old.shape, bool)
    distance = cv2.distanceTransform((~old).astype(np.uint8), cv2.DIST_L2, 5)
    index = np.arange(1, count + 1)
    begins, ends = (np.asarray(of(distance, numbered, index)) for of in (ndimage.minimum, ndimage.maximum))
    # What goes on further down is a shoe of the colour of skin.
    ankles = np.isin(numbered, index[(begins < 2 * SEAM) & (ends < LONGEST_ANKLE * unit)])
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


def shoes_told_from_trousers(photo: NDArray[np.float32], labels: NDArray[np.uint8], unit: float) -> NDArray[np.uint8]:
    """Labels in which cuffs that were called shoes are trousers, and the other way round.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        unit: Shoulder width in pixels.
    """
    feet, trousers = np.asarray(labels == Label.FEET), largest(np.asarray(labels == Label.LOWER), CRUMB)
    if not feet.any() or not trousers.any():
        return labels
    # The trousers' colour is that near to the shoes.
    window = window_of(feet, round(NEAR_SHOES * unit))
    told = labels.copy()
    told[window] = _told_apart(photo[window], labels[window], feet[window], trousers[window], unit)
    return told


def _told_apart(
    photo: NDArray[np.float32],
    labels: NDArray[np.uint8],
    feet: NDArray[np.bool_],
    trousers: NDArray[np.bool_],
    unit: float,
) -> NDArray[np.uint8]:
    """`shoes_told_from_trousers` around the shoes, ``(h, w)``."""
    near = dilated(trousers, max(3, round(CUFF * unit)))
    cloth, sure = eroded(trousers, max(2, round(INNER * unit))), eroded(feet & ~near, 1)
    if not sure.any() or not cloth.any():
        return labels
    from_cloth, from_shoe = (_distance(photo, fill_from(photo, known, REDUCED)) for known in (cloth, sure))
    like_shoe = (from_cloth > 1.5 * LIKE_CLOTH) & (from_shoe < CLEARLY_CLOSER * from_cloth)
    beside = (labels == Label.LOWER) & dilated(feet, max(2, round(INNER * unit)))
    coloured = _of_shoe(photo, sure, beside & (from_cloth > 1.5 * LIKE_CLOTH), from_cloth)
    shoes = opened(beside & like_shoe, 1) | opened(beside & (like_shoe | coloured), 2)
    # Black laces and soles between what is shoe are shoe.
    shoes |= closed(shoes | feet, max(2, round(FOLD * unit))) & beside & dilated(shoes, max(2, round(FOLD * unit)))
    trousers &= ~shoes
    like_cloth = (from_cloth < LIKE_CLOTH) & (from_cloth < CLEARLY_CLOSER * from_shoe)
    alike = opened(feet & near & like_cloth, 2)
    cuffs = np.asarray(ndimage.binary_propagation(alike & dilated(trousers, SEAM), mask=alike))
    fold = max(2, round(FOLD * unit))
    dark_folds = dilated(cuffs, fold) & (from_cloth < 2.0 * LIKE_CLOTH) & (from_cloth < from_shoe)
    cuffs = closed(dilated(cuffs | (dark_folds & feet), 2), fold) & feet
    shoes &= np.asarray(ndimage.binary_propagation(sure, mask=shoes | (feet & ~cuffs)))
    told = np.where(shoes, np.uint8(Label.FEET), labels)
    return np.asarray(np.where(cuffs, np.uint8(Label.LOWER), told), np.uint8)


def _of_shoe(
    photo: NDArray[np.float32], sure: NDArray[np.bool_], asked: NDArray[np.bool_], from_cloth: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Which of the pixels asked about have one of the several colours of a shoe, ``(height, width)``."""
    alike = np.zeros(asked.shape, bool)
    pixels = photo[sure]
    if not asked.any() or len(pixels) < SHOE_COLOURS:
        return alike
    pixels = np.ascontiguousarray(pixels[:: max(1, len(pixels) // SHOE_PIXELS)])
    stop = (cv2.TERM_CRITERIA_MAX_ITER, 10, 0.0)
    cv2.setRNGSeed(0)
    _, _, colours = cv2.kmeans(pixels, SHOE_COLOURS, np.empty(0, np.int32), stop, 1, cv2.KMEANS_PP_CENTERS)
    smooth = np.asarray(cv2.GaussianBlur(photo, (0, 0), 0.8), np.float32)[asked]
    nearest = np.min([np.abs(smooth - colour).sum(axis=1) for colour in colours], axis=0) / 3.0
    alike[asked] = (nearest < LIKE_CLOTH) & (nearest < CLEARLY_CLOSER * from_cloth[asked])
    return alike


def _distance(photo: NDArray[np.float32], colour: NDArray[np.float32]) -> NDArray[np.float32]:
    smooth = cv2.GaussianBlur(photo, (0, 0), 0.8)
    return brightness(np.asarray(np.abs(smooth - colour), np.float32))
