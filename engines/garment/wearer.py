"""Cuts a garment out of a photo of a person who wears it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, EngineError, Label, Landmark, PersonMap, Picture
from engines.filling import fill_from
from engines.garment.cloth import MARGIN, Cloth, lay_on_canvas, looked_at, pull_matte
from engines.garment.cutout import ASKEW, askew_of, turned
from engines.garment.network import GarmentNetwork
from engines.regions import BoolMask, closed, dilated, eroded, labelled_as, largest, opened, window_of

WORN_AS = {
    Category.UPPER_BODY: ((Label.UPPER,), (Label.FULL,)),
    Category.LOWER_BODY: ((Label.LOWER,), (Label.FULL,)),
    Category.FULL_BODY: ((Label.FULL,), (Label.UPPER, Label.LOWER)),
}
"""What a garment of a category is labelled as on its wearer; the second where there is none of the first, since a
jumpsuit may be called top and trousers, and a top and trousers of one cloth a dress."""

WIDE, NARROW = 110, 45
IN_FRONT = (((Label.ARMS,), NARROW), ((Label.HANDS, Label.HAIR, Label.OTHER), WIDE))
LYING_OVER = {
    Category.UPPER_BODY: IN_FRONT,
    Category.FULL_BODY: IN_FRONT,
    Category.LOWER_BODY: (((Label.ARMS, Label.HANDS, Label.HAIR, Label.OTHER), WIDE),),
}
"""What may lie over the garment, and up to which half width it is painted over where cloth is around it, canvas pixels.
Wider bare arms are beside the cloth of a top, not in front of it."""

THINNEST, STRAPS_UNTIL = 14, 0.35
"""Half width of strips that are the rim of an arm and not cloth, canvas pixels; in this upper share of a garment's
height they may be straps."""

ROOM = 0.06
"""Room left around the garment when the picture is cut to it, as a share of its longer side."""

CRUMB = 0.05
"""Regions smaller than this share of the largest one are no part of the garment."""

LEAST_AREA = 0.02
"""A garment covers at least this share of its photo."""

MOST_COVERED = {Category.UPPER_BODY: 0.05, Category.FULL_BODY: 0.05, Category.LOWER_BODY: 0.15}
"""Largest share of the garment that may be painted over; of a top no sleeve is left where arms are folded before it."""

MOST_CUT_OFF = 0.5
"""Share of the width of trousers, a skirt or a dress that may lie on the picture's lower border: it goes on below."""

MOST_CUT_OFF_ABOVE = 0.4
"""The same of the upper border, for a top or a dress: more than the points of its shoulders is not in the picture."""

RIM, SHADOW = 8, 26
"""Width of the cloth's edge that is mixed with what lies over it, and how far that darkens it, canvas pixels."""

THIGHS = ((Landmark.LEFT_HIP, Landmark.LEFT_KNEE), (Landmark.RIGHT_HIP, Landmark.RIGHT_KNEE))

JOINT_SEEN, MOST_ASIDE = 0.5, 0.6
"""Least visibility of a joint that says something; and how far a knee may lie beside its hip, over how far it lies
below it: people walk, but do not sit or kick."""

LABELS_OFF = 2.5
"""How far the edge of what lies over the cloth may be from its label's, pixels of the picture."""


def lifted_off_wearer(picture: Picture, person_map: PersonMap, category: Category, network: GarmentNetwork) -> Cloth:
    """Cut out what a person wears, without the person.

    Hands, hair and straps of bags that lie over the cloth are painted over with the cloth around them.

    Args:
        picture: ``(height, width, 3)`` uint8 sRGB, upright.
        person_map: Of that picture.
        category: Which of the person's garments is meant.
        network: Tells what the garment looks like.

    Returns:
        On the same canvas as a garment that was cut out alone, and like that one upright.

    Raises:
        EngineError: ``garment_not_recognised`` when the person wears no such garment, hides too much of it, is only
            partly in the picture, or sits.
    """
    for wanted in WORN_AS[category]:
        cloth = labelled_as(person_map.labels, wanted)
        if cloth.mean() > LEAST_AREA:
            break
    else:
        raise EngineError("garment_not_recognised", "The person in the garment's picture wears no such garment.")
    _check_whole(cloth, person_map, category)
    lifted = _lifted(picture, person_map.labels, wanted, category, network)
    askew = askew_of(lifted.shown, category)
    if not ASKEW[0] < abs(askew) < ASKEW[1]:
        return lifted
    labels = turned(person_map.labels, askew, cv2.INTER_NEAREST)
    return _lifted(turned(picture, askew), labels, wanted, category, network)


