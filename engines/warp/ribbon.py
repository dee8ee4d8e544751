"""Cloth as ribbons: grids strung between two boundary curves, and their rasteriser.

A ribbon maps the rows of a strip of the garment photo to rows across a part of the body. Both sides of the map
are grids of the same size, so the worst that a bad landmark can do is to stretch a row. `forced_monotone`
takes the last way in which such a grid could fold: rows that run into each other on the inner side of a bend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import on_channels
from engines.garment.cloth import Cloth
from engines.regions import window_of

Reals: TypeAlias = NDArray[np.floating[Any]]
"""What callers may pass where a float array is read: either precision."""

LEAST_ADVANCE = 0.15
"""Share of the centre line's own step by which every point of a row has to be ahead of the row before it."""

BARYCENTRIC_SLACK = 1e-3
"""How far outside its triangle a pixel centre still counts as inside, so that shared edges leave no crack."""

OUTSIDE = -1e4
"""Source coordinate of target pixels that no triangle covers; far enough out that the remap finds nothing there."""


@dataclass(frozen=True)
class Piece:
    """One part of a garment laid on the body, in the pixels of the working photo.

    Attributes:
        name: ``torso``, ``left_sleeve``, ``right_leg``, ``skirt`` …
        colour: ``(H, W, 3)`` float32 sRGB, 0 to 1, premultiplied by ``alpha``.
        alpha: ``(H, W)`` float32, 0 to 1.
        across: ``(H, W)`` float32, -1 at one edge of the piece to 1 at the other, 0 on its axis; used for shading.
        mesh: ``(rows, cols, 2)`` float32, x and y of the points between which the cloth was stretched; the rows of a
            sleeve begin at its seam.
        behind: ``(H, W)`` float32, 0 to 1, cover of what lies behind the neck and throws no shadow on it; None if
            nothing does.
    """

    name: str
    colour: NDArray[np.float32]
    alpha: NDArray[np.float32]
    across: NDArray[np.float32]
    mesh: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0, 2), np.float32))
    behind: NDArray[np.float32] | None = None

    @cached_property
    def window(self) -> tuple[slice, slice]:
        """Rows and columns that it lies in; empty where it is nowhere."""
        return window_of(self.alpha > 0)


@dataclass(frozen=True)
class Drape:
    """A garment on the body.

    Attributes:
        pieces: Back to front.
        checks: Figures by which the fit is judged, each named for what it measures.
    """

    pieces: tuple[Piece, ...]
    checks: dict[str, float]

    @property
    def alpha(self) -> NDArray[np.float32]:
        """Cover of all pieces together, ``(H, W)`` float32, 0 to 1."""
        open_share = np.ones_like(self.pieces[0].alpha)
        for piece in self.pieces:
            open_share *= 1.0 - piece.alpha
        return 1.0 - open_share


@dataclass(frozen=True)
class Ribbon:
    """A strip of cloth and where it lies on the body.

    Attributes:
        source: ``(rows, cols, 2)`` float32, x and y in pixels of the garment photo.
        target: ``(rows, cols, 2)`` float32, x and y in pixels of the working photo.
        across: ``(cols,)`` or ``(rows, cols)`` float32, the position of each grid point between the edges of the
            piece, -1 to 1, beyond that on the overhang.
    """

    source: NDArray[np.float32]
    target: NDArray[np.float32]
    across: NDArray[np.float32]

    @property
    def scale(self) -> float:
        """Median size of a target cell over its source cell, as a ratio of lengths."""
        areas = []
        for grid in (self.target, self.source):
            down, up = grid[1:, 1:] - grid[:-1, :-1], grid[1:, :-1] - grid[:-1, 1:]
            # The cross product of a cell's diagonals.
            areas.append(np.abs(down[..., 0] * up[..., 1] - down[..., 1] * up[..., 0]) / 2.0)
        drawn, cut = areas
        sound = (cut > 1e-3) & (drawn > 1e-3)
        return float(np.sqrt(np.median(drawn[sound] / cut[sound]))) if sound.any() else 1.0


