"""Light on the new cloth: it only ever multiplies, and never changes a hue."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import PersonMap
from engines.channels import largest_channel
from engines.garment.regions import BoolMask, dilated, eroded, window_of
from engines.warp.body.silhouette import ease

DARKEST, BRIGHTEST, BRIGHTEST_BLACK = 0.56, 1.10, 1.5
"""Bounds of the whole shading factor, of which black cloth may shine more."""

SHINES_BELOW = 0.35
"""Brightness of cloth below which it shines, and its bound rises."""

FOLD_DARKEST, FOLD_BRIGHTEST = 0.80, 1.12
"""Bounds of what is taken over from the old cloth."""

PRINT_CONTRAST = 16.0
"""Difference from the old cloth's usual lightness from which it is a button or a print, not a fold, CIE L."""

FOLDS_FADE, SHADE_FADES = 0.12, 0.26
"""Distances from the edge of old cloth over which its folds and its broad light fade in, in shoulder widths: a hem of
shorts must not be seen in trousers."""

MARGIN = 0.3
"""Width of what is looked at around old cloth, in shoulder widths."""

LEAST_CORE = 200
"""Pixels of the smaller copy below which old cloth says nothing."""

SLIVER = 0.05
"""Half width up to which the new garment is only a little wider than the old one, in shoulder widths."""

DEEP_SHADE = 27.0
"""The same downwards: under a raised thigh cloth is darker than a print in one colour ever is."""

OTHER_HUE = 10.0
"""Difference in CIE a or b, in usual light, from which it is print."""

PRINT_EDGE = 2
"""Soft edge of a print, pixels of the smaller copy."""

LEAST_PLAIN = 0.6
"""Share of old cloth that has to be without print for the rest to be believed."""

SHADE_DARKEST, SHADE_BRIGHTEST, BROAD = 0.72, 1.10, 0.12
"""Bounds of old cloth's light that is wider than folds, and how wide that is, in shoulder widths."""

FOLD, SURE_FROM = 0.03, 0.3
"""How wide folds are, in shoulder widths, and share of the cloth around a place that has to be without print for them
to begin to be believed there: cut off at once, a deep fold would end in a line."""

REDUCTION = 2
"""Folds are measured on a copy this many times smaller."""

SMALLEST_SIGMA = 3.0
"""Standard deviation in pixels that the surroundings of a place still have on the copy on which they are averaged."""

BLACK, DARK = 8.0, 22.0
"""Lightness of old cloth up to which its folds are noise, and from which they are believed, CIE L."""

OLD_LIGHTNESS, FOLDS_SHOWN = (10.0, 20.0, 35.0, 60.0, 85.0, 100.0), (0.45, 0.6, 0.8, 1.0, 1.1, 1.5)
"""Lightness of old cloth, CIE L, and by what its folds are multiplied to be those of cloth that is neither light nor
dark: dark cloth shines, and white cloth lights its own valleys."""

LEAST_DIM, LEAST_DARK = 0.90, 0.4
"""Least factors of a photo without bright areas, and of one without any bright spot."""

NO_HIGHLIGHT = 0.7
"""Brightness that any photo taken in good light reaches somewhere."""


@dataclass(frozen=True)
class OldFolds:
    """Light and folds that the photo shows.

    Attributes:
        change: ``(h, w)`` float32 share of the light that folds add or take, around 0.
        shade: ``(h, w)`` float32, the same of light that is wider than a fold, around 0.
        broadly: ``(h, w)`` float32, 0 to 1, how far that is believed.
    """

    change: NDArray[np.float32]
    shade: NDArray[np.float32]
    broadly: NDArray[np.float32]


def folds_of_old_cloth(photo: NDArray[np.float32], old: BoolMask, new: BoolMask, unit: float) -> OldFolds:
    """Light and folds of the cloth worn in the photo.

    Lightness at the scale of folds over lightness at the scale of the torso. Printed cloth would leave its print
    behind, so the plainer the old cloth, the more is taken over; on black cloth folds cannot be told from noise.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        old: ``(h, w)`` bool, the old garment.
        new: ``(h, w)`` bool, the new one.
        unit: Shoulder width in pixels.
    """
    window = window_of(old, round(MARGIN * unit))
    planes = np.zeros((3, *old.shape), dtype=np.float32)
    if not old[window].size:
        return OldFolds(*planes)
    planes[:, *window] = _read(np.ascontiguousarray(photo[window]), old[window], new[window], unit)
    return OldFolds(*planes)


