"""Prepares pictures as the network was trained to see them, and converts its pictures back."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from engines.base import Mask, Picture

GREY = 127
"""Ground around a garment that was cut out of a photo of somebody."""


@dataclass(frozen=True)
class Frame:
    """Where a picture lies inside the network's frame, in pixels of the latter.

    Attributes:
        left: Columns of padding before it.
        top: Rows of padding above it.
        width: Its own columns.
        height: Its own rows.
    """

    left: int
    top: int
    width: int
    height: int


def fitted(picture: Picture, longest: int) -> Picture:
    """Reduce a picture until no side is longer than ``longest``; it is never enlarged here.

    Args:
        picture: ``(h, w, 3)``.
        longest: Pixels.
    """
    height, width = picture.shape[:2]
    scale = min(longest / height, longest / width)
    if scale >= 1.0:
        return picture
    size = max(1, int(width * scale)), max(1, int(height * scale))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))


def frame_for(height: int, width: int, frame: tuple[int, int]) -> Frame:
    """Where a picture of that size lies in a frame when it is scaled to fit.

    An odd pixel of padding goes to the right and to the bottom.

    Args:
        height: Of the picture.
        width: Of the picture.
        frame: Height and width.
    """
    scale = min(frame[1] / width, frame[0] / height)
    rows, columns = max(1, int(height * scale)), max(1, int(width * scale))
    return Frame((frame[1] - columns) // 2, (frame[0] - rows) // 2, columns, rows)


def padded(picture: Picture, frame: tuple[int, int]) -> tuple[Picture, Frame]:
    """Bring a picture to the network's frame, black around it.

    Args:
        picture: ``(h, w, 3)``.
        frame: Height and width.

    Returns:
        ``(*frame, 3)``, and where the picture lies in it.
    """
    place = frame_for(picture.shape[0], picture.shape[1], frame)
    larger = place.height > picture.shape[0] or place.width > picture.shape[1]
    return _laid(picture, place, frame, cv2.INTER_LANCZOS4 if larger else cv2.INTER_AREA), place


def padded_map(drawn: Mask, frame: tuple[int, int]) -> Mask:
    """Bring a pose map to the network's frame; its grey values name limbs and are never mixed.

    Args:
        drawn: ``(h, w)``.
        frame: Height and width.
    """
    return _laid(drawn, frame_for(drawn.shape[0], drawn.shape[1], frame), frame, cv2.INTER_NEAREST_EXACT)


def as_tensor(picture: NDArray[np.uint8]) -> Tensor:
    """``(h, w, 3)`` or ``(h, w)`` of 0 to 255 as ``(channels, h, w)`` float32 of -1 to 1."""
    channels = picture[..., None] if picture.ndim == 2 else picture
    return torch.from_numpy(np.ascontiguousarray(channels.transpose(2, 0, 1))).float() / 127.5 - 1.0


def as_picture(drawn: Tensor, place: Frame) -> Picture:
    """The part of a network's picture that is no padding.

    Args:
        drawn: ``(3, height, width)`` float32, -1 to 1; what lies beyond is cut.
        place: Where the picture lies in it.

    Returns:
        ``(place.height, place.width, 3)``; values are cut to whole numbers, not rounded, as the published code does.
    """
    inside = drawn[:, place.top : place.top + place.height, place.left : place.left + place.width]
    values = (inside.clamp(-1.0, 1.0) + 1.0) / 2.0 * 255.0
    return np.ascontiguousarray(values.permute(1, 2, 0).to(torch.uint8).cpu().numpy())


def on_grey(picture: Picture, cover: Mask) -> Picture:
    """Lay a garment that was cut out on the grey ground on which the network knows such garments.

    Args:
        picture: ``(h, w, 3)``.
        cover: ``(h, w)``, how much of each pixel is garment.
    """
    share = cover[..., None].astype(np.float32) / 255.0
    laid: Picture = np.rint(picture * share + GREY * (1.0 - share)).astype(np.uint8)
    return laid


def _laid(picture: NDArray[np.uint8], place: Frame, frame: tuple[int, int], resampling: int) -> NDArray[np.uint8]:
    resized = cv2.resize(picture, (place.width, place.height), interpolation=resampling)
    canvas: NDArray[np.uint8] = np.zeros((*frame, *picture.shape[2:]), np.uint8)
    canvas[place.top : place.top + place.height, place.left : place.left + place.width] = resized
    return canvas