def string_ribbon(
    source_edges: tuple[Reals, Reals],
    target_edges: tuple[Reals, Reals],
    columns: int = 11,
    overhang: tuple[Reals | float, Reals | float] = (0.08, 0.08),
    *,
    monotone: bool = True,
) -> Ribbon:
    """Span a ribbon between two pairs of boundary curves.

    Args:
        source_edges: Two curves of ``(rows, 2)`` in the garment photo.
        target_edges: The same two curves on the body.
        columns: Grid points per row.
        overhang: Share of a row's width by which the grid reaches beyond the first and the second edge on both
            sides of the map, so that the garment's own soft alpha ends the cloth and not the grid; a number or
            one per row.
        monotone: Push rows out of each other; a caller that still moves them does so afterwards.

    Returns:
        The ribbon.
    """
    before, beyond = (np.broadcast_to(np.asarray(share, np.float32), len(source_edges[0])) for share in overhang)
    even = np.linspace(0.0, 1.0, columns, dtype=np.float32)
    share = (-before[:, None] + (1.0 + before + beyond)[:, None] * even)[..., None]
    source = source_edges[0][:, None] * (1.0 - share) + source_edges[1][:, None] * share
    target = target_edges[0][:, None] * (1.0 - share) + target_edges[1][:, None] * share
    across = (2.0 * share[..., 0] - 1.0).astype(np.float32)
    settled = forced_monotone(target) if monotone else target.astype(np.float32)
    return Ribbon(source.astype(np.float32), settled, across)


def forced_monotone(grid: Reals, *, advance: float = LEAST_ADVANCE, end_stays: bool = False) -> NDArray[np.float32]:
    """Push every row of a grid so far ahead that it does not run into the row before it.

    Args:
        grid: ``(rows, cols, 2)``; rows follow the ribbon, columns cross it.
        advance: Share of the centre line's step by which each point has to be ahead.
        end_stays: Push rows back from the row after them instead, so that an end that is seen stays a clean line and
            the beginning, which lies under or on other cloth, gives way.

    Returns:
        A grid of the same shape in which each point is ahead of its predecessor in its column by at least
        ``advance`` of the centre line's step, measured along the centre line.
    """
    if end_stays:
        return np.ascontiguousarray(forced_monotone(grid[::-1], advance=advance)[::-1])
    settled = np.array(grid, dtype=np.float32)
    centre = grid.mean(axis=1)
    steps = np.diff(centre, axis=0)
    lengths = np.maximum(np.linalg.norm(steps, axis=1), 1e-3)
    ahead = steps / lengths[:, None]
    for row in range(1, len(settled)):
        gained = (settled[row] - settled[row - 1]) @ ahead[row - 1]
        lacking = np.maximum(advance * lengths[row - 1] - gained, 0.0)
        settled[row] += lacking[:, None] * ahead[row - 1]
    return settled


def draw(ribbon: Ribbon, cloth: Cloth, shape: tuple[int, int], name: str) -> Piece:
    """Lay a ribbon's strip of cloth on the body.

    Args:
        ribbon: Where which part of the cloth goes.
        cloth: The garment; mask its alpha to draw a part of it.
        shape: ``(height, width)`` of the working photo.
        name: Name of the piece.

    Returns:
        The piece, premultiplied and free of moiré where the cloth was shrunk.
    """
    vertices = np.dstack([ribbon.source, np.broadcast_to(ribbon.across, ribbon.source.shape[:2])])
    piece = Piece(
        name,
        np.zeros((*shape, 3), np.float32),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        ribbon.target,
    )
    first = np.floor(ribbon.target.min(axis=(0, 1)) - 2).astype(int).clip(0, shape[::-1])
    last = np.ceil(ribbon.target.max(axis=(0, 1)) + 3).astype(int).clip(0, shape[::-1])
    window = (slice(int(first[1]), int(last[1])), slice(int(first[0]), int(last[0])))
    low = np.maximum(np.floor(ribbon.source.min(axis=(0, 1))).astype(int) - 4, 0)
    high = np.ceil(ribbon.source.max(axis=(0, 1))).astype(int) + 5
    alpha = cloth.alpha[low[1] : high[1], low[0] : high[0]]
    if alpha.size == 0 or piece.alpha[window].size == 0:
        return piece
    x, y, position = rasterise(ribbon.target, vertices.astype(np.float32), window)
    colour = cloth.colour[low[1] : high[1], low[0] : high[0]]
    layer = np.asarray(cv2.merge([*(colour[..., k] * alpha for k in range(3)), alpha]), dtype=np.float32)
    layer, factor = _shrunk(layer, ribbon.scale)
    map_x = ((x - low[0] + 0.5) * factor[0] - 0.5).astype(np.float32)
    map_y = ((y - low[1] + 0.5) * factor[1] - 0.5).astype(np.float32)
    drawn = np.asarray(
        cv2.remap(layer, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(0, 0, 0, 0)),
        dtype=np.float32,
    )
    covered = x > OUTSIDE
    # Cloth that is cut at the grid's border falls off within its last pixel: it has no teeth.
    around = cv2.blur(covered.astype(np.float32), (3, 3), borderType=cv2.BORDER_REPLICATE)
    drawn *= on_channels(np.asarray(np.clip(2.0 * around - 0.9, 0.0, 1.0) * covered, np.float32), 4)
    piece.colour[window] = cv2.cvtColor(drawn, cv2.COLOR_RGBA2RGB)
    piece.alpha[window] = drawn[..., 3]
    piece.across[window] = np.where(covered, position.clip(-1.0, 1.0), 0.0)
    return piece


