"""The light on a new garment: it only ever multiplies, and never changes a hue.

The broad light of the photo, the roundness of the body, and the light and the folds that the old cloth shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, PersonMap
from engines.channels import brightness, largest_channel
from engines.regions import BoolMask, dilated, eroded, labelled_as, window_of
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.ribbon import Piece

EDGE_FALLOFF, WHITE_LOSES_LESS = 0.20, 0.06
"""How much darker dark cloth is at the edge of a body part than on its axis, and by how much less white cloth is."""

MOST_TILT, SURE, AWAY_SIDE = 0.10, 0.7, 0.9
"""Bound of half the difference between left and right that is read off the photo, share of what is read that is
believed, and how much stronger than the average the edge that faces away from the light is darkened at that bound: the
edge that faces a lamp at the side is as light as the front."""

DROP = 0.05
"""How much darker cloth gets over a torso length downwards."""

STRIDE, LEAST_PIXELS = 4, 75
"""Broad light is measured at every so many pixels, and from so many of those on either side."""

SIDE = (0.15, 0.5)
"""Where both sides of a person are compared, in shoulder widths beside the axis."""

BLACK, READABLE, PRINT = 0.08, 0.30, 0.30
"""Brightness of a surface up to which its light is nothing but noise, from which it is believed, and half the relative
difference of both sides from which it is print and no light."""

SHADE_SEEN = 0.85
"""Share of the old cloth's broad light that is taken over: the new cloth is of another form."""

WORN_AS = ((Label.UPPER, "torso"), (Label.FULL, "torso"), (Label.LOWER, "leg"))
"""Old garments, and the pieces of new ones that hang on the body as they did: trousers fold otherwise than a skirt."""

LIGHTNESS = (0.0, 0.12, 0.30, 0.55, 0.80, 1.0)
VALLEYS, FLANKS = (1.6, 1.5, 1.2, 0.95, 0.7, 0.5), (2.0, 1.8, 1.3, 0.8, 0.3, 0.1)
"""Brightness of cloth, and how much of the valleys and of the lit flanks of the old cloth's folds is seen in it: dark
cloth shines, white cloth lights its valleys, and what is lit in it is white and no more."""

DARKEST, BRIGHTEST, BRIGHTEST_BLACK, SHINES_BELOW = 0.56, 1.10, 1.5, 0.35
"""Bounds of the whole factor, of which black cloth may shine more, and brightness of cloth below which the upper one
rises."""

FOLD, BROAD = 0.03, 0.12
"""How wide folds of cloth are, and light that is wider than those, in shoulder widths (standard deviation)."""

FOLD_BOUNDS, SHADE_BOUNDS = (0.80, 1.12), (0.72, 1.10)
"""Bounds of what is taken over from both."""

PRINT_CONTRAST, DEEP_SHADE, OTHER_HUE, PRINT_EDGE = 16.0, 27.0, 10.0, 2
"""Difference from the old cloth's usual lightness, upwards and downwards, and from its usual hue, from which it is a
button or a print and not a fold, CIE L and a or b; and the soft edge of a print, pixels of the smaller copy."""

LEAST_PLAIN, SURELY_PLAIN = 0.6, 0.85
"""Share of old cloth without print from which the rest is believed, and from which it is for certain."""

FOLDS_FADE, SHADE_FADES, SLIVER = 0.12, 0.26, 0.05
"""Distances from the edge of old cloth over which its folds, and from where the new garment goes beyond it over which
all its light fades in: a hem of shorts must not be seen in trousers. And half the width up to which the new garment is
only a little wider. In shoulder widths."""

OLD_BLACK, OLD_DARK, OLD_USUAL = 8.0, 22.0, 60.0
"""Lightness of old cloth up to which its folds are noise, from which they are believed, and from which they are as deep
as those of other cloth, CIE L: dark cloth shines, and black cloth does so twice as much."""

REDUCTION, LEAST_CORE = 2, 200
"""Folds are measured on a copy this many times smaller, and from so many of its pixels."""

