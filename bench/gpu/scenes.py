"""What the networks are shown while they are measured: a photo of 768 by 1024 and product photos of usual size."""

from __future__ import annotations

import numpy as np

from engines.base import Category, Garment, PersonMap, Picture
from engines.generative.painter import PaintRequest, Reference

PHOTO, PRODUCT = (1024, 768), (800, 700)
"""Height and width, pixels."""


def paint_request(garments: int, photo: tuple[int, int] = PHOTO, product: tuple[int, int] = PRODUCT) -> PaintRequest:
    """One pass; every call shows other garments, so that nothing comes out of a cache."""
    generator = np.random.default_rng()

    def noise(size: tuple[int, int]) -> Picture:
        return generator.integers(0, 256, (*size, 3), np.uint8)

    person_map = PersonMap(
        labels=np.zeros(photo, np.uint8),
        matte=np.zeros(photo, np.uint8),
        landmarks=np.zeros((33, 4), np.float32),
        score=1.0,
    )
    pictures = [noise(product) for _ in range(garments)]
    references = [
        Reference(Garment(picture, Category.UPPER_BODY), picture, np.full(product, 255, np.uint8))
        for picture in pictures
    ]
    return PaintRequest(noise(photo), person_map, references, seed=0)
