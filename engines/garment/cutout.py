"""Garment photo in, cloth without its ground out."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, EngineError, Picture
from engines.garment.cloth import MARGIN, Cloth, lay_on_canvas, pull_matte
from engines.garment.network import GarmentNetwork, Part, Point, Seen
from engines.regions import BoolMask, largest, reaching_border
from engines.settling import cells_of, histogram, lab_of, log_density, log_odds, settled

LEAST_AREA, MOST_AREA = 0.03, 0.93
"""Least share of its photo that a garment covers, and the largest: a larger mask is the whole photo, not a garment."""

CUT_ABOVE, CUT_BELOW, SOME_ROOM = 0.2, 0.4, 0.02
"""Shares of the garment's greatest width that the upper and the lower border may cut, and the room beside it or at its
other end, as a share of the picture, from which the border does cut: where there is none the picture is trimmed."""

NETWORK_TRUST, COLOUR_TRUST = 3.5, 1.3
"""Largest weight of the network and of the colours for a pixel, as log odds. On the judges of training/garment the
median overlap is .964 with 0, .974 with 1.3 and .966 with 2.6, which eats white cloth on white ground."""

SURE = 0.06
"""Pixels with chances below this teach the colours of the ground; those above one minus this, the garment's."""

HALF = 2
"""Factor by which the canvas is reduced for the colour models."""

UNSEEN = 0.05
"""Share of the colours of garment and ground that the sure pixels do not show."""

KEPT, SPECK = 0.1, 4e-4
"""Pieces smaller than this share of the largest are dropped; holes smaller than this share of it are filled."""

LEAST_SURE = 0.25
"""Least share of the heat near the landmarks at the garment's ends, on average: noise has 0.13, drawn garments 0.6."""

ASKEW = (np.radians(4.0), np.radians(40.0))
"""A garment that is tilted by an angle between these is turned upright."""

AT_BORDER = 4
"""Rows from the border at which a cut garment's width is measured: at the border itself the outline is rounded."""

MOST_UNSURE = 0.3
"""Largest share of the garment about which the network is not sure. Of 25 judges of training/garment the two above it
overlap with their marks by .77 and .93, those below by .96; white shirts on white that come out in shreds have 0.32 to
0.54."""

OTHER_GROUND = "Send a picture of the garment on a plain ground of another colour."
SHOW_ALL = "Send a picture that shows all of the garment, with some plain ground around it."


def cut_out(picture: Picture, category: Category, network: GarmentNetwork) -> Cloth:
    """Lift the garment off its ground.

    The cloth lies on a canvas of its own (`cloth.LONG_SIDE` plus a margin), upright, not in the photo's pixels;
    landmarks are measured on that canvas.

    Args:
        picture: ``(height, width, 3)`` uint8 sRGB.
        category: Where the garment is worn.
        network: Tells cloth from ground.

    Raises:
        EngineError: ``garment_not_recognised`` when nothing stands out as one piece of clothing, or the picture cuts it
            off.
    """
    canvas = lay_on_canvas(picture)
    seen = network.look(canvas, MARGIN)
    askew = askew_of(seen, category)
    lies_askew = ASKEW[0] < abs(askew) < ASKEW[1]
    if lies_askew:
        canvas = lay_on_canvas(turned(picture, askew))
        seen = network.look(canvas, MARGIN)
    mask = garment_mask(canvas, seen)
    inner = mask[MARGIN:-MARGIN, MARGIN:-MARGIN]
    if not LEAST_AREA < inner.mean() < MOST_AREA or float(seen.sure[_ends(category)].mean()) < LEAST_SURE:
        raise EngineError("garment_not_recognised", "No single garment stands out from the picture's ground.")
    if _cut_off(inner):
        raise EngineError("garment_not_recognised", "The picture cuts the garment off.", advice=SHOW_ALL)
    if seen.unsure > MOST_UNSURE:
        raise EngineError("garment_not_recognised", "It is hardly told from its ground.", advice=OTHER_GROUND)
    return replace(pull_matte(canvas, mask), turned=lies_askew, seen=seen)