def _lifted(
    picture: Picture,
    labels: NDArray[np.uint8],
    wanted: tuple[Label, ...],
    category: Category,
    network: GarmentNetwork,
) -> Cloth:
    cloth = labelled_as(labels, wanted)
    window = _with_room(largest(opened(cloth, 2), CRUMB))
    canvas = lay_on_canvas(picture[window])
    labels = _on_canvas(labels[window], canvas)
    cloth = _without_rims(largest(opened(labelled_as(labels, wanted), 2), CRUMB))
    covered = np.zeros_like(cloth)
    for hiding, half_width in LYING_OVER[category]:
        covered |= closed(cloth, half_width) & labelled_as(labels, hiding)
    if covered.sum() > MOST_COVERED[category] * cloth.sum():
        raise EngineError("garment_not_recognised", "Arms, hair or a bag hide too much of the garment in its picture.")
    # Includes the gaps that labels leave between it and the cloth.
    covered |= closed(cloth | covered, RIM) & dilated(covered, RIM) & ~cloth
    if covered.any():
        canvas = _painted_over(canvas, cloth, dilated(covered, round(LABELS_OFF * _enlarged(window, canvas))))
    # The outline of cloth is smooth at the scale of a few pixels; that of labels is not.
    mask = cv2.GaussianBlur((cloth | covered).astype(np.float32), (0, 0), 2.2) > 0.5
    return looked_at(replace(pull_matte(canvas, np.asarray(mask)), worn=True), network)


def _painted_over(canvas: Picture, cloth: BoolMask, covered: BoolMask) -> Picture:
    """The canvas with the colours of the cloth continued smoothly under the things that lie over it."""
    seen = eroded(cloth & ~covered, RIM)
    lit = seen & ~dilated(covered, SHADOW)
    if not seen.any():
        return canvas
    painted = canvas.copy()
    filled = fill_from(canvas.astype(np.float32) / 255.0, lit if lit.any() else seen)
    painted[covered] = np.rint(255.0 * filled[covered]).astype(np.uint8)
    return painted


def _check_whole(cloth: BoolMask, person_map: PersonMap, category: Category) -> None:
    """See that the garment is all in the picture, and trousers and skirts on legs that hang down."""
    widest = int(cloth.sum(axis=1).max())
    below = category is not Category.UPPER_BODY and cloth[-1].sum() > MOST_CUT_OFF * widest
    if below or (category is not Category.LOWER_BODY and cloth[0].sum() > MOST_CUT_OFF_ABOVE * widest):
        raise EngineError("garment_not_recognised", "The person in the garment's picture is only partly in it.")
    if category is Category.LOWER_BODY and not _legs_hang(person_map):
        raise EngineError("garment_not_recognised", "The person in the garment's picture does not stand on both legs.")


def _legs_hang(person_map: PersonMap) -> bool:
    """Whether both thighs hang down from the hips, as far as they are seen: cloth on others is foreshortened."""
    for hip, knee in THIGHS:
        first, last = person_map.landmarks[hip], person_map.landmarks[knee]
        aside, down = abs(float(last[0] - first[0])), float(last[1] - first[1])
        if min(first[3], last[3]) >= JOINT_SEEN and aside > MOST_ASIDE * down:
            return False
    return True


def _with_room(cloth: BoolMask) -> tuple[slice, slice]:
    """Rows and columns of the garment with some room around it, so that it fills the canvas."""
    rows, columns = window_of(cloth)
    return window_of(cloth, round(ROOM * (max(rows.stop - rows.start, columns.stop - columns.start) - 1)))


def _without_rims(cloth: BoolMask) -> BoolMask:
    """The garment without thin strips, which below its straps are shadows along arms."""
    rows, _ = window_of(cloth)
    straps = np.zeros_like(cloth)
    straps[: round(rows.start + STRAPS_UNTIL * (rows.stop - 1 - rows.start))] = True
    return largest(cloth & (straps | opened(cloth, THINNEST)), CRUMB)


def _on_canvas(labels: NDArray[np.uint8], canvas: Picture) -> NDArray[np.uint8]:
    """Labels laid like their picture on the canvas; around it is nothing."""
    size = (canvas.shape[1] - 2 * MARGIN, canvas.shape[0] - 2 * MARGIN)
    scaled = cv2.resize(labels, size, interpolation=cv2.INTER_NEAREST)
    return np.asarray(cv2.copyMakeBorder(scaled, MARGIN, MARGIN, MARGIN, MARGIN, cv2.BORDER_CONSTANT), np.uint8)


def _enlarged(window: tuple[slice, slice], canvas: Picture) -> float:
    """Canvas pixels per pixel of the picture."""
    height = float(window[0].stop - window[0].start)
    return float(canvas.shape[0] - 2 * MARGIN) / height
