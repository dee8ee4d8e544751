"""Shafts of boots that the labels call bare legs: leather and skin are both brown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label, PersonMap
from engines.garment.regions import dilated, eroded, window_of
from engines.labels import labelled_as
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.sampling import nearest_pixels

SKIN = (Label.FACE, Label.NECK, Label.ARMS, Label.HANDS)

OFF_SKIN, LIKE_SHOE = 0.15, 0.35
"""Least difference from the person's skin of what is none, per channel on average, of full white, and that from the
shoe below over it, at most."""

BESIDE_SHOE = 0.15
"""How far from the leg the shoe's colour is looked for, in shoulder widths."""

BELOW_KNEE, SAMPLES = (0.1, 1.05), 48
"""Where along a leg a shaft is looked for, from so far below the knee, in shares of the leg, and at how many places."""

LEAST_LENGTH = 0.1
"""Length of a shaft as a share of those places, from which it is no ankle in the shadow of a hem."""

LEAST_SEEN, WIDTH = 60, 3
"""Pixels from which a colour is known, and those at its edge that are mixed."""


def shafts_of_boots(photo: NDArray[np.float32], person_map: PersonMap, body: BodyModel) -> PersonMap:
    """Count shafts between trousers and shoes to the shoes; the very map where there are none.

    Args:
        photo: ``(h, w, 3)`` float32 sRGB, 0 to 1.
        person_map: Of the photo.
        body: Measured from it.
    """
    labels = person_map.labels
    shafts = [_shaft(photo, labels, body, side) for side in SIDES]
    if not any(shafts):
        return person_map
    told = labels.copy()
    for found in shafts:
        if found is not None:
            window, shaft = found
            told[window][shaft] = Label.FEET
    return replace(person_map, labels=told)


def _shaft(
    photo: NDArray[np.float32], labels: NDArray[np.uint8], body: BodyModel, side: int
) -> tuple[tuple[slice, slice], NDArray[np.bool_]] | None:
    """A window and what in it is called a leg and is the shaft of a boot; None where there is none."""
    leg, unit = body.legs[side], body.shoulder_width
    line = leg.points(np.linspace(leg.bend + BELOW_KNEE[0], BELOW_KNEE[1], SAMPLES))
    at = nearest_pixels(line, labels.shape)
    along = labels[at.rows, at.columns][at.framed]
    bare = np.flatnonzero(along == Label.LEGS)
    if (
        len(bare) < LEAST_LENGTH * SAMPLES
        or not (along[: bare[0]] == Label.LOWER).any()
        or not (along[bare[-1] :] == Label.FEET).any()
    ):
        return None
    window = window_of(labels == Label.FEET, round(unit))
    numbered, _ = ndimage.label(labels[window] == Label.LEGS)
    middle = at.framed.nonzero()[0][bare[len(bare) // 2]]
    row, column = at.rows[middle] - window[0].start, at.columns[middle] - window[1].start
    if not (0 <= row < numbered.shape[0] and 0 <= column < numbered.shape[1]):
        return None
    own = numbered == numbered[row, column]
    shoe = (labels[window] == Label.FEET) & dilated(own, max(1, round(BESIDE_SHOE * unit)))
    known = [photo[window][eroded(part, WIDTH)] for part in (own, shoe)]
    skin = photo[eroded(labelled_as(labels, SKIN), WIDTH)]
    if min(len(pixels) for pixels in (*known, skin)) < LEAST_SEEN:
        return None
    one, other, usual = (np.median(pixels, axis=0) for pixels in (*known, skin))
    from_skin, from_shoe = (float(np.abs(one - colour).mean()) for colour in (usual, other))
    return (window, own) if from_skin > OFF_SKIN and from_shoe < LIKE_SHOE * from_skin else None
