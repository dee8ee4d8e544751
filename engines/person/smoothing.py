"""The guided filter: smoothing a map while its edges stay on the edges of the photo.

He, Sun and Tang, "Guided Image Filtering", IEEE TPAMI 2013; the enlargement is "Fast Guided Filter", 2015: the filter's
two coefficients are computed small and applied to the large guide.
"""

from __future__ import annotations

import cv2
import numpy as np

from engines.person.networks import Floats


class Guide:
    """A grey picture prepared to guide several maps of the same size.

    Args:
        grey: ``(height, width)``, 0 to 1.
        radius: Half width of the window in pixels.
        flatness: Variance below which the guide counts as flat, in squared grey levels.
    """

    def __init__(self, grey: Floats, radius: int, flatness: float) -> None:
        self._window = (2 * radius + 1, 2 * radius + 1)
        self._grey = grey
        self._mean = self._box(grey)
        self._spread = self._box(grey * grey) - self._mean**2 + flatness

    def smooth(self, values: Floats) -> Floats:
        """``values`` smoothed, same shape."""
        slope, offset = self._coefficients(values)
        slope *= self._grey
        slope += offset
        return slope

    def enlarge(self, values: Floats, grey: Floats) -> Floats:
        """``values`` at the size of ``grey``, a larger copy of the guide."""
        height, width = grey.shape
        slope, offset = (
            np.asarray(cv2.resize(part, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.float32)
            for part in self._coefficients(values)
        )
        slope *= grey
        slope += offset
        return slope

    def _coefficients(self, values: Floats) -> tuple[Floats, Floats]:
        mean = self._box(values)
        slope = self._box(self._grey * values)
        slope -= self._mean * mean
        slope /= self._spread
        mean -= slope * self._mean  # now the offset
        return self._box(slope), self._box(mean)

    def _box(self, values: Floats) -> Floats:
        return np.asarray(cv2.boxFilter(values, cv2.CV_32F, self._window), dtype=np.float32)
