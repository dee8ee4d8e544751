"""The colours of trousers or a skirt above where the photo shows them."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import brightness, on_channels
from engines.filling import carried_out, fill_from
from engines.garment.regions import BoolMask, eroded
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.plate.waistband import UpperEnd
from engines.warp.plate.weave import weave

RIM = 3
"""Pixels of the seen garment beside the old one that are mixed with it."""

SHADED = 0.05
"""Strip of the seen garment beside the old hem whose colours do not count, in torso lengths: pockets, belt loops and
folds begin there."""

HEM_SHADOW, ALONG_HEM, DOWN_HEM = (0.08, 0.15), 0.05, 1.5
"""From where to where below a hem its shadow fades, and over how far along it light is measured, in shoulder widths;
and over how far down, pixels (standard deviations)."""

RELIT, LEAST_LIGHT = (0.85, 1.6), 0.01
"""How much darker and lighter cloth is made at most that lay in such a shadow, or shone beside it, and what light is
divided by at least."""

NEAR, LEAST_NEAR = 0.03, 0.02
"""Over how far around a place its colour is that of the cloth beside it, in shoulder widths (standard deviation), and
the least share of cloth there."""

SEAMS_SEEN, SEAM_ROWS = (0.03, 0.07), 12
"""Between which depths below the old hem seams are looked for that go on upwards, in shoulder widths, and in how many
rows: what all of them show stands upright."""

FLY, MOST_SEAM = (0.10, 0.15), 0.12
"""How far from the axis such seams do, from where to where that fades, in shoulder widths, and their largest difference
from the colour of the cloth: those of pockets run askew."""


def cloth_above(
    photo: NDArray[np.float32], seen: BoolMask, body: BodyModel, end: UpperEnd
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The garment below the waist as it is above its seen edge.

    Under a hem, that is its colour with its weave, its fly and the form of a waistband; where the top hung a little
    over a waistband that is seen, that itself once more.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        seen: ``(height, width)``, the garment as far as it is seen.
        body: The body in the photo.
        end: Its upper end.

    Returns:
        ``(height, width, 3)`` float32 twice: the colour that it has in the window of its end, and that of plain cloth.
    """
    inner = eroded(seen, RIM)
    deep = inner & (body.heights > end.edge.at(body.laterals) + SHADED)
    smooth = fill_from(photo, deep if deep.any() else inner)
    colour, window = smooth.copy(), end.window
    if end.hidden > 0.0:
        shape = end.cover.shape
        plain = colour[window] + weave(photo, deep, (shape[0], shape[1]), body.shoulder_width)
        plain += _fly(photo - colour, inner, body, end)
        colour[window] = end.formed(plain)
    if end.hidden < 1.0:
        as_seen, known = _reflected(photo, inner, body, end)
        near, weight = carried_out(photo[window], inner[window].astype(np.float32), NEAR * body.shoulder_width)
        beside = (weight > LEAST_NEAR) * np.float32(1.0 - end.hidden)
        colour[window] += (near - colour[window]) * on_channels(np.asarray(beside, np.float32))
        colour[window] += (as_seen - colour[window]) * on_channels(known * np.float32(1.0 - end.hidden))
    return colour, smooth


def out_of_shadow(
    photo: NDArray[np.float32], smooth: NDArray[np.float32], seen: BoolMask, body: BodyModel, end: UpperEnd
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What is seen of the garment without the shadow of the hem that hung over it.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        smooth: ``(height, width, 3)`` the colour of plain cloth.
        seen: ``(height, width)``, the garment as far as it is seen.
        body: The body in the photo.
        end: Its upper end.

    Returns:
        ``(height, width, 3)``, and ``(height, width)`` from 0 to 1 how far it takes the place of the photo.
    """
    lit, share = photo.copy(), np.zeros(body.shape, np.float32)
    if end.hidden <= 0.0:
        return lit, share
    window, unit = end.window, np.float32(body.shoulder_width)
    below = (body.heights[window] - end.edge.at(body.laterals[window])) * np.float32(body.torso_length) / unit
    near = seen[window] & (below < HEM_SHADOW[1])
    fading = ease((HEM_SHADOW[1] - below) / (HEM_SHADOW[1] - HEM_SHADOW[0])) * near
    known = eroded(seen, 1)[window].astype(np.float32)
    along = max(ALONG_HEM * float(unit), 1.0)
    usual, own = (
        np.asarray(
            cv2.GaussianBlur(brightness(np.ascontiguousarray(picture[window])) * known, (0, 0), along, sigmaY=DOWN_HEM)
        )
        for picture in (smooth, photo)
    )
    gain = np.clip(usual / np.maximum(own, LEAST_LIGHT), *RELIT) - 1.0
    lit[window] = np.clip(photo[window] * on_channels(1.0 + gain * fading * np.float32(end.hidden)), 0.0, 1.0)
    share[window] = near & (gain * fading != 0.0)
    return lit, share


def _fly(details: NDArray[np.float32], inner: BoolMask, body: BodyModel, end: UpperEnd) -> NDArray[np.float32]:
    """What upright seams in front add to the colour of the cloth above the hem that they come out of, ``(h, w, 3)``."""
    unit, length = np.float32(body.shoulder_width), body.torso_length
    laterals = body.laterals[end.window]
    places = np.arange(-FLY[1], FLY[1], 1.0 / unit, dtype=np.float32)
    depths = np.linspace(*SEAMS_SEEN, SEAM_ROWS, dtype=np.float32)[:, None] * unit / np.float32(length)
    points = body.point(end.edge.at(places)[None] + depths, np.broadcast_to(places * unit, (SEAM_ROWS, len(places))))
    x, y = np.ascontiguousarray(points[..., 0]), np.ascontiguousarray(points[..., 1])
    rows = np.asarray(cv2.remap(details, x, y, cv2.INTER_LINEAR), np.float32)
    known = np.asarray(cv2.remap(inner.astype(np.float32), x, y, cv2.INTER_LINEAR), np.float32).min(axis=0) > 0.99
    profile = np.clip(np.median(rows, axis=0), -MOST_SEAM, MOST_SEAM) * np.asarray(known, np.float32)[:, None]
    profile -= cv2.blur(profile[None], (2 * round(0.5 * FLY[0] * float(unit)) + 1, 1))[0]
    at = np.clip((laterals + FLY[1]) * unit, 0, len(places) - 1).astype(np.int64)
    return np.asarray(profile[at] * ease((FLY[1] - np.abs(laterals)) / (FLY[1] - FLY[0]))[..., None], np.float32)


def _reflected(
    photo: NDArray[np.float32], inner: BoolMask, body: BodyModel, end: UpperEnd
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What lies as far below the upper edge of the seen garment, ``(h, w, 3)`` of the window of its end.

    Returns:
        The colours, and ``(h, w)`` from 0 to 1 where that is the garment.
    """
    rows, columns = end.window
    down, length = body.skeleton.down, np.float32(body.torso_length)
    above = np.maximum(end.seen.at(body.laterals[end.window]) - body.heights[end.window], 0.0) * length
    shift = 2.0 * above + np.where(above > 0.0, np.float32(RIM), np.float32(0.0))
    y, x = np.indices(above.shape, dtype=np.float32)
    x, y = x + np.float32(columns.start) + shift * down[0], y + np.float32(rows.start) + shift * down[1]
    x, y = np.asarray(x, np.float32), np.asarray(y, np.float32)
    colour = cv2.remap(photo, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(colour, np.float32), np.asarray(
        cv2.remap(inner.astype(np.float32), x, y, cv2.INTER_LINEAR), np.float32
    )
