"""The colour of a person's skin at every place, its texture, and how invented skin is led to the skin beside it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.channels import brightness, largest_channel
from engines.filling import carried_out, reduced
from engines.regions import BoolMask, eroded, labelled_as
from engines.warp.body.model import BodyModel

BODY_LABELS = (Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.LEGS)
"""Skin as it is on the limbs and the chest; hands and faces are redder."""

SKIN_LABELS = (*BODY_LABELS, Label.HANDS)

REDUCED = 4
"""Factor by which tones are worked out smaller."""

TONES, MOST_HUE = (0.4, 1.5), 0.13
"""Brightness over that of the person's usual skin, and difference from its colour at the same brightness, of what
counts as skin."""

RIM = 0.028
"""Width of the rim of seen skin that is mixed with what is beside it, in shoulder widths."""

TONE_BLUR, USUAL_WEIGHT = 0.25, 0.02
"""Over how far around the tone of skin is averaged, in shoulder widths, and what the usual tone counts beside it."""

LEAST_SEEN = 0.02
"""Area of seen skin from which it sets the tone alone, in squared shoulder widths."""

USUAL_LIGHT = 60
"""Percentile of seen skin that has the lightness of skin in full light: edges of limbs and shadows are darker."""

FOOT, LIGHT_EXPONENT = 16.0, 0.75
"""The offset of L in CIE Lab: L + 16, a and b are all proportional to the cube root of the light; and the power of a
factor on sRGB values by which they change."""

FALLBACK = (0.80, 0.64, 0.55)
"""sRGB of skin where none is seen."""

GRAIN, GRAINS = (0.004, 0.004, 0.002, 0.001, 0.001, 0.001), (0.5, 3.0)
"""Usual unevenness of skin in octaves from one pixel on, over its brightness, and between which factors of that a
person's may lie: hairs and folds are no texture."""

OF_PORES = 0.8
"""Share of the finest unevenness of seen skin that is texture; the rest is noise."""

ON_CHANNELS = (0.75, 1.0, 1.3)
"""Share of the unevenness in red, green and blue, as measured on bare arms: what is darker is redder."""

JOINED = (
    (0.22, (Label.NECK, Label.TORSO_SKIN)),
    (0.70, (Label.ARMS,)),
    (0.50, (Label.LEGS,)),
)
"""Distance over which invented skin of torso, arms and legs is led to the colour of the seen skin beside it, in
shoulder widths, and the labels of that skin: an arm says nothing about a belly beside it. A limb has one colour, a
chest lies in another light than the neck above it."""

JOINT_DEPTH, BROAD, BROAD_FROM, PART_BLUR = 0.04, 0.08, 0.05, 0.04
"""How far into the seen skin its colour at the joint is averaged, over how far along the joint, from which distance on,
and how soft the border is between parts that are led to different skin, in shoulder widths."""


