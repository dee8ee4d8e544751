"""Reliefs laid on torso, arms and skirt of a person, lit; and where on its sheet a place of a limb lies."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import window_of
from engines.warp.body.limbs import Limb
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.body.standing import share_bent
from engines.warp.folds.reliefs import skirt_relief
from engines.warp.folds.top_creases import ELBOW, WRIST, sleeve_reliefs, torso_relief
from engines.warp.pieces import Piece

TORSO_LENGTH = 1.4
"""Length of the torso that the relief of a top is made for, shoulder widths."""

HANGING_LENGTH = 1.05
"""The same for cloth that hangs from the waist, whose folds are longer; no skirt reaches the end of its sheet."""

WAIST, BELOW_WAIST = 0.50, 0.75
"""Heights between which the folds of a bodice end where a skirt is sewn to it, torso lengths."""

SLEEVE_HALF = 0.15
"""Half width of a sleeve on its sheet, shoulder widths."""

LEAST_ASIDE = 0.3
"""Light comes from the side by as much at least as a unit vector has it: no lamp hangs right above, and folds that run
down would not be seen."""

COARSER = 3
"""Places on limbs are found on a grid this many times coarser."""


@dataclass(frozen=True)
class Joints:
    """Where a limb's joints are on its sheet, and its half width there, shoulder widths."""

    root: float
    bend: float
    end: float
    half: float


_ARM = Joints(0.0, ELBOW, WRIST, SLEEVE_HALF)


def torso_folds(piece: Piece, body: BodyModel, light: tuple[float, float], *, to_waist: bool) -> NDArray[np.float32]:
    """``(h, w)`` change of light around 0 by folds of a top.

    Args:
        piece: The top's torso; nothing is said beyond it.
        body: The body it is on.
        light: Where light comes from in the picture, a unit vector of x and y; y points down.
        to_waist: Whether it goes on as a skirt, which has folds of its own.
    """
    change = np.zeros(body.shape, dtype=np.float32)
    window = piece.window
    if piece.alpha[window].size:
        heights = body.heights[window]
        change[window] = torso_relief().light(
            body.laterals[window], heights * np.float32(TORSO_LENGTH), from_aside(light)
        )
        if to_waist:
            change[window] *= 1 - ease((heights - WAIST) / (BELOW_WAIST - WAIST))
    return change


def skirt_folds(piece: Piece, body: BodyModel, light: tuple[float, float], waist: float) -> NDArray[np.float32]:
    """The same of cloth that hangs from the waist.

    Args:
        piece: Skirt, or torso that goes on below the waist.
        body: The body it hangs from.
        light: As for a top.
        waist: Height from which it hangs, torso lengths.
    """
    change = np.zeros(body.shape, dtype=np.float32)
    window = window_of((piece.alpha > 0) & (body.heights > waist))
    if piece.alpha[window].size:
        y = (body.heights[window] - np.float32(waist)) * np.float32(HANGING_LENGTH)
        x = np.asarray(np.clip(piece.across[window], -1, 1) / 2, dtype=np.float32)
        change[window] = skirt_relief().light(x, y, from_aside(light))
    return change


def sleeve_folds(piece: Piece, body: BodyModel, light: tuple[float, float]) -> NDArray[np.float32]:
    """The same of a sleeve, by the piece's name."""
    change = np.zeros(body.shape, dtype=np.float32)
    window = piece.window
    if piece.alpha[window].size:
        arm = body.arms[side_of(piece)]
        straight, bent = sleeve_reliefs(piece.name.removesuffix("_sleeve"))
        folds = straight.mixed(bent, share_bent(arm))
        x, y, across, down = limb_places(arm, _ARM, window, from_aside(light))
        # Loose cloth reaches beyond the sheet, whose creases go on round the arm.
        edge = np.float32(folds.sheet.wide / 2 - folds.sheet.spacing)
        change[window] = folds.light(np.clip(x, -edge, edge), y, (across, down))
    return change


def side_of(piece: Piece) -> int:
    """Side of the picture on which a sleeve or a leg is."""
    return LEFT if piece.name.startswith("left") else RIGHT


def from_aside(light: tuple[float, float]) -> tuple[float, float]:
    """The light, from the side at least a little."""
    aside = float(np.copysign(max(abs(light[0]), LEAST_ASIDE), light[0]))
    return aside, float(-np.sqrt(1 - aside * aside))


def limb_places(
    limb: Limb, joints: Joints, window: tuple[slice, slice], light: tuple[float, float]
) -> tuple[NDArray[np.float32], ...]:
    """Every pixel's place on the limb's sheet, x and y, and where light comes from along them, each ``(h, w)``."""
    height, width = window[0].stop - window[0].start, window[1].stop - window[1].start
    rows, columns = -(-height // COARSER) + 1, -(-width // COARSER) + 1
    x, y = np.meshgrid(
        window[1].start + COARSER * np.arange(columns, dtype=np.float32),
        window[0].start + COARSER * np.arange(rows, dtype=np.float32),
    )
    nearest = ((x[..., None] - limb.line[:, 0]) ** 2 + (y[..., None] - limb.line[:, 1]) ** 2).argmin(axis=2)
    step = np.gradient(limb.line, axis=0)
    long = np.linalg.norm(step, axis=1) + np.float32(1e-6)
    along, outward = (step / long[:, None])[nearest], limb.outward[nearest]
    off = np.stack([x, y], axis=-1) - limb.line[nearest]
    beyond = np.einsum("hwk,hwk->hw", off, along) / long[nearest]
    share = limb.shares[nearest] + beyond * np.gradient(limb.shares)[nearest]
    aside = np.einsum("hwk,hwk->hw", off, outward)
    half = np.where(aside > 0, limb.outer[nearest], limb.inner[nearest])
    down = np.interp(share, *_sheet_by_share(limb, joints))
    way = np.asarray(light, np.float32)
    coarse = np.dstack([-joints.half * aside / half, down, -(outward @ way), along @ way]).astype(np.float32)
    # Where the limb bends, neighbours have other nearest points.
    smooth = cv2.blur(coarse, (3, 3))
    size = (columns * COARSER, rows * COARSER)
    fine = np.asarray(cv2.resize(smooth, size, interpolation=cv2.INTER_LINEAR), dtype=np.float32)[:height, :width]
    return tuple(np.ascontiguousarray(fine[..., part]) for part in range(4))


def _sheet_by_share(limb: Limb, joints: Joints) -> tuple[list[float], list[float]]:
    """Shares along a limb, and where they are on its sheet, from above its root to beyond its end."""
    upper, lower = (joints.bend - joints.root) / limb.bend, (joints.end - joints.bend) / (1 - limb.bend)
    places = [joints.root - upper, joints.root, joints.bend, joints.end, joints.end + lower]
    return [-1.0, 0.0, limb.bend, 1.0, 2.0], places