LEAST_DIM, LEAST_DARK, NO_HIGHLIGHT = 0.90, 0.4, 0.7
"""Least factors of a photo without bright areas and of one without any bright spot, and brightness that any photo taken
in good light reaches somewhere."""


@dataclass(frozen=True)
class Light:
    """The light of a photo, before it is applied to a piece.

    Attributes:
        body: Measured from the photo.
        tilt: Half the relative difference between the right and the left of the person in the picture; positive where
            light comes from the right.
        everywhere: ``(h, w)`` factor of the broad light.
        seen: ``(h, w)`` change of light by the old cloth's folds, as the photo shows it.
    """

    body: BodyModel
    tilt: float
    everywhere: NDArray[np.float32]
    seen: NDArray[np.float32]

    def on(self, piece: Piece, *, below_armpit: bool = False) -> NDArray[np.float32]:
        """``(h, w)`` factor for a piece of a garment.

        Args:
            piece: What the light falls on.
            below_armpit: Leave the shoulders alone, where torso and sleeve are one surface.
        """
        colour, sure = piece.colour[::STRIDE, ::STRIDE], piece.alpha[::STRIDE, ::STRIDE] > 0.9
        light = float(colour[sure].mean()) if sure.any() else 0.5
        window = piece.window
        # Cloth turns away from the light towards the edges of a body part, most at the edge away from the light.
        position = np.clip(piece.across[window], -1.0, 1.0)
        away = np.float32(self.tilt / MOST_TILT)
        squared = position * position
        turned = squared * np.abs(position)
        if piece.name == "torso":
            # The front of a torso is flat, as far as it does not lie away from the light.
            turned = squared * squared + (turned - squared * squared) * np.maximum(-np.sign(position) * away, 0.0)
        bend = (EDGE_FALLOFF - WHITE_LOSES_LESS * light) * turned * (1.0 - np.float32(AWAY_SIDE) * away * position)
        if below_armpit:
            bend = bend * ease((self.body.heights[window] - 0.16) / 0.3)
        shaded = self.everywhere[window] * (1.0 - bend)
        if piece.name != "skirt":
            valleys, flanks = (np.float32(np.interp(light, LIGHTNESS, gain)) for gain in (VALLEYS, FLANKS))
            seen = self.seen[window]
            shaded = shaded * (1.0 + seen * np.where(seen < 0.0, valleys, flanks))
        black = float(np.clip(1.0 - light / SHINES_BELOW, 0.0, 1.0))
        factor = np.ones(self.body.shape, np.float32)
        factor[window] = np.clip(shaded, DARKEST, BRIGHTEST + (BRIGHTEST_BLACK - BRIGHTEST) * black)
        return factor


def read_light(
    photo: NDArray[np.float32], old: BoolMask, body: BodyModel, pieces: tuple[Piece, ...] | list[Piece]
) -> Light:
    """Read the light off a photo and the clothes worn in it.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        old: ``(h, w)`` bool, the old garment.
        body: Measured from the photo.
        pieces: The new one.
    """
    tilt, seen, unsaid = _tilt(photo, body), np.zeros(body.shape, np.float32), np.ones(body.shape, np.float32)
    # Every garment that is taken off has a usual brightness of its own.
    for label, kind in WORN_AS:
        worn = old & (body.labels == label)
        covers = [piece.alpha for piece in pieces if piece.name.endswith(kind)]
        if covers and worn.any():
            covers += [piece.alpha for piece in pieces if piece.name.endswith("sleeve")]
            new = np.maximum.reduce(covers) > 0.5
            folds, shade, broadly = folds_of_old_cloth(photo, worn, new, body.shoulder_width)
            seen += folds + SHADE_SEEN * shade
            unsaid -= SHADE_SEEN * broadly
    across = np.float32(tilt) * np.clip(body.laterals / np.float32(0.5), -1.0, 1.0)
    # Floor and walls throw light back on what hangs below: a skirt has the colour of its bodice.
    down = np.float32(DROP) * np.clip(body.heights - np.float32(0.35), -0.35, 0.5)
    everywhere = 1.0 + (across - down) * np.maximum(unsaid, 0.0)
    return Light(body, tilt, np.asarray(everywhere, np.float32), seen)


