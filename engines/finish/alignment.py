"""How much a whole painting is shifted and tinted against its photo; general editors do a little of both."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from engines.finish.views import Floats, View
from engines.regions import BoolMask

LEAST_SEEN = 0.03
"""Least share of the frame that must lie outside the garments for a measurement."""

ROUNDS = 2
"""How often the shift is measured; again after the first was removed, since the change of the garments disturbs it."""

MOST_SHIFT, MOST_CAST = 0.04, 16.0
"""Shift, as a share of the longer side, and tint in Lab, beyond which a painting counts as another picture."""

EXPLAINED, LARGEST_SHIFT = 0.9, 0.12
"""Taking a shift out has to leave less than this share of the difference; the largest that is one, as a share of the
longer side."""


@dataclass(frozen=True)
class Alignment:
    """The shift and tint to remove from a painting before it is compared or pasted.

    Attributes:
        right: Shift to the right in pixels of the view.
        down: Shift downwards.
        tint: ``(3,)`` Lab that the painting has more of than the photo.
    """

    right: float
    down: float
    tint: Floats

    @property
    def shift(self) -> float:
        """Length of the shift in pixels of the view."""
        return float(np.hypot(self.right, self.down))

    @property
    def cast(self) -> float:
        """Length of the tint: 1 is just visible side by side, 10 is another light."""
        return float(np.linalg.norm(self.tint))

    def scaled(self, factor: float) -> Alignment:
        """The same for a picture ``factor`` times as large."""
        return Alignment(self.right * factor, self.down * factor, self.tint)

    def within_reason(self, longer_side: int) -> Alignment:
        """Itself, or no shift and no tint if removing them would only hide that this is another picture."""
        reasonable = self.shift <= MOST_SHIFT * longer_side and self.cast <= MOST_CAST
        return self if reasonable else Alignment(0.0, 0.0, np.zeros(3, dtype=np.float32))


def alignment_of(view: View, painting: Floats, outside: BoolMask) -> Alignment:
    """Measure shift (by phase correlation of the lightness) and tint (by medians) outside the garments.

    Args:
        view: The photo.
        painting: ``(h, w, 3)`` Lab at the size of the view.
        outside: ``(h, w)`` bool, where nothing ought to have changed.

    Returns:
        No shift and no tint where garments fill the frame.
    """
    if outside.mean() < LEAST_SEEN:
        return Alignment(0.0, 0.0, np.zeros(3, dtype=np.float32))
    right, down = _shift_between(view, painting, outside)
    moved = moved_back(painting, right, down)
    # A flat wall looks the same at every shift, so a shift counts only if removing it makes the pictures alike.
    # Pictures with a larger shift are other pictures, which other figures show.
    explained = _difference(view.photo, moved, outside) < EXPLAINED * _difference(view.photo, painting, outside)
    if not explained or np.hypot(right, down) > LARGEST_SHIFT * max(view.size):
        right, down, moved = 0.0, 0.0, painting
    tint = np.median(moved[outside] - view.photo[outside], axis=0)
    return Alignment(right, down, np.asarray(tint, dtype=np.float32))


def _shift_between(view: View, painting: Floats, outside: BoolMask) -> tuple[float, float]:
    """Columns and rows by phase correlation of the lightness outside the garments."""
    soft = cv2.GaussianBlur(outside.astype(np.float32), (0, 0), 3)
    window = cv2.createHanningWindow(view.size, cv2.CV_32F)
    right = down = 0.0
    for _ in range(ROUNDS):
        moved = moved_back(painting, right, down)
        first, second = ((picture[..., 0] - picture[..., 0].mean()) * soft * window for picture in (view.photo, moved))
        (step_right, step_down), _response = cv2.phaseCorrelate(first.astype(np.float32), second.astype(np.float32))
        right, down = right + float(step_right), down + float(step_down)
    return right, down


def _difference(first: Floats, second: Floats, outside: BoolMask) -> float:
    """Mean absolute difference of the lightness outside the garments, after its mean is removed."""
    change = (first - second)[..., 0][outside]
    return float(np.abs(change - np.median(change)).mean())


def aligned(painting: Floats, alignment: Alignment) -> Floats:
    """A painting in Lab without its shift and tint, at the size that these were measured or scaled for."""
    return moved_back(painting, alignment.right, alignment.down) - alignment.tint


def moved_back(picture: Floats, right: float, down: float) -> Floats:
    """The picture with a shift taken out; what comes in at the border repeats it."""
    matrix = np.array([[1, 0, -right], [0, 1, -down]], dtype=np.float64)
    size = (picture.shape[1], picture.shape[0])
    moved = cv2.warpAffine(picture, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(moved, dtype=np.float32)
