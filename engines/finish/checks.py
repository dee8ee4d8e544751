"""The measurements of every finished picture, and their bounds.

Every fault of generative networks that is known from the field has a figure: a picture that is blank, an echo of the
photo, a new photo of somebody else, one that is shifted or tinted, and an outfit that lacks a garment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, Garment, Label, Landmark
from engines.finish.alignment import LEAST_SEEN, aligned, alignment_of
from engines.finish.swatches import colours_seen
from engines.finish.views import Floats, View, differences
from engines.finish.zone import changeable, replaced_by, shoulder_width
from engines.regions import BoolMask, window_of


@dataclass(frozen=True)
class Bounds:
    """How far each figure may go.

    Attributes:
        contrast: Least deviation of the lightness, 0 to 50; a blank or black picture has none.
        changed: Least mean colour difference where old clothes were; an echo of the photo has none. Where the garment
            has the colours of what is worn already, any difference will do.
        outside: Largest share of the frame away from the garments that shows something else than the photo.
        shift: Largest shift of the whole picture, as a share of its longer side.
        cast: Largest tint of the whole picture, in Lab.
        face: Least correlation of the face with the photo's, -1 to 1.
        people_off_by: Largest difference between the people drawn and one.
        pose: Largest way that a joint moved, in shoulder widths; three quarters of the joints moved less.
        colours: Least share of a garment's colours that is seen where it is worn, 0 to 1.
    """

    contrast: float = 4.0
    changed: float = 3.0
    outside: float = 0.15
    shift: float = 0.02
    cast: float = 8.0
    face: float = 0.5
    people_off_by: float = 0.0
    pose: float = 0.4
    colours: float = 0.25


LOWEST = frozenset({"contrast", "changed", "face", "colours"})
"""Bounds that figures must reach; the others must not be exceeded."""

OUTSIDE_CHANGED = 12.0
"""Colour difference from which a pixel away from the garments shows something else."""

BRIGHTEST, USUAL_BRIGHTEST = 0.98, 65.0
"""Quantile of a photo's lightness that measures its light, and its least value in a usual photo: in darker photos
garments are as dark as everything else."""

ALREADY_WORN, UNTOUCHED = 0.6, 1.0
"""If the photo already shows the first share of a garment's colours, a small change is no fault; a change below the
second is one."""

MUCH_CHANGED = 100.0
"""The recorded change where no change was required."""

LEAST_FACE = 16
"""Height and width, pixels of the view, of a face that can be compared."""

JOINTS = (
    Landmark.LEFT_SHOULDER,
    Landmark.RIGHT_SHOULDER,
    Landmark.LEFT_ELBOW,
    Landmark.RIGHT_ELBOW,
    Landmark.LEFT_HIP,
    Landmark.RIGHT_HIP,
    Landmark.LEFT_KNEE,
    Landmark.RIGHT_KNEE,
)
SURELY_SEEN = 0.6
"""Visibility from which a joint is compared."""


def measure(
    view: View, painting: Floats, garments: Sequence[Garment], swatches: Sequence[NDArray[np.uint8]]
) -> dict[str, float]:
    """Every figure that the pictures alone give.

    Args:
        view: The photo.
        painting: ``(h, w, 3)`` Lab at the size of the view: all that a network drew, or a finished picture.
        garments: From the skin outwards.
        swatches: Pixels of each garment, in the same order.

    Returns:
        Name of a bound, with ``_2`` and so on for further garments, to figure. Figures that cannot be measured are left
        out.
    """
    categories = {garment.category for garment in garments}
    outside = ~changeable(view, categories)
    alignment = alignment_of(view, painting, outside)
    straight = aligned(painting, alignment.within_reason(max(view.size)))
    change = differences(view.photo, straight)
    light = min(1.0, float(np.quantile(view.photo[..., 0], BRIGHTEST)) / USUAL_BRIGHTEST)
    figures = {
        "contrast": float(painting[..., 0].std()),
        "changed": _changed(view, change, garments, swatches),
        "outside": _share_outside(change, outside),
        "shift": alignment.shift / max(view.size),
        "cast": alignment.cast,
    }
    face = _face_kept(view, straight)
    if face is not None:
        figures["face"] = face
    for number, (garment, pixels) in enumerate(zip(garments, swatches, strict=False), start=1):
        if len(pixels) and not _is_covered(garment.category, garments[number:]):
            region = _region_of(view, garment.category, change)
            figures["colours" if number == 1 else f"colours_{number}"] = max(
                colours_seen(pixels, straight[region], each) for each in {1.0, light}
            )
    return figures


def pose_drift(view: View, landmarks: Floats) -> float:
    """How far joints moved, in shoulder widths: the third quartile of the joints that are surely seen in both pictures.

    Args:
        view: The photo.
        landmarks: ``(33, 4)`` found in the painting, in pixels of the view.
    """
    rows = list(JOINTS)
    seen = (view.landmarks[rows, 3] > SURELY_SEEN) & (landmarks[rows, 3] > SURELY_SEEN)
    if not seen.any():
        return 0.0
    ways = np.linalg.norm(view.landmarks[rows, :2] - landmarks[rows, :2], axis=1)[seen]
    return float(np.quantile(ways, 0.75) / shoulder_width(view))


def broken(figures: Mapping[str, float], bounds: Bounds) -> dict[str, float]:
    """The figures that are out of bounds; a NaN always is."""
    limits = {field.name: float(getattr(bounds, field.name)) for field in fields(bounds)}

    def is_in_bounds(name: str, figure: float) -> bool:
        bound = name.rstrip("0123456789").rstrip("_")
        if bound not in limits:
            return True
        return figure >= limits[bound] if bound in LOWEST else figure <= limits[bound]

    return {name: figure for name, figure in figures.items() if not is_in_bounds(name, figure)}


def _changed(view: View, change: Floats, garments: Sequence[Garment], swatches: Sequence[NDArray[np.uint8]]) -> float:
    """Mean change where old clothes were, of the garment that changed least; see `Bounds.changed`."""
    least = float("inf")
    for garment, pixels in zip(garments, swatches, strict=False):
        replaced = replaced_by(view, [garment.category])
        if not replaced.any():
            replaced = changeable(view, [garment.category])
        amount = float(change[replaced].mean())
        if amount < UNTOUCHED or not len(pixels) or colours_seen(pixels, view.photo[replaced]) < ALREADY_WORN:
            least = min(least, amount)
    return least if np.isfinite(least) else MUCH_CHANGED


def _share_outside(change: Floats, outside: BoolMask) -> float:
    """Share of the pixels away from the garments that show something else; 0 where hardly any are away from them."""
    return float((change[outside] > OUTSIDE_CHANGED).mean()) if outside.mean() > LEAST_SEEN else 0.0


def _face_kept(view: View, painting: Floats) -> float | None:
    """Correlation of the face's lightness with the photo's, -1 to 1; None where no face can be compared."""
    face = view.labels == Label.FACE
    window = window_of(face)
    before, after = view.photo[window][..., 0], painting[window][..., 0]
    if min(before.shape) < LEAST_FACE:
        return None
    # Pores and grain are no features of a face. Its surroundings, such as a hood or a collar, may have changed.
    first, second = (cv2.GaussianBlur(part, (0, 0), 1.5)[face[window]] for part in (before, after))
    if first.std() < 1.0:
        return None
    return float(np.corrcoef(first, second)[0, 1]) if second.std() > 0 else 0.0


def _is_covered(category: Category, later: Sequence[Garment]) -> bool:
    """Whether a garment that is put on later may hide this one."""
    covering = {category, Category.FULL_BODY} | ({Category.UPPER_BODY} if category is Category.FULL_BODY else set())
    return any(garment.category in covering for garment in later)


def _region_of(view: View, category: Category, change: Floats) -> BoolMask:
    """Where a garment is expected: where old clothes were, and where something changed near them."""
    return replaced_by(view, [category]) | (changeable(view, [category]) & (change > OUTSIDE_CHANGED))