def _tilt(photo: NDArray[np.float32], body: BodyModel) -> float:
    """Compare the right side of the person's clothes, and of their skin, with the left one.

    What turns away from a lamp in front does so on both sides alike; what differs is where the lamp stands.
    """
    bright = brightness(np.ascontiguousarray(photo[::STRIDE, ::STRIDE]))
    laterals, labels = body.laterals[::STRIDE, ::STRIDE], body.labels[::STRIDE, ::STRIDE]
    torso = (body.heights[::STRIDE, ::STRIDE] > 0.25) & (body.heights[::STRIDE, ::STRIDE] < 0.95)
    cues = (
        (torso & labelled_as(labels, (Label.UPPER, Label.FULL)), SIDE),
        (labelled_as(labels, (Label.FACE, Label.ARMS)), (0.03, 1.0)),
    )
    sums, weights = 0.0, 0.0
    for surface, (nearest, farthest) in cues:
        halves = {side: bright[surface & (side * laterals > nearest) & (side * laterals < farthest)] for side in SIDES}
        if min(len(half) for half in halves.values()) < LEAST_PIXELS:
            continue
        left, right = (float(np.median(halves[side])) for side in (LEFT, RIGHT))
        tilt = (right - left) / max(right + left, 1e-3)
        if abs(tilt) < PRINT:
            weight = float(np.clip(((left + right) / 2 - BLACK) / (READABLE - BLACK), 0.0, 1.0))
            sums, weights = sums + weight * tilt, weights + weight
    return float(np.clip(SURE * sums / max(weights, 1.0), -MOST_TILT, MOST_TILT))


