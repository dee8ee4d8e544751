"""Dim photos brought to the light that the colour models and their bounds are made for."""

from __future__ import annotations

import numpy as np

from engines.base import Picture

_BRIGHT, _BRIGHTEST, _STRIDE = 95.0, 99.5, 8
"""Percentiles of the pixels that say how bright a photo is, so that a lamp in it says nothing, and how bright a face
before dark clothes and a grey wall may be; and how far those that are looked at lie apart, pixels."""

_DIM, _USUAL, _FULL, _MOST = 160.0, 225.0, 250.0, 5.0
"""A photo whose bright parts are below the first is brought to the second, all 0 to 255, but its brightest ones not
beyond the third unless the photo stays dim otherwise; by no more than the fourth as a factor: beyond it is noise."""


def in_usual_light(photo: Picture) -> Picture:
    """The photo, brightened if it is dim.

    Colours that differ plainly by day are all nearly black in a dark room: skin, cloth and hair were taken for one
    another there.

    Args:
        photo: ``(height, width, 3)`` uint8 sRGB.

    Returns:
        The same shape; the very photo where it is bright enough.
    """
    few = photo[::_STRIDE, ::_STRIDE].max(axis=2)
    bright, brightest = (max(float(level), 1.0) for level in np.percentile(few, (_BRIGHT, _BRIGHTEST)))
    if bright >= _DIM:
        return photo
    levels = np.arange(256) * min(_USUAL / bright, max(_FULL / brightest, _DIM / bright), _MOST)
    return np.asarray(np.clip(np.rint(levels), 0, 255).astype(np.uint8)[photo])
