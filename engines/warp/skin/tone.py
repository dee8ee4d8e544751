"""The colour of a person's skin: at every place, and how it changes between light and shadow."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import brightness, largest_channel
from engines.filling import reduced
from engines.garment.regions import BoolMask
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel

SKIN_LABELS = (Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.HANDS, Label.LEGS)

BODY_LABELS = (Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.LEGS)
"""Skin as it is on the limbs and the chest; hands and faces are redder."""

REDUCED = 4
"""Factor by which tones are worked out smaller."""

TONES, MOST_HUE = (0.4, 1.5), 0.13
"""Brightness over that of the person's usual skin, and difference from its colour at the same brightness, of what
counts as skin."""

RIM = 0.028
"""Width of the rim of seen skin that is mixed with what is beside it, in shoulder widths."""

TONE_BLUR, USUAL_WEIGHT = 0.25, 0.02
"""Over how far around the tone of skin is averaged, in shoulder widths, and what the usual tone counts beside it."""

LEAST_BODY, LEAST_SKIN = 0.008, 0.02
"""Area of seen skin of the body from which it sets the usual tone alone, and of all skin from which the face is not
asked, in squared shoulder widths."""

USUAL_LIGHT = 60
"""Percentile of seen skin that has the lightness of skin in full light: edges of limbs and shadows are darker."""

SHADOW_PERCENTILE = 30
"""Percentile of the lightness of seen skin below which its shades do not change any more."""

OF_HANDS = 0.5
"""Share of the difference between the colour of hands and that of the body that is taken off hands: the arm that ends
in a hand is a little redder too, and a neck lies in the warm light of the face above it."""

FOOT = 16.0
"""L + 16 is proportional to the cube root of the light, and a and b are."""

LIGHT_EXPONENT = 0.75
"""Power of a factor on sRGB values by which L + 16 changes."""

BIN, LEAST_IN_BIN = 5.0, 12
"""Steps of L in which skin is gathered, and pixels of the reduced picture from which a step is believed."""

FALLBACK = (0.80, 0.64, 0.55)
"""sRGB of skin where none is seen."""


@dataclass(frozen=True)
class SkinTone:
    """Skin in full light, wherever it may come to light, and its shades.

    Attributes:
        lab: ``(h / 4, w / 4, 3)`` CIE Lab.
        shades: ``(256, 2)`` a and b over L + 16, for L in 255 steps from 0 to 100: how this person's skin is
            coloured in light and in shadow.
    """

    lab: NDArray[np.float32]
    shades: NDArray[np.float32]

    def under(self, shade: NDArray[np.float32], window: tuple[slice, slice]) -> NDArray[np.float32]:
        """Skin under brightness factors.

        Args:
            shade: ``(height, width)`` of the whole picture, about 1.
            window: Rows and columns that are wanted.

        Returns:
            sRGB, 0 to 1, of the window.
        """
        height, width = shade.shape
        lab = np.asarray(cv2.resize(self.lab, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)[window]
        light = (lab[..., 0] + FOOT) * cv2.pow(np.maximum(shade[window], 0.0), LIGHT_EXPONENT)
        # Highlights are paler than a brighter light alone makes them, and shadows of dark skin less red.
        before, after = (_steps(values) for values in (lab[..., 0], light - FOOT))
        out = np.empty_like(lab)
        out[..., 0] = light - FOOT
        for channel in (0, 1):
            ratio = lab[..., channel + 1] / (lab[..., 0] + FOOT)
            own = np.ascontiguousarray(self.shades[:, channel])
            out[..., channel + 1] = (ratio + cv2.LUT(after, own) - cv2.LUT(before, own)) * light
        return np.clip(cv2.cvtColor(out, cv2.COLOR_LAB2RGB), 0.0, 1.0).astype(np.float32)


def sure_skin(body: BodyModel) -> BoolMask:
    """``(height, width)``: seen skin without its mixed rim."""
    radius = max(2, round(RIM * body.shoulder_width))
    kernel = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    skin = cv2.erode(labelled_as(body.labels, SKIN_LABELS).astype(np.uint8), kernel) > 0
    return np.asarray(skin & (body.matte > 0.9))


def skin_tone(
    photo: NDArray[np.float32],
    body: BodyModel,
    shade: NDArray[np.float32],
    own_labels: tuple[Label, ...] = BODY_LABELS,
) -> SkinTone:
    """Learn a person's skin from what is seen of it.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        body: The body in the photo.
        shade: ``(height, width)`` brightness factors of the form of the body; they are taken off what is seen, so
            that nothing is shaded twice.
        own_labels: Skin of the parts that are bared and of those beside them; where enough of it is seen, that of
            the rest of the body does not count.
    """
    sure = sure_skin(body)
    least = LEAST_SKIN * body.shoulder_width**2
    face = np.asarray(body.labels == Label.FACE)
    if sure.any() and face.sum() > least:  # a glove is no skin, whatever it is called
        sure[sure] = _like_skin(photo[sure], np.median(photo[face], axis=0))
    colour, weight = reduced(photo, sure if sure.sum() > least else sure | face, REDUCED)
    if not (weight > 0.5).any():
        flat = np.full((*weight.shape, 3), FALLBACK, np.float32)
        return SkinTone(np.asarray(cv2.cvtColor(flat, cv2.COLOR_RGB2LAB), np.float32), np.zeros((256, 2), np.float32))
    size = (weight.shape[1], weight.shape[0])
    even = colour / np.asarray(cv2.resize(shade, size, interpolation=cv2.INTER_AREA))[..., None]
    whole = weight > 0.5
    whole[whole] = _like_skin(even[whole])
    lab, seen = (np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2LAB), np.float32) for picture in (even, colour))
    labels = np.asarray(cv2.resize(body.labels, size, interpolation=cv2.INTER_NEAREST), np.uint8)
    own = whole & labelled_as(labels, own_labels)
    if own.sum() * REDUCED**2 > LEAST_BODY * body.shoulder_width**2:
        # Legs lie in another light than the belly above them.
        believed, whole = own, whole & (own | ~labelled_as(labels, BODY_LABELS))
    else:
        believed = whole
    ratios = seen[..., 1:] / (seen[..., :1] + FOOT)
    beyond = ratios - _shades(seen[..., 0][whole], ratios[whole])[_steps(seen[..., 0])]
    usual = np.median(beyond[believed], axis=0)
    # Hands are redder than the limb they end, and faces than the neck.
    for redder, taken_off in ((whole & (labels == Label.HANDS), OF_HANDS), (whole & (labels == Label.FACE), 1.0)):
        if redder.any():
            ratios[redder] += taken_off * (usual - np.median(beyond[redder], axis=0))
    shades = _shades(seen[..., 0][whole], ratios[whole])
    # What is shaded in the photo has the colour of a shadow there, and would have another in full light.
    ratios += shades[_steps(lab[..., 0])] - shades[_steps(seen[..., 0])]
    lab[..., 1:] = ratios * (lab[..., :1] + FOOT)
    light = float(np.percentile(lab[..., 0][whole], USUAL_LIGHT))
    usual = np.array([light, *(shades[round(2.55 * light)] * (light + FOOT))], np.float32)
    sigma = TONE_BLUR * body.shoulder_width / REDUCED
    share = np.where(whole, weight, 0.0).astype(np.float32)
    around = np.asarray(cv2.GaussianBlur(share, (0, 0), sigma), np.float32)[..., None] + USUAL_WEIGHT
    sums = np.asarray(cv2.GaussianBlur(lab * share[..., None], (0, 0), sigma), np.float32) + USUAL_WEIGHT * usual
    return SkinTone(np.asarray(sums / around, np.float32), shades)


def _like_skin(pixels: NDArray[np.float32], middle: NDArray[np.float32] | None = None) -> BoolMask:
    """Which of ``(n, 3)`` pixels are skin: deep shadows, jewellery and mislabelled cloth do not set the tone.

    ``middle`` is the colour of skin; that of most pixels where it is not known.
    """
    middle = np.median(pixels, axis=0) if middle is None else middle
    bright = brightness(pixels[None])[0] / max(float(middle.mean()), 1e-3)
    hue = largest_channel(np.abs(pixels / np.maximum(bright, 1e-3)[:, None] - middle))
    return np.asarray((bright > TONES[0]) & (bright < TONES[1]) & (hue < MOST_HUE))


def _shades(light: NDArray[np.float32], ratios: NDArray[np.float32]) -> NDArray[np.float32]:
    """Table of a and b over L + 16 by lightness: medians in steps, smoothed, and constant beyond what is seen."""
    index = np.asarray(light // BIN, np.int64)
    bins = [number for number in np.unique(index) if (index == number).sum() >= LEAST_IN_BIN]
    if not bins:
        return np.zeros((256, 2), np.float32)
    centres = (np.array(bins) + 0.5) * BIN
    medians = np.stack([np.median(ratios[index == number], axis=0) for number in bins])
    counts = np.array([(index == number).sum() for number in bins], np.float64)
    # A straight line through them: single steps are hands in one light and a neck in another.
    # In deep shadow the light of the surroundings keeps it from becoming ever more colourful.
    darkest = min(max(centres[0], float(np.percentile(light, SHADOW_PERCENTILE))), centres[-1])
    levels = np.clip(np.linspace(0.0, 100.0, 256), darkest, centres[-1])
    if len(bins) < 3:
        return np.tile(np.average(medians, axis=0, weights=counts), (256, 1)).astype(np.float32)
    lines = [np.polyval(np.polyfit(centres, medians[:, k], 1, w=np.sqrt(counts)), levels) for k in (0, 1)]
    return np.stack(lines, axis=1).astype(np.float32)


def _steps(light: NDArray[np.float32]) -> NDArray[np.uint8]:
    return np.asarray(cv2.convertScaleAbs(np.maximum(light, 0.0), alpha=2.55), np.uint8)
