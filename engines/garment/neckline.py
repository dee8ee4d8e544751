"""The front neckline of a flat garment; the cloth seen above it is the inside of the back."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.cloth import Cloth
from engines.garment.ground import to_lab
from engines.garment.neck_arcs import Arcs, hung_between, joined
from engines.garment.neck_edge import offsets_tried, on_edge
from engines.garment.regions import BoolMask, eroded, window_of

LEAST_DROP, MOST_DROP = 0.135, 0.46
"""Depth of a front neckline below the neck's highest points, in torso widths. The band of the back, with its seam and
label, ends above the first: nobody's throat is that high."""

USUAL_DROP, USUALNESS = 0.25, 0.15
"""Drop of a round neckline, and the share of its score that one loses which is twice as deep: a faint edge is told from
the seam of its band by that alone."""

BELOW_BACK = 0.09
"""How much deeper than the back's the front neckline is at least, in neck widths."""

OPEN = 0.28
"""Depth of the silhouette between the neck points, in neck widths, from which no back is seen behind the neckline."""

STANDS = 0.1
"""How far cloth may stand up between the neck points, in neck widths: beyond, they are no neck points. Of 95 necklines
three had more, and none of these three was one."""

DEPTH_STEP, INSETS = 0.02, (0.0, 0.03, 0.06)
"""Steps in which depths are tried, and how far inside the neck's highest points the arcs begin, in neck widths; a
folded neckband lies outside."""

HOPEFUL = 0.6
"""Score over the best one from which an arc is tried again close by."""

ENDS = ((0.013, 0.0), (-0.013, 0.0), (0.0, 0.013), (0.0, -0.013))
"""By how much such arcs are then moved across and down, in neck widths: an edge is met only by arcs within a pixel or
two, and the highest points of a rounded corner are not surer than that."""

FINE_STEPS, FINE_INSETS = (-0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03), (0.0, 0.03, 0.06, 0.09)
"""The same around the arc that was found."""

FINE_SHIFTS = (0.0, -0.02, 0.02)
"""How far to one side the arcs are then moved, in neck widths: garments seldom lie quite straight."""

NEAR = 0.04
"""How far the finer arc may lie from the one that was found, in neck widths."""

LEAST_BAND, BAND_EDGE, BAND_SHARE = 0.07, 0.70, 0.88
"""Least width of a neckband of another colour, in neck widths, and the least score of its upper edge, also as a share
of that of its lower edge. The seam of a back scores less."""

EVERY_EDGE, CLEAR_EDGE, HOOD_EDGE = 0.7, 1.5, 8.0
"""Strength beyond which an edge counts no more, in medians of the cloth around: a label would outweigh a whole
neckline. The first finds the neckline, the second lays it on the middle of its edge. The rim of a hood is the strongest
edge of all, and the seams within the hood come before any label."""

LEAST_SCORE = 0.45
"""Share of the arc that must lie on an edge which is lighter, or redder …, on the same side all along."""

LEAST_COLLAR_SCORE = 0.52
"""The same between the leaves of a collar; the outline of a turtleneck is none."""

BLUR = 1.2
"""Blur of the colours before their changes are measured, canvas pixels."""

RIM = 4
"""Canvas pixels at the outline in which edges are those of the garment and not of its neckline."""

BETWEEN_PIXELS = 4
"""Binary digits by which the line that was found is drawn finer than in whole pixels: its corners would stand out."""

ABOVE = 9
"""How far above the inside of the back the matte's ring is taken off, canvas pixels."""

EVEN, STEEPER = 2.5, 3.0
"""Blur that takes the stairs off the cut, canvas pixels, and by how much what it leaves is made steeper again."""

SMALLEST = 20
"""Narrowest neck that is looked at, canvas pixels."""


@dataclass(frozen=True)
class _Change:
    """How the colours around the neck change.

    Attributes:
        slopes: ``(h, w, 2, 3)`` float32, change of CIE Lab along x and y.
        usual: Median strength on the cloth.
        cloth: ``(h, w)`` bool, cloth away from its outline.
        origin: (x, y) of the window on the canvas.
    """

    slopes: NDArray[np.float32]
    usual: float
    cloth: BoolMask
    origin: tuple[int, int]


