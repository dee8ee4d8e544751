"""The parts, landmarks and kind of a garment in a picture, by the network that ``training/garment`` trained."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.framing import centred, framed, reduced
from engines.onnx import OnnxNetwork, softmax
from engines.settling import sigmoid

SIZE = 256
"""Side of the square that the network sees."""

REDUCED = 2
"""Factor by which its output is smaller."""

MARGIN = 0.05
"""Room around the picture in the square, as a share of it: what touches the picture's edge still has an outside."""

BEYOND = 118
"""Grey of what the square holds beyond the picture."""

MODEL = Path(__file__).with_name("garment.onnx")

Floats = NDArray[np.float32]


class Part(IntEnum):
    """What a pixel may be, in the order of the network's planes. Left and right are those of the picture."""

    GROUND = 0
    BODY = 1
    LEFT_SLEEVE = 2
    RIGHT_SLEEVE = 3
    LEFT_LEG = 4
    RIGHT_LEG = 5
    BACK = 6
    """The inside of the back, seen through the neck opening."""


class Point(IntEnum):
    """Landmarks, in the order of the network's planes after those of `Part`.

    ``training/garment/marks.py`` says which place of a garment each of them is.
    """

    NECK_LEFT = 0
    NECK_RIGHT = 1
    SHOULDER_LEFT = 2
    SHOULDER_RIGHT = 3
    ARMPIT_LEFT = 4
    ARMPIT_RIGHT = 5
    CUFF_LEFT_OUTER = 6
    CUFF_RIGHT_OUTER = 7
    CUFF_LEFT_INNER = 8
    CUFF_RIGHT_INNER = 9
    WAIST_LEFT = 10
    WAIST_RIGHT = 11
    HEM_LEFT = 12
    HEM_RIGHT = 13
    CROTCH = 14
    HEM_LEFT_INNER = 15
    HEM_RIGHT_INNER = 16


class Kind(IntEnum):
    """What a garment is, in the order of the network's numbers about the whole picture."""

    TOP = 0
    OUTERWEAR = 1
    TROUSERS = 2
    SHORTS = 3
    SKIRT = 4
    DRESS = 5
    JUMPSUIT = 6


WHOLE = len(Kind) + len(Point)
"""Numbers about the whole picture: logits of the kinds, and of each landmark being there."""

MIRRORED_PARTS = [0, 1, 3, 2, 5, 4, 6]
MIRRORED_POINTS = [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 14, 16, 15]
"""The part and the landmark that takes a place in a mirrored picture."""


def square_of(height: int, width: int) -> NDArray[np.float64]:
    """``(2, 3)``, from pixels of a picture to pixels of the square, with the picture in its middle."""
    scale = SIZE / (1 + 2 * MARGIN) / max(height, width)
    return centred(scale, (width / 2, height / 2), (SIZE, SIZE))


@dataclass(frozen=True)
class Seen:
    """What the network says of a picture, in the picture's pixels.

    Attributes:
        planes: ``(len(Part), side, side)`` chances of the parts, 0 to 1, in pixels of the answer.
        matrix: ``(2, 3)``, from pixels of the picture to those of the answer.
        points: ``(len(Point), 2)`` x and y.
        sure: ``(len(Point),)`` share of a landmark's heat that lies near it, 0 to 1.
        there: ``(len(Point),)`` chance that the picture shows such a landmark at all.
        kinds: ``(len(Kind),)`` chances, together 1.
        steady: Overlap of the garment in the picture and in its mirror image, 0 to 1.
    """

    planes: Floats
    matrix: NDArray[np.float64]
    points: Floats
    sure: Floats
    there: Floats
    kinds: Floats
    steady: float

    @property
    def unsure(self) -> float:
        """Area about which it is not clear whether it is the garment, over that of the garment; an outline has 0.1."""
        ground = self.planes[Part.GROUND]
        return float(((ground > 0.15) & (ground < 0.85)).sum() / max(int((ground < 0.5).sum()), 1))

    def chance(self, part: Part, height: int, width: int) -> Floats:
        """``(height, width)``: how likely each pixel is a part, smooth, since one of the answer is several of them."""
        flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
        laid = cv2.warpAffine(
            self.planes[part], self.matrix, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE
        )
        return np.clip(laid, 0.0, 1.0, out=np.asarray(laid, np.float32))

    def parts(self, height: int, width: int) -> NDArray[np.uint8]:
        """``(height, width)`` of `Part`, the likeliest one that is no ground."""
        best = self.chance(Part.BODY, height, width)
        parts = np.full((height, width), Part.BODY, np.uint8)
        for part in list(Part)[Part.BODY + 1 :]:
            if self.planes[part].max() > 1 / len(Part):
                chance = self.chance(part, height, width)
                np.copyto(parts, np.uint8(part), where=chance > best)
                np.maximum(best, chance, out=best)
        return parts