def garment_mask(canvas: Picture, seen: Seen) -> BoolMask:
    """``(h, w)`` bool: the garment as the network sees it, its outline settled by the colours on either side.

    Args:
        canvas: ``(h, w, 3)`` from `lay_on_canvas`.
        seen: What the network says of it.
    """
    height, width = canvas.shape[:2]
    size = (width // HALF, height // HALF)
    small = np.asarray(cv2.resize(canvas, size, interpolation=cv2.INTER_AREA), np.uint8)
    inside = np.zeros((height, width), bool)
    inside[MARGIN:-MARGIN, MARGIN:-MARGIN] = True
    ground = np.where(inside, seen.chance(Part.GROUND, height, width), np.float32(1.0))
    chance = np.asarray(1.0 - cv2.resize(ground, size, interpolation=cv2.INTER_AREA), np.float32)
    lab = lab_of(small)
    cells = cells_of(lab)
    odds = log_odds(chance, NETWORK_TRUST)
    cover = settled(odds, lab, cells, sure=SURE, least=-COLOUR_TRUST, most=COLOUR_TRUST)
    cover[_false_holes(cover > 0.5, cells)] = 1.0
    mask = np.asarray(cv2.resize(cover, (width, height), interpolation=cv2.INTER_CUBIC) > 0.5) & inside
    # The outline of cloth is smooth at the scale of a few pixels.
    return np.asarray(cv2.GaussianBlur(largest(mask, KEPT).astype(np.float32), (0, 0), 2.2) > 0.5)


def _false_holes(mask: BoolMask, cells: NDArray[np.intp]) -> BoolMask:
    """The holes in a garment that are not ground: specks, and holes whose colours are those of cloth."""
    _, numbered = cv2.connectedComponents((~mask).astype(np.uint8), connectivity=4)
    holes = np.asarray(numbered)
    outside = reaching_border(~mask)
    if holes.max() < 2 or not outside.any():
        return np.zeros_like(mask)
    cloth, ground = (log_density(histogram(cells, region), cells, UNSEEN) for region in (mask, outside))
    areas = np.maximum(np.bincount(holes.ravel()), 1)
    like_cloth = np.bincount(holes.ravel(), weights=(cloth - ground).ravel()) / areas
    false = (areas < SPECK * mask.sum()) | (like_cloth > 0)
    false[np.unique(holes[outside | mask])] = False
    return np.asarray(false[holes])


def askew_of(seen: Seen, category: Category) -> float:
    """The angle by which the garment's upright leans to the right, radians."""
    ends = seen.points[_ends(category)]
    x, y = ends[2:].mean(axis=0) - ends[:2].mean(axis=0)
    return float(np.arctan2(-x, y))


def _ends(category: Category) -> list[Point]:
    """Landmarks between which a garment's upright runs: two of its neck or its waistband, and two of its hem."""
    names = ("WAIST", "HEM") if category is Category.LOWER_BODY else ("NECK", "HEM")
    return [Point[f"{name}_{side}"] for name in names for side in ("LEFT", "RIGHT")]


def turned(picture: NDArray[np.uint8], angle: float, interpolation: int = cv2.INTER_CUBIC) -> NDArray[np.uint8]:
    """A picture, or its labels, turned back by an angle in radians; as large as it needs, its border continued."""
    height, width = picture.shape[:2]
    cosine, sine = abs(np.cos(angle)), abs(np.sin(angle))
    across, down = round(width * cosine + height * sine), round(width * sine + height * cosine)
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), float(np.degrees(angle)), 1.0)
    matrix[:, 2] += (across - width) / 2, (down - height) / 2
    border = cv2.BORDER_REPLICATE if picture.ndim == 3 else cv2.BORDER_CONSTANT
    return np.asarray(cv2.warpAffine(picture, matrix, (across, down), flags=interpolation, borderMode=border), np.uint8)


def _cut_off(mask: BoolMask) -> bool:
    """Whether the upper or the lower border of the picture cuts the garment; most often a person then wears it."""
    widths = mask.sum(axis=1)
    if max(widths[AT_BORDER] / CUT_ABOVE, widths[-1 - AT_BORDER] / CUT_BELOW) < widths.max():
        return False
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    height, width = mask.shape
    beside = max(columns[0], width - 1 - columns[-1]) / width
    beyond = max(rows[0], height - 1 - rows[-1]) / height
    return bool(max(beside, beyond) > SOME_ROOM)