def rasterise(
    target: NDArray[np.float32], vertices: NDArray[np.float32], window: tuple[slice, slice]
) -> NDArray[np.float32]:
    """Interpolate values given at the points of a grid over the pixels that the grid covers.

    Each cell is two triangles; all pixels of all triangles' bounding boxes are tested at once. Where cells overlap
    the later row wins.

    Args:
        target: ``(rows, cols, 2)`` positions of the grid points in the picture.
        vertices: ``(rows, cols, channels)`` values at the grid points.
        window: Rows and columns of the picture that are asked for.

    Returns:
        ``(channels, height, width)`` float32 of the window; `OUTSIDE` in every channel of a pixel that is not covered.
    """
    top, bottom, left, right = window[0].start, window[0].stop, window[1].start, window[1].stop
    field = np.full((vertices.shape[2], bottom - top, right - left), OUTSIDE, np.float32)
    corners, values = _triangles(target), _triangles(vertices)
    origin = corners[:, 0]
    first, second = corners[:, 1] - origin, corners[:, 2] - origin
    area = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    box_low = np.ceil(corners.min(axis=1) - 0.01).astype(np.int32).clip([left, top], [right, bottom])
    box_high = (np.floor(corners.max(axis=1) + 0.01).astype(np.int32) + 1).clip([left, top], [right, bottom])
    size = np.maximum(box_high - box_low, 0).astype(np.int32)
    count = size[:, 0] * size[:, 1] * (np.abs(area) > 1e-6)
    total = int(count.sum())
    if total == 0:
        return field

    def each(of_triangles: NDArray[Any]) -> NDArray[Any]:
        """A value of its triangle for every pixel."""
        return np.repeat(of_triangles, count)

    within = np.arange(total, dtype=np.int32) - each((np.cumsum(count) - count).astype(np.int32))
    down, right_of = np.divmod(within, each(size[:, 0]))
    x, y = each(box_low[:, 0]) + right_of, each(box_low[:, 1]) + down
    inverse = each(1.0 / np.where(np.abs(area) > 1e-6, area, 1.0))
    from_x, from_y = x - each(origin[:, 0]), y - each(origin[:, 1])
    share_first = (from_x * each(second[:, 1]) - from_y * each(second[:, 0])) * inverse
    share_second = (from_y * each(first[:, 0]) - from_x * each(first[:, 1])) * inverse
    slack = BARYCENTRIC_SLACK
    inside = (share_first >= -slack) & (share_second >= -slack) & (share_first + share_second <= 1.0 + slack)
    which = each(np.arange(len(corners), dtype=np.int32))[inside]
    share_first, share_second = share_first[inside], share_second[inside]
    places = ((y - top) * (right - left) + (x - left))[inside]
    for plane, (begin, along, aside) in zip(field, np.ascontiguousarray(values.T), strict=True):
        plane.reshape(-1)[places] = (
            begin.take(which) + share_first * (along - begin).take(which) + share_second * (aside - begin).take(which)
        )
    return field


def _triangles(grid: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(rows, cols, n)`` grid to ``(triangles, 3, n)``, two per cell, row by row."""
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    pairs = np.stack([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)], axis=2)
    return np.asarray(pairs.reshape(-1, 3, grid.shape[2]), dtype=np.float32)


def _shrunk(layer: NDArray[np.float32], scale: float) -> tuple[NDArray[np.float32], tuple[float, float]]:
    """Average the layer down to about the resolution it will be drawn at; returns the exact factors in x and y."""
    if scale > 0.85:
        return layer, (1.0, 1.0)
    height, width = layer.shape[:2]
    # A little finer than the target, so that the bilinear read that follows does not blur a second time.
    finer = min(1.0, 1.15 * scale)
    size = (max(2, round(width * finer)), max(2, round(height * finer)))
    small = np.asarray(cv2.resize(layer, size, interpolation=cv2.INTER_AREA), dtype=np.float32)
    return small, (size[0] / width, size[1] / height)