def folds_of_old_cloth(
    photo: NDArray[np.float32], old: BoolMask, new: BoolMask, unit: float
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Light and folds of the cloth worn in the photo.

    Lightness at the scale of folds over lightness at the scale of the torso. Printed cloth would leave its print, so
    more is taken over from plainer cloth; on black cloth folds cannot be told from noise.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        old: ``(h, w)`` bool, the old garment.
        new: ``(h, w)`` bool, the new one.
        unit: Shoulder width in pixels.

    Returns:
        ``(h, w)`` float32 each: share of the light that folds add or take, around 0; the same of light that is wider
        than a fold; and how far that is believed, 0 to 1.
    """
    planes = np.zeros((3, *old.shape), np.float32)
    window = window_of(old, round(SHADE_FADES * unit))
    if old[window].size:
        shape, small_unit = old[window].shape, unit / REDUCTION
        size = (max(1, shape[1] // REDUCTION), max(1, shape[0] // REDUCTION))
        worn, beyond = (
            cv2.resize(mask[window].astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
            for mask in (old, new & ~old)
        )
        small = cv2.resize(np.ascontiguousarray(photo[window]), size, interpolation=cv2.INTER_AREA)
        core = eroded(worn, max(2, round(0.04 * small_unit)))
        if core.sum() >= LEAST_CORE:
            read = _read(np.asarray(small, np.float32), core, beyond, small_unit)
            whole = cv2.resize(read, shape[::-1], interpolation=cv2.INTER_LINEAR)
            planes[:, *window] = np.moveaxis(np.asarray(whole, np.float32), 2, 0)
    return planes[0], planes[1], planes[2]


def _read(photo: NDArray[np.float32], core: BoolMask, beyond: BoolMask, unit: float) -> NDArray[np.float32]:
    """``(h, w, 3)``: what `folds_of_old_cloth` gives back, of the smaller copy."""
    lab = np.asarray(cv2.cvtColor(photo, cv2.COLOR_RGB2LAB), np.float32)
    lightness = lab[..., 0] + 1.0
    usual = float(np.median(lightness[core]))
    # Shade reduces the colour as much as the light.
    hues = lab[..., 1:] * (usual / np.maximum(lightness, 0.3 * usual))[..., None]
    off = np.abs(hues - np.median(hues[core], axis=0)).max(axis=2)
    printed = (lightness < usual - DEEP_SHADE) | (lightness > usual + PRINT_CONTRAST) | (off > OTHER_HUE)
    plain = core & ~dilated(core & printed, PRINT_EDGE)
    share = float(plain.sum() / core.sum())
    if share <= LEAST_PLAIN or usual <= OLD_BLACK:
        return np.zeros_like(photo)
    broad, broadly_known = _averaged(lightness, plain, BROAD * unit)
    wide, known = _averaged(lightness, plain, FOLD * unit)
    # If it were cut off at a print, a deep fold would end in a line.
    level = broad + (wide - broad) * ease((known - 0.3) / 0.7)
    believed = min((share - LEAST_PLAIN) / (SURELY_PLAIN - LEAST_PLAIN), 1.0)
    # Print shows as differences of colour and fine contrast.
    believed *= float(np.clip(1.6 - np.std(hues[plain], axis=0).sum() / 9.0, 0.0, 1.0))
    believed *= float(np.clip(1.7 - np.std((lightness / (level + 1e-3))[plain]) / 0.08, 0.0, 1.0))
    believed *= min((usual - OLD_BLACK) / (OLD_DARK - OLD_BLACK), 1.0)
    # The new garment may be a little wider than the old one, and not much longer.
    sliver = max(1, round(SLIVER * unit))
    beyond = dilated(eroded(beyond, sliver), sliver)
    away = np.asarray(cv2.distanceTransform((~beyond).astype(np.uint8), cv2.DIST_L2, 5), np.float32)
    ends = ease(away / (SHADE_FADES * unit))
    sure = ends * np.float32(believed)
    depth = cv2.distanceTransform(core.astype(np.uint8), cv2.DIST_L2, 5)
    deep = ease(np.asarray(depth, np.float32) / (FOLDS_FADE * unit))
    shine = 0.5 + 0.5 * min((usual - OLD_BLACK) / (OLD_USUAL - OLD_BLACK), 1.0)
    folds = (np.clip(1.0 + shine * (level / (broad + 1e-3) - 1.0), *FOLD_BOUNDS) - 1.0) * deep * sure
    broadly = sure * ease(3.0 * broadly_known)
    shade = (np.clip(broad / usual, *SHADE_BOUNDS) - 1.0) * broadly
    return np.dstack([folds, shade, broadly]).astype(np.float32)


def _averaged(
    values: NDArray[np.float32], known: BoolMask, sigma: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """``(h, w)`` mean of the known surroundings, and the share of them that is known; on a smaller copy if wide."""
    reduced = max(1, int(sigma / 3.0))
    size = (max(1, values.shape[1] // reduced), max(1, values.shape[0] // reduced))
    both = np.dstack([values * known, known.astype(np.float32)])
    blurred = cv2.GaussianBlur(cv2.resize(both, size, interpolation=cv2.INTER_AREA), (0, 0), sigma / reduced)
    total, share = cv2.split(cv2.resize(blurred, values.shape[::-1], interpolation=cv2.INTER_LINEAR))
    return np.asarray(total / (share + np.float32(1e-3)), np.float32), np.asarray(share, np.float32)


def exposure(photo: NDArray[np.float32], person_map: PersonMap) -> float:
    """Factor that keeps cloth from being brighter than the brightest parts of a dim photo.

    A person in black does not make a photo dim, so the background counts as well. If nothing is bright, not even eyes
    or a highlight, the photo was taken in the dark.
    """
    bright = largest_channel(np.ascontiguousarray(photo[::2, ::2]))
    person = person_map.matte[::2, ::2] > 127
    places = [bright[place] for place in (person, ~person) if place.any()]
    dim = np.clip(max(np.percentile(place, 97) for place in places) / 0.96, LEAST_DIM, 1.0)
    dark = np.clip(np.percentile(bright, 99.8) / NO_HIGHLIGHT, LEAST_DARK, 1.0)
    return float(dim * dark)
