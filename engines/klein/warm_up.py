"""The picture that is drawn before the first customer comes."""

from __future__ import annotations

import math

import numpy as np
import torch

from engines.base import Category, Garment, Hints, PersonMap, Picture
from engines.generative.painter import PaintRequest, Reference
from engines.klein.references import MEGAPIXEL

GPU_GARMENT = (1024, 1024)
"""Pixels, height first: as large as a garment is ever shown."""

PROPORTIONS = 4 / 3
"""Height to width of the photo."""

SMALL_PICTURE = (256, 192)
"""Where a large picture takes minutes, and memory needs no test."""


def warm_up_request(device: torch.device, garments: int, person_megapixels: float) -> tuple[PaintRequest, float]:
    """On a CUDA GPU one pass as large as it can be, to see whether the memory suffices: every garment with its back.

    Args:
        device: Where it will be drawn.
        garments: How many there can be; on other devices one is drawn, without a back.
        person_megapixels: How large a photo is shown at most, in units of 2^20 pixels.

    Returns:
        The pass, and how many times as long a step takes for the largest photo: its time grows with the pixels, a
        little faster where they are many.
    """
    on_gpu = device.type == "cuda"
    largest = _photo_size(person_megapixels)
    photo = _noise(*(largest if on_gpu else SMALL_PICTURE), seed=0)
    person_map = PersonMap(
        labels=np.zeros(photo.shape[:2], np.uint8),
        matte=np.zeros(photo.shape[:2], np.uint8),
        landmarks=np.zeros((33, 4), np.float32),
        score=1.0,
    )
    references = [_garment(number, on_gpu=on_gpu) for number in range(garments if on_gpu else 1)]
    share = largest[0] * largest[1] / (photo.shape[0] * photo.shape[1])
    return PaintRequest(photo, person_map, references, seed=0), share


def _photo_size(megapixels: float) -> tuple[int, int]:
    """Height and width of a photo that is not smaller than allowed, so that it is shown as large as allowed."""
    width = math.ceil(math.sqrt(megapixels * MEGAPIXEL / PROPORTIONS))
    return math.ceil(PROPORTIONS * width), width


def _garment(number: int, *, on_gpu: bool) -> Reference:
    size = GPU_GARMENT if on_gpu else SMALL_PICTURE
    picture = _noise(*size, seed=1 + 2 * number)
    back = _noise(*size, seed=2 + 2 * number) if on_gpu else None
    hints = Hints(view_angle="back") if on_gpu else Hints()
    garment = Garment(picture, Category.UPPER_BODY, hints, back)
    return Reference(garment, picture, np.full(size, 255, np.uint8), back)


def _noise(height: int, width: int, seed: int) -> Picture:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