def inner_back(
    cloth: Cloth,
    neck_left: NDArray[np.float64],
    neck_right: NDArray[np.float64],
    torso: float,
    *,
    collar: float = 0.0,
    hood: bool = False,
) -> BoolMask:
    """Find the part of the photo that shows the inside of the back, with the label.

    Arcs of several shapes and depths are hung between the neck points; the one along which the colour changes most
    steadily is the front neckline.

    Args:
        cloth: The garment.
        neck_left: (x, y) of the neck's highest point left in the picture.
        neck_right: The same on the right.
        torso: Width of the torso, canvas pixels.
        collar: How far the neck's highest points rise above the shoulder, canvas pixels; leaves of a collar meet
            below it.
        hood: Look for the rim of a hood.

    Returns:
        ``(h, w)`` bool, empty where no front neckline is seen.
    """
    mask = cloth.alpha > 0.5
    back = np.zeros(mask.shape, dtype=bool)
    width = float(neck_right[0] - neck_left[0])
    if width < SMALLEST or neck_left[0] < 10 or neck_right[0] > mask.shape[1] - 11:
        return back
    middle = (neck_left + neck_right) / 2
    seen = (float(mask[:, int(middle[0])].argmax()) - float(middle[1])) / width
    least = max((LEAST_DROP * torso + collar) / width, seen + BELOW_BACK)
    depths = np.arange(least, MOST_DROP * torso / width, DEPTH_STEP)
    if seen > OPEN or (seen < -STANDS and not hood) or not len(depths):
        return back
    change = _change_around(cloth, neck_left, neck_right)
    usual = 1.0 - USUALNESS * np.abs(depths * width / (USUAL_DROP * torso) - 1.0)
    line, score = _front_line(change, neck_left, neck_right, (depths, usual), HOOD_EDGE if hood else EVERY_EDGE)
    if not hood and score < (LEAST_COLLAR_SCORE if collar else LEAST_SCORE):
        return back
    closed = np.concatenate([line, [[line[-1, 0], 0.0], [line[0, 0], 0.0]]])
    corners = np.rint(closed * (1 << BETWEEN_PIXELS)).astype(np.int32)
    drawn = cv2.fillPoly(np.zeros(mask.shape, np.uint8), [corners], 1, shift=BETWEEN_PIXELS)
    return np.asarray((drawn > 0) & mask)


def _front_line(
    change: _Change,
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    depths: tuple[NDArray[np.float64], NDArray[np.float64]],
    cap: float,
) -> tuple[NDArray[np.float32], float]:
    """The likeliest front neckline, ``(points, 2)`` x and y, and how steadily the colours change along it, 0 to 1.

    Args:
        change: The colours' change around the neck.
        left: (x, y) of the neck's highest point left in the picture.
        right: The same on the right.
        depths: Depths to try, in neck widths, and how usual each of them is, 0 to 1.
        cap: See `_steadiness`.
    """
    arcs = hung_between(left, right, tuple(depths[0]), INSETS)
    scores = _steadiness(change, arcs, cap)
    likely = scores * np.interp(arcs.depths, *depths)
    hopeful = likely > HOPEFUL * likely.max()
    moves = [np.array(move, np.float32) * np.float32(right[0] - left[0]) for move in ENDS]
    near = joined([Arcs(arcs.points[hopeful] + move, arcs.normals[hopeful], arcs.depths[hopeful]) for move in moves])
    arcs, scores = joined([arcs, near]), np.concatenate([scores, _steadiness(change, near, cap)])
    likely = scores * np.interp(arcs.depths, *depths)
    best = int(np.argmax(likely))
    # A neckband of another colour has two edges: the front begins at the upper one.
    upper = (arcs.depths < arcs.depths[best] - LEAST_BAND) & (likely > max(BAND_EDGE, BAND_SHARE * likely[best]))
    if upper.any():
        best = int(np.argmax(np.where(upper, likely, 0.0)))
    nearby = tuple(round(float(arcs.depths[best]) + step, 3) for step in FINE_STEPS)
    finest, normals, steadiest = arcs.points[best], arcs.normals[best], 0.0
    for aside in FINE_SHIFTS:
        shift = np.array([aside * float(right[0] - left[0]), 0.0])
        fine = hung_between(left + shift, right + shift, nearby, FINE_INSETS)
        near = np.abs(fine.points - arcs.points[best]).max(axis=(1, 2)) < NEAR * float(right[0] - left[0])
        fine_scores = np.where(near, _steadiness(change, fine, max(cap, CLEAR_EDGE)), 0.0)
        if fine_scores.max() > steadiest:
            chosen, steadiest = int(np.argmax(fine_scores)), float(fine_scores.max())
            finest, normals = fine.points[chosen], fine.normals[chosen]
    width = float(right[0] - left[0])
    across = _change_across(change, finest, normals, offsets_tried(width), max(cap, CLEAR_EDGE))
    return on_edge(finest, normals, width, across), float(scores[best])


def _change_across(
    change: _Change,
    points: NDArray[np.float32],
    normals: NDArray[np.float32],
    offsets: NDArray[np.float32],
    cap: float,
) -> NDArray[np.float64]:
    """Change of the colours across a line beside each of its points, ``(n, offsets, 3)``, 1 for the clearest edges."""
    height, width = change.cloth.shape
    place = points[:, None] + offsets[:, None] * normals[:, None] - change.origin
    x = np.clip(np.rint(place[..., 0]), 0, width - 1).astype(int)
    y = np.clip(np.rint(place[..., 1]), 0, height - 1).astype(int)
    slopes = change.slopes[y, x]
    across = slopes[..., 0, :] * normals[:, None, :1] + slopes[..., 1, :] * normals[:, None, 1:]
    limit = np.maximum(np.abs(across).sum(axis=2), cap * change.usual)
    return np.asarray(across / limit[..., None] * change.cloth[y, x][..., None], np.float64)