def _read(photo: NDArray[np.float32], old: BoolMask, new: BoolMask, unit: float) -> NDArray[np.float32]:
    """``(3, h, w)`` of what `OldFolds` has of a window of the photo."""
    half = tuple(max(1, side // REDUCTION) for side in old.shape[::-1])
    unit = unit / REDUCTION
    core = cv2.resize(old.astype(np.uint8), half, interpolation=cv2.INTER_NEAREST) > 0
    core = eroded(core, max(2, round(0.04 * unit)))
    if core.sum() < LEAST_CORE:
        return np.zeros((3, *old.shape), dtype=np.float32)
    small = np.asarray(cv2.resize(photo, half, interpolation=cv2.INTER_AREA), dtype=np.float32)
    lab = np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2LAB), dtype=np.float32)
    lightness = lab[..., 0] + 1.0
    usual = float(np.median(lightness[core]))
    hues = _hues(lab, usual)
    colour = np.median(hues[core], axis=0)
    off = _apart(hues, colour)
    plain = _not_print(core, lightness, off, usual) > 0
    # White and yellow cloth has another hue in its folds: what is usual as it is, or in usual light, is no print.
    weight = _not_print(core, lightness, np.minimum(off, _apart(lab[..., 1:], colour)), usual)

    broad, broadly_known = _averaged(lightness, weight, BROAD * unit)
    wide, known = _averaged(lightness, weight, FOLD * unit)
    measured = ease((known - SURE_FROM) / (1 - SURE_FROM))
    folds = broad + (wide - broad) * measured
    plainness = np.float32(np.clip((usual - BLACK) / (DARK - BLACK), 0, 1))
    contrast = np.asarray(lightness / (folds + np.float32(1e-3)), dtype=np.float32)
    plainness *= np.float32(_plainness(contrast, hues, core, plain))
    depth = cv2.distanceTransform(core.astype(np.uint8), cv2.DIST_L2, 5)
    before_ends = _before_ends(old, new, half, unit)
    believed = plainness * ease(np.asarray(depth / (FOLDS_FADE * unit), dtype=np.float32)) * before_ends
    shown = np.float32(np.interp(usual, OLD_LIGHTNESS, FOLDS_SHOWN))
    change = (np.clip(1 + (folds / (broad + 1e-3) - 1) * shown, FOLD_DARKEST, FOLD_BRIGHTEST) - 1) * believed
    broadly = plainness * before_ends * ease(3 * broadly_known)
    shade = (np.clip(broad / usual, SHADE_DARKEST, SHADE_BRIGHTEST) - 1) * broadly
    planes = np.dstack([change, shade, broadly]).astype(np.float32)
    whole = cv2.resize(planes, old.shape[::-1], interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(np.moveaxis(np.asarray(whole, np.float32), 2, 0))


def _averaged(
    values: NDArray[np.float32], weight: NDArray[np.float32], sigma: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """``(h, w)`` weighted mean of the surroundings, and the share of them that has been measured.

    Wide surroundings are averaged on a smaller copy.
    """
    reduced = max(1, int(sigma / SMALLEST_SIGMA))
    size = (max(1, values.shape[1] // reduced), max(1, values.shape[0] // reduced))
    both = np.dstack([values * weight, weight])
    blurred = cv2.GaussianBlur(cv2.resize(both, size, interpolation=cv2.INTER_AREA), (0, 0), sigma / reduced)
    total, share = cv2.split(cv2.resize(blurred, values.shape[::-1], interpolation=cv2.INTER_LINEAR))
    return np.asarray(total / (share + np.float32(1e-3)), dtype=np.float32), np.asarray(share, dtype=np.float32)


def _before_ends(old: BoolMask, new: BoolMask, size: tuple[int, ...], unit: float) -> NDArray[np.float32]:
    """``(h, w)`` 1 where the new garment lies on the old one, falling to 0 where the old one ends before it does."""
    beyond = cv2.resize((new & ~old).astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
    beyond = dilated(eroded(beyond, max(1, round(SLIVER * unit))), max(1, round(SLIVER * unit)))
    away = cv2.distanceTransform((~beyond).astype(np.uint8), cv2.DIST_L2, 5)
    return ease(np.asarray(away / (SHADE_FADES * unit), dtype=np.float32))


def _hues(lab: NDArray[np.float32], usual: float) -> NDArray[np.float32]:
    """``(h, w, 2)`` CIE a and b as they were in usual light: shade takes as much of the colour as of the light."""
    return np.asarray(lab[..., 1:] * (usual / np.maximum(lab[..., :1] + 1, 0.3 * usual)), dtype=np.float32)


def _apart(hues: NDArray[np.float32], usual: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(h, w)`` difference of ``(h, w, 2)`` hues from a usual one, CIE a or b."""
    return np.asarray(np.maximum(np.abs(hues[..., 0] - usual[0]), np.abs(hues[..., 1] - usual[1])), dtype=np.float32)


def _not_print(
    core: BoolMask, lightness: NDArray[np.float32], off: NDArray[np.float32], usual: float
) -> NDArray[np.float32]:
    """``(h, w)`` 1 on old cloth that is neither print nor button nor their soft edges, and 0 elsewhere.

    Args:
        core: ``(h, w)`` bool, old cloth.
        lightness: ``(h, w)`` of it, CIE L.
        off: ``(h, w)`` difference of its hue from the usual one, CIE a or b.
        usual: Its usual lightness.
    """
    printed = (lightness < usual - DEEP_SHADE) | (lightness > usual + PRINT_CONTRAST)
    printed |= off > OTHER_HUE
    return np.asarray(core & ~dilated(core & printed, PRINT_EDGE), dtype=np.float32)


def _plainness(contrast: NDArray[np.float32], hues: NDArray[np.float32], core: BoolMask, plain: BoolMask) -> float:
    """How surely differences in old cloth are light, not noise or what print leaves, 0 to 1.

    Args:
        contrast: ``(h, w)`` lightness over that of its wide folds.
        hues: ``(h, w, 2)`` in usual light.
        core: ``(h, w)`` bool, old cloth.
        plain: ``(h, w)`` bool, where it is neither print nor button.
    """
    share = float(plain.sum() / core.sum())
    if share <= LEAST_PLAIN:
        return 0.0
    fine_contrast = float(np.std(contrast[plain]))
    colours = float(np.std(hues[plain], axis=0).sum())
    believed = np.clip(1.6 - colours / 9, 0, 1) * np.clip(1.7 - fine_contrast / 0.08, 0, 1)
    return float(believed * np.clip((share - LEAST_PLAIN) / 0.25, 0, 1))


def exposure(photo: NDArray[np.float32], person_map: PersonMap) -> float:
    """Factor that keeps cloth from being brighter than the brightest parts of a dim photo.

    A person in black is no dim photo: what is behind them counts as well. Where nothing at all is bright, neither eyes
    nor a highlight, the photo was taken in the dark.
    """
    bright = largest_channel(np.ascontiguousarray(photo[::2, ::2]))
    person = person_map.matte[::2, ::2] > 127
    places = [bright[place] for place in (person, ~person) if place.any()]
    dim = np.clip(max(np.percentile(place, 97) for place in places) / 0.96, LEAST_DIM, 1.0)
    dark = np.clip(np.percentile(bright, 99.8) / NO_HIGHLIGHT, LEAST_DARK, 1.0)
    return float(dim * dark)


def bounded(factor: NDArray[np.float32], unit: float, lightness: float) -> NDArray[np.float32]:
    """A shading factor smoothed a little and held within bounds, upwards by how light the cloth is, 0 to 1."""
    smooth = cv2.GaussianBlur(factor, (0, 0), max(0.5, 0.004 * unit))
    black = float(np.clip(1 - lightness / SHINES_BELOW, 0, 1))
    return np.clip(smooth, DARKEST, BRIGHTEST + (BRIGHTEST_BLACK - BRIGHTEST) * black).astype(np.float32)
