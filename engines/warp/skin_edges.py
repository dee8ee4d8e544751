"""Where hands and bare arms end before clothes, told pixel by pixel by the colours on either side.

The labels are a few pixels coarse: nails and the far sides of fingers go to the cloth behind them, and what is seen of
it between two fingers goes to the hand. Cut out along them a hand has teeth, and pieces of the old cloth come with it.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import on_channels
from engines.filling import carried_out, reduced
from engines.garment.regions import BoolMask, dilated, distance_from, nearest_known, reaching, windows_of
from engines.labels import labelled_as

SKIN, CLOTHES = (Label.ARMS, Label.HANDS), (Label.UPPER, Label.LOWER, Label.FULL)

ARM_BAND, HAND_BAND, WITHIN = 0.02, 0.05, 0.15
"""How far from its edge as labelled an arm and a hand may end, in shoulder widths: an arm has no nails or fingers;
and how deep within a hand cloth may be seen between its fingers."""

RIM = 0.01
"""Width of the rims of skin and cloth that are mixed with one another, in shoulder widths."""

NEAR, REACH, FAR_SAY = 0.03, 0.10, 0.03
"""Standard deviations over which the colours of skin and of cloth are averaged, in shoulder widths, and how much the
farther ones count next to what is near."""

REDUCED = 4
"""Factor by which these are worked out smaller."""

LIGHTNESS_SAY, SHADED_UNTIL, USUAL = 0.35, 15.0, 60.0
"""Share of lightness in how far colours are apart, next to a and b. Those of a shaded pixel count for more, by the root
of how much darker than the third L it is: skin keeps more colour in the shade than cloth that is nearly grey. Below the
second L they are weighted no higher."""

DARKER = 20.0
"""By how much darker than skin cloth is in L for its edge to be told by lightness as well."""

OTHER_HUE, TELLING = -0.2, 4.0
"""Where the hue of cloth lies on a line from grey, 0, to that of skin, 1, up to which it is another one; and how far in
a and b a pixel that shows half of either then lies from skin as dark as it is, from which lightness is not asked: skin
mixed with black looks like skin in the shade, skin mixed with blue jeans does not."""

APART = 9.0
"""Distance of the colours of skin and cloth at which they have as much say as the labels."""

LEAST_KNOWN = 0.02
"""Share of known colours around a pixel from which they say something."""

CALM = 1.0
"""Size of what is smoothed away of an edge, pixels (standard deviation)."""

NAILS, BETWEEN_FINGERS = 0.2, 0.25
"""How far from the middle between both colours towards that of the cloth hands begin, whose nails are paler than skin,
and from where on what lies within a hand is cloth."""

MIXED, MIXED_WITH_CLOTH = 2, 0.15
"""Pixels around such cloth that may be mixed with it, and how far from the middle towards skin they are."""


def ending_by_colour(photo: NDArray[np.float32], labels: NDArray[np.uint8], unit: float) -> NDArray[np.uint8]:
    """The labels with hands and arms before clothes led to the edges that the photo shows.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        unit: Shoulder width in pixels.
    """
    found = labels.copy()
    few = np.ascontiguousarray(labels[::REDUCED, ::REDUCED])
    near = round(HAND_BAND * unit / REDUCED) + 1
    meeting = dilated(labelled_as(few, SKIN), near) & dilated(labelled_as(few, CLOTHES), near)
    for rows, columns in windows_of(meeting, round(REACH * unit / REDUCED)):
        window = tuple(slice(REDUCED * side.start, REDUCED * side.stop) for side in (rows, columns))
        _end_anew(found[window], photo[window], unit)
    return found


def _end_anew(labels: NDArray[np.uint8], photo: NDArray[np.float32], unit: float) -> None:
    """Settle one window, in place."""
    skin, cloth = labelled_as(labels, SKIN), labelled_as(labels, CLOTHES)
    from_skin, from_cloth = distance_from(skin), distance_from(cloth)
    fine, deep = np.float32(ARM_BAND * unit), np.float32(HAND_BAND * unit)
    hands = distance_from(labels == Label.HANDS) < deep
    asked = (skin | cloth) & (np.maximum(from_skin, from_cloth) < np.where(hands, deep, fine))
    asked |= (labels == Label.HANDS) & (from_cloth < np.float32(WITHIN * unit))
    told, apart, darker, hued = told_by_colour(photo, (skin, from_skin), (cloth, from_cloth), asked, unit)
    say = worth(apart)
    labelled = skin - np.float32(0.5)
    score = labelled + (told - labelled) * say
    calm = np.asarray(cv2.GaussianBlur(score, (0, 0), CALM), np.float32)
    begins = np.where(hands & ~darker, -NAILS * say**2, np.float32(0.0))
    # Beside cloth that is darker nothing of a hand is taken for it, and a shadow may be taken for a hand.
    shadow_of_leg = dilated(labels == Label.LEGS, round(fine))
    gained = cloth & asked & (calm > begins) & (hued | ~darker) & ~shadow_of_leg
    gained = reaching(gained | skin, skin) & gained
    # The other side of an arm is not beside the cloth, and a crease of a hand is dark as well.
    from_wall = distance_from(labels == Label.BACKGROUND)
    between = dilated(score < -BETWEEN_FINGERS, MIXED) & (score < MIXED_WITH_CLOTH) & ~darker & (from_wall > fine)
    beside = (from_cloth < fine) & (from_cloth <= from_wall)
    lost = skin & asked & np.where(beside, calm < begins, (from_cloth >= fine) & between)
    before = labels.copy()
    for changed, known in ((gained, skin), (lost, cloth)):
        if changed.any():
            labels[changed] = before.ravel()[nearest_known(known)[changed]]


def worth(apart: NDArray[np.float32]) -> NDArray[np.float32]:
    """What colours so far apart say, 0 to 1; labels say the rest."""
    return np.asarray(apart**2 / (apart**2 + np.float32(APART**2)), np.float32)


def told_by_colour(
    photo: NDArray[np.float32],
    skin: tuple[BoolMask, NDArray[np.float32]],
    cloth: tuple[BoolMask, NDArray[np.float32]],
    asked: BoolMask,
    unit: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32], BoolMask, BoolMask]:
    """Where colours lie between those of cloth and of skin around them.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        skin: ``(height, width)`` where it is labelled, and distance from there, pixels.
        cloth: The same of cloth, or of whatever else is beside skin.
        asked: ``(height, width)``, the only places that are looked at.
        unit: Shoulder width in pixels.

    Returns:
        ``(height, width)`` each: -0.5 for that of cloth to 0.5 for that of skin; how far apart these two are, 0 where
        one of them is not known; whether that of cloth is much darker; and whether it has a hue so different that
        skin in the shade is told from it all the same.
    """
    told, distance = np.zeros(asked.shape, np.float32), np.zeros(asked.shape, np.float32)
    darker, hued = np.zeros(asked.shape, np.bool_), np.zeros(asked.shape, np.bool_)
    colours, rim = _in_the_light(photo), max(RIM * unit, 1.0)
    rows, columns = np.nonzero(asked)
    own, sure_own = _usual(colours, skin[0] & (cloth[1] > rim), (rows, columns), unit)
    other, sure_other = _usual(colours, cloth[0] & (skin[1] > rim), (rows, columns), unit)
    apart = own - other
    squared = np.einsum("ij,ij->i", apart, apart)
    place = np.einsum("ij,ij->i", colours[rows, columns] - other, apart) / np.maximum(squared, 1.0)
    light = (own - other)[:, 0]
    dark = light > LIGHTNESS_SAY * DARKER
    by_light = (colours[rows, columns, 0] - other[:, 0]) / np.where(dark, light, np.float32(1.0))
    by_hue, covered = _covered(own, other, place)
    # Skin mixed with cloth that is darker looks like skin in the shade, unless that has another hue.
    place = np.where(dark, np.where(by_hue, covered, np.minimum(place, by_light)), place)
    told[rows, columns] = np.clip(place, 0, 1) - 0.5
    distance[rows, columns] = np.sqrt(squared) * (sure_own & sure_other)
    darker[rows, columns], hued[rows, columns] = dark, by_hue
    return told, distance, darker, hued


def _covered(
    skin: NDArray[np.float32], cloth: NDArray[np.float32], place: NDArray[np.float32]
) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    """Whether skin in the shade and skin mixed with cloth differ in hue, and the share of a pixel that is skin.

    Args:
        skin: ``(n, 3)`` colours as `_in_the_light` gives them.
        cloth: The same.
        place: ``(n,)`` where the pixels' colours lie between them, 0 for cloth to 1 for skin.
    """
    of_skin, of_cloth = (((part[:, 0] / LIGHTNESS_SAY + 16.0) / 116.0) ** 3 for part in (skin, cloth))
    mixed = of_cloth / np.maximum(of_cloth + of_skin, 1e-3) * np.hypot(*(skin - cloth)[:, 1:].T)
    along = np.einsum("ij,ij->i", skin[:, 1:], cloth[:, 1:]) / np.maximum(np.square(skin[:, 1:]).sum(axis=1), 1.0)
    # What is lighter has the more say in the hue of a mixture.
    part = np.clip(place, 0.0, 1.0)
    covered = part * of_cloth / np.maximum(part * of_cloth + (1.0 - part) * of_skin, 1e-6)
    return np.asarray((along < OTHER_HUE) & (mixed > TELLING)), np.asarray(covered, np.float32)


def _in_the_light(photo: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(height, width, 3)``: CIELAB with little lightness, and with a and b that shade has made less weak."""
    lab = np.asarray(cv2.cvtColor(np.ascontiguousarray(photo), cv2.COLOR_RGB2LAB), np.float32)
    lab[..., 1:] *= on_channels(np.sqrt(np.float32(USUAL) / np.maximum(lab[..., 0], np.float32(SHADED_UNTIL))), 2)
    lab[..., 0] *= np.float32(LIGHTNESS_SAY)
    return lab


def _usual(
    colours: NDArray[np.float32], known: BoolMask, places: tuple[NDArray[np.intp], NDArray[np.intp]], unit: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """``(n, 3)`` the colours of a part carried to some places, rows and columns, and ``(n,)`` where they are known."""
    means, weight = reduced(colours, known, REDUCED)
    near, few = carried_out(means, weight, max(NEAR * unit / REDUCED, 1.0))
    far, total = carried_out(means, weight, max(REACH * unit / REDUCED, 1.0))
    share = few / np.maximum(few + FAR_SAY * total, 1e-6)
    carried = far + (near - far) * share[..., None]
    there = tuple(
        np.minimum(place * small // whole, small - 1)
        for place, small, whole in zip(places, weight.shape, known.shape, strict=True)
    )
    return carried[there], total[there] > LEAST_KNOWN
