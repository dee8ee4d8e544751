"""The picture that is drawn before the first customer comes."""

from __future__ import annotations

import numpy as np
import torch

from engines.base import Category, Garment, PersonMap, Picture
from engines.generative.painter import PaintRequest, Reference

GPU_PHOTO, GPU_GARMENT = (1152, 864), (1024, 1024)
"""Pixels, height first: as large as the default settings allow, to see whether the memory suffices."""

CPU_PICTURE = (64, 64)
"""On a CPU a large picture takes minutes, and memory is found when it is asked for."""


def warm_up_request(device: torch.device, garments: int) -> PaintRequest:
    """One pass with as many garments as there can be, each without hints.

    Args:
        device: Where it will be drawn.
        garments: How many.
    """
    on_gpu = device.type == "cuda"
    photo = _noise(*(GPU_PHOTO if on_gpu else CPU_PICTURE), seed=0)
    person_map = PersonMap(
        labels=np.zeros(photo.shape[:2], np.uint8),
        matte=np.zeros(photo.shape[:2], np.uint8),
        landmarks=np.zeros((33, 4), np.float32),
        score=1.0,
    )
    pictures = [_noise(*(GPU_GARMENT if on_gpu else CPU_PICTURE), seed=1 + number) for number in range(garments)]
    references = [
        Reference(Garment(picture, Category.UPPER_BODY), picture, np.full(picture.shape[:2], 255, np.uint8))
        for picture in pictures
    ]
    return PaintRequest(photo, person_map, references, seed=0)


def _noise(height: int, width: int, seed: int) -> Picture:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