@dataclass(frozen=True)
class SkinTone:
    """Skin in full light, wherever it may come to light.

    Attributes:
        lab: ``(h / 4, w / 4, 3)`` CIE Lab.
    """

    lab: NDArray[np.float32]

    def under(self, shade: NDArray[np.float32], window: tuple[slice, slice]) -> NDArray[np.float32]:
        """Skin under brightness factors: its colour fades in the light as its lightness does.

        Args:
            shade: ``(height, width)`` of the whole picture, about 1.
            window: Rows and columns that are wanted.

        Returns:
            sRGB, 0 to 1, of the window.
        """
        height, width = shade.shape
        lab = np.asarray(cv2.resize(self.lab, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)[window]
        factor = cv2.pow(np.maximum(shade[window], 0.0), LIGHT_EXPONENT)[..., None]
        lit = (lab + np.array((FOOT, 0.0, 0.0), np.float32)) * factor - np.array((FOOT, 0.0, 0.0), np.float32)
        return np.clip(cv2.cvtColor(lit.astype(np.float32), cv2.COLOR_LAB2RGB), 0.0, 1.0).astype(np.float32)


def sure_skin(body: BodyModel) -> BoolMask:
    """``(height, width)``: seen skin without its mixed rim."""
    skin = labelled_as(body.labels, SKIN_LABELS)
    return np.asarray(eroded(skin, max(2, round(RIM * body.shoulder_width))) & (body.matte > 0.9))


def skin_tone(
    photo: NDArray[np.float32], body: BodyModel, shade: NDArray[np.float32], own_labels: tuple[Label, ...] = BODY_LABELS
) -> SkinTone:
    """Learn a person's skin from what is seen of it.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        body: The body in the photo.
        shade: ``(height, width)`` brightness factors of the form of the body; they are taken off what is seen, so
            that nothing is shaded twice.
        own_labels: Skin of the parts that are bared and of those beside them. Where too little of it is seen, the rest
            of the body counts, then the hands, then the face.
    """
    sure, face = sure_skin(body), np.asarray(body.labels == Label.FACE)
    if sure.any() and face.sum() > LEAST_SEEN * body.shoulder_width**2:  # A glove is no skin, even under that label.
        sure[sure] = _like_skin(photo[sure], np.median(photo[face], axis=0))
    believed = np.zeros(body.shape, bool)
    for labels in (own_labels, BODY_LABELS, SKIN_LABELS, (*SKIN_LABELS, Label.FACE)):
        believed = (sure | face) & labelled_as(body.labels, labels)
        if believed.sum() > LEAST_SEEN * body.shoulder_width**2:
            break
    colour, weight = reduced(photo, believed, REDUCED)
    whole = weight > 0.5
    size = (weight.shape[1], weight.shape[0])
    even = colour / np.asarray(cv2.resize(shade, size, interpolation=cv2.INTER_AREA), np.float32)[..., None]
    if whole.any():
        whole[whole] = _like_skin(even[whole])
    if not whole.any():
        even, whole, weight = np.full_like(even, FALLBACK), np.ones_like(whole), np.ones_like(weight)
    lab = np.asarray(cv2.cvtColor(even.astype(np.float32), cv2.COLOR_RGB2LAB), np.float32)
    hue = np.median(lab[whole][:, 1:] / (lab[whole][:, :1] + FOOT), axis=0)
    light = float(np.percentile(lab[whole][:, 0], USUAL_LIGHT))
    usual = np.array([light, *(hue * (light + FOOT))], np.float32)
    sigma = TONE_BLUR * body.shoulder_width / REDUCED
    share = np.where(whole, weight, 0.0).astype(np.float32)
    around = np.asarray(cv2.GaussianBlur(share, (0, 0), sigma), np.float32)[..., None] + USUAL_WEIGHT
    sums = np.asarray(cv2.GaussianBlur(lab * share[..., None], (0, 0), sigma), np.float32) + USUAL_WEIGHT * usual
    return SkinTone(np.asarray(sums / around, np.float32))


def _like_skin(pixels: NDArray[np.float32], middle: NDArray[np.float32] | None = None) -> BoolMask:
    """Which of ``(n, 3)`` pixels are skin: deep shadows, jewellery and mislabelled cloth do not set the tone.

    ``middle`` is the colour of skin; that of most pixels where it is not known.
    """
    middle = np.median(pixels, axis=0) if middle is None else middle
    bright = brightness(pixels[None])[0] / max(float(middle.mean()), 1e-3)
    hue = largest_channel(np.abs(pixels / np.maximum(bright, 1e-3)[:, None] - middle))
    return np.asarray((bright > TONES[0]) & (bright < TONES[1]) & (hue < MOST_HUE))


def skin_texture(photo: NDArray[np.float32], skin: BoolMask, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Unevenness as strong as that of the skin that is seen, from pores to blotches, of the same kind every time.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        skin: ``(height, width)``, seen skin without its rim.
        shape: Rows and columns wanted.

    Returns:
        ``(*shape, 3)`` factors of about 1.
    """
    strength = 1.0
    if skin.any():
        level = brightness(photo)
        fine = np.abs(level - cv2.GaussianBlur(level, (0, 0), 1.4))[skin]
        # The median absolute deviation does not see edges; 1.48 makes it a standard deviation.
        deviation = OF_PORES * 1.48 * float(np.median(fine)) / max(float(np.median(level[skin])), 0.05)
        strength = float(np.clip(deviation / GRAIN[0], *GRAINS))
    random, uneven = np.random.default_rng(0), np.zeros(shape, np.float32)
    for band, usual in enumerate(GRAIN):
        size = (max(2, shape[0] >> band), max(2, shape[1] >> band))
        noise = cv2.GaussianBlur(random.standard_normal(size, np.float32), (0, 0), 0.7)
        noise = noise * np.float32(strength * usual / max(float(noise.std()), 1e-6))
        uneven += cv2.resize(noise, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.merge([1.0 + share * uneven for share in ON_CHANNELS]), np.float32)


def led_to_seen(
    beyond: NDArray[np.float32],
    labels: NDArray[np.uint8],
    sure: BoolMask,
    parts: tuple[BoolMask, BoolMask, BoolMask],
    unit: float,
) -> NDArray[np.float32]:
    """The correction of invented skin that hides where it meets the seen skin.

    Args:
        beyond: ``(height, width, 3)``, the photo less the invented skin without its texture.
        labels: ``(height, width)`` of `Label`.
        sure: ``(height, width)``, seen skin without its mixed rim.
        parts: ``(height, width)`` each: torso, arms and legs.
        unit: Shoulder width in pixels.

    Returns:
        ``(height, width, 3)``.
    """
    scale = unit / REDUCED
    height, width = labels.shape
    total = np.zeros((max(4, height // REDUCED), max(4, width // REDUCED), 3), np.float32)
    weights = np.full((*total.shape[:2], 1), 1e-3, np.float32)
    for (reach, seen_labels), part in zip(JOINED, parts, strict=True):
        own = cv2.resize(part.astype(np.float32), total.shape[1::-1], interpolation=cv2.INTER_AREA)
        own = np.asarray(cv2.GaussianBlur(own, (0, 0), PART_BLUR * scale), np.float32)[..., None]
        weights += own
        lacking, weight = reduced(beyond, sure & labelled_as(labels, seen_labels), REDUCED)
        known = weight > 0.3
        if not (part.any() and known.any()):
            continue
        at_rim, _ = carried_out(lacking, np.where(known, weight, np.float32(0.0)), max(JOINT_DEPTH * scale, 1.0))
        distance, (rows, columns) = ndimage.distance_transform_edt(~known, return_indices=True)
        nearest = at_rim[rows, columns]
        # Beside the rim its own value counts, further in that of a longer stretch of it.
        broad = np.asarray(cv2.GaussianBlur(nearest, (0, 0), BROAD * scale), np.float32)
        near = np.exp(-distance / max(BROAD_FROM * scale, 1.0))[..., None]
        fading = np.exp(-distance / (reach * scale))[..., None]
        total += own * np.asarray((broad + (nearest - broad) * near) * fading, np.float32)
    return np.asarray(cv2.resize(total / weights, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)