class GarmentNetwork:
    """The trained network. Safe to call from several threads, one at a time.

    Args:
        path: Its ONNX file.
    """

    def __init__(self, path: Path = MODEL) -> None:
        self._network = OnnxNetwork(path, ("logits", "whole"))

    def look(self, picture: Picture, margin: int = 0) -> Seen:
        """The network's answer for a picture, averaged with that for its mirror image.

        Args:
            picture: ``(height, width, 3)`` of one garment.
            margin: Pixels around the picture that are none of it.
        """
        height, width = picture.shape[:2]
        inner = picture[margin : height - margin, margin : width - margin]
        matrix = square_of(*inner.shape[:2])
        drawn = framed(inner, matrix, (SIZE, SIZE), BEYOND).transpose(2, 0, 1)
        logits, whole = self._network.run(np.stack([drawn, drawn[..., ::-1]]).astype(np.float32))
        planes = softmax(logits[:, : len(Part)], axis=1)
        turned = planes[1, MIRRORED_PARTS, :, ::-1]
        cloth, other = planes[0, Part.GROUND] < 0.5, turned[Part.GROUND] < 0.5
        heat = softmax(logits[:, len(Part) :].reshape(2, len(Point), -1), axis=2)
        heat = heat.reshape(2, len(Point), *planes.shape[2:])
        points, sure = _peaks(0.5 * (heat[0] + heat[1, MIRRORED_POINTS, :, ::-1]))
        matrix[:, 2] -= matrix[:, :2] @ (margin, margin)
        matrix = reduced(matrix, REDUCED)
        back = cv2.invertAffineTransform(matrix)
        there = sigmoid(whole[:, len(Kind) :])
        return Seen(
            planes=(0.5 * (planes[0] + turned)).astype(np.float32),
            matrix=matrix,
            points=(points @ back[:, :2].T + back[:, 2]).astype(np.float32),
            sure=sure,
            there=0.5 * (there[0] + there[1, MIRRORED_POINTS]),
            kinds=softmax(whole[:, : len(Kind)], axis=1).mean(axis=0).astype(np.float32),
            steady=float((cloth & other).sum() / max((cloth | other).sum(), 1)),
        )


def _peaks(heat: Floats, reach: int = 3) -> tuple[Floats, Floats]:
    """``(n, 2)`` x and y of each plane's warmest place, between its pixels, and the share of the heat around it."""
    padded = np.pad(heat, ((0, 0), (reach, reach), (reach, reach)))
    around = np.arange(-reach, reach + 1, dtype=np.float32)
    points, shares = np.zeros((len(heat), 2), np.float32), np.zeros(len(heat), np.float32)
    for number, plane in enumerate(heat):
        row, column = np.unravel_index(int(plane.argmax()), plane.shape)
        near = padded[number, row : row + 2 * reach + 1, column : column + 2 * reach + 1]
        shares[number] = near.sum()
        total = max(float(shares[number]), 1e-9)
        points[number] = column + (near.sum(0) @ around) / total, row + (near.sum(1) @ around) / total
    return points, shares