def _change_around(cloth: Cloth, left: NDArray[np.float64], right: NDArray[np.float64]) -> _Change:
    width = float(right[0] - left[0])
    height, columns = cloth.alpha.shape
    first, last = max(int(left[0] - 0.2 * width), 0), min(int(right[0] + 0.2 * width), columns)
    top = max(int(min(left[1], right[1]) - 0.1 * width), 0)
    bottom = min(int(top + 1.3 * width), height)
    window = np.clip(cloth.colour[top:bottom, first:last] * 255, 0, 255).astype(np.uint8)
    lab = to_lab(np.asarray(cv2.GaussianBlur(window, (0, 0), BLUR), dtype=np.uint8))
    planes = [np.ascontiguousarray(lab[..., channel]) for channel in range(3)]
    slopes = np.stack(
        [np.stack([cv2.Sobel(plane, cv2.CV_32F, *way) for plane in planes], axis=-1) for way in ((1, 0), (0, 1))],
        axis=2,
    )
    inside = eroded(cloth.alpha[top:bottom, first:last] > 0.9, RIM)
    strength = np.abs(slopes).sum(axis=(2, 3))
    usual = float(np.median(strength[inside])) if inside.any() else 0.0
    return _Change(np.asarray(slopes, dtype=np.float32), max(usual, 0.5), inside, (first, top))


def _steadiness(change: _Change, arcs: Arcs, cap: float) -> NDArray[np.float64]:
    """Per arc, ``(n,)``, the mean colour change across it, 0 to 1: changes of opposite sign cancel.

    Stripes, prints and folds change colour now one way and now the other along an arc; a neckline does not.

    Args:
        change: The colours' change around the neck.
        arcs: On the canvas.
        cap: Strength beyond which a change counts no more, in usual ones.
    """
    height, width = change.cloth.shape
    scores = np.zeros(len(arcs.points))
    for beside in (-2.0, 0.0, 2.0):
        place = arcs.points + beside * arcs.normals - change.origin
        x = np.clip(np.rint(place[..., 0]), 0, width - 1).astype(int)
        y = np.clip(np.rint(place[..., 1]), 0, height - 1).astype(int)
        on_cloth = change.cloth[y, x]
        slopes = change.slopes[y, x]
        across = slopes[..., 0, :] * arcs.normals[..., :1] + slopes[..., 1, :] * arcs.normals[..., 1:]
        change_of = np.abs(across)
        # Added one by one: sums along so short an axis take several times as long.
        limit = np.maximum(change_of[..., 0] + change_of[..., 1] + change_of[..., 2], cap * change.usual)
        counted = across / limit[..., None] * on_cloth[..., None]
        count = on_cloth.sum(axis=1)
        mean = np.abs(counted.sum(axis=1)).sum(axis=1) / np.maximum(count, 1)
        # An arc that runs beside the cloth has little to show.
        share = np.clip(count / (0.8 * on_cloth.shape[1]), 0, 1)
        scores = np.maximum(scores, mean * share**2)
    return scores


def without_inner_back(cloth: Cloth, back: BoolMask) -> Cloth:
    """The cloth with the inside of its back made transparent, and the matte's ring above it too."""
    if not back.any():
        return cloth
    return Cloth(cloth.colour, (cloth.alpha * (1 - _cover_of(back))).astype(np.float32))


def inner_back_alone(cloth: Cloth, back: BoolMask) -> Cloth:
    """What `without_inner_back` takes off."""
    return Cloth(cloth.colour, (cloth.alpha * _cover_of(back)).astype(np.float32))


def _cover_of(back: BoolMask) -> NDArray[np.float32]:
    """How much of each pixel is taken off with the inside of the back."""
    upwards, window = np.zeros_like(back), window_of(back, ABOVE + 1)
    if not back[window].size:
        return upwards.astype(np.float32)
    tall = cv2.dilate(back[window].astype(np.uint8), np.ones((3, 3), dtype=np.uint8))
    upwards[window] = cv2.dilate(tall, np.ones((ABOVE, 1), dtype=np.uint8), anchor=(0, 0)) > 0
    return even_cover(upwards)


def even_cover(mask: BoolMask) -> NDArray[np.float32]:
    """``(h, w)`` cover of a mask, 0 to 1, along a line as even as a neckline and not along the mask's stairs."""
    cover, window = np.zeros(mask.shape, np.float32), window_of(mask, 4 * int(np.ceil(EVEN)))
    if not mask[window].size:
        return cover
    even = np.asarray(cv2.GaussianBlur(mask[window].astype(np.float32), (0, 0), EVEN), np.float32)
    cover[window] = np.clip((even - 0.5) * np.float32(STEEPER) + 0.5, 0, 1)
    return cover
