"""Painters with small networks, and what is asked of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engines.base import Category, Garment, PersonMap, Picture
from engines.fashn.painter import FashnPainter
from engines.generative.painter import Painter, PaintRequest, Reference

STEPS = 3


def painter_of(folder: Path, *, device: str = "cpu", batch_size: int = 4, wait_s: float = 0.0) -> FashnPainter:
    return FashnPainter(folder, device=device, steps=STEPS, batch_size=batch_size, batch_wait_s=wait_s)


def request_for(
    seed: int = 0, *, colour: int = 200, category: Category = Category.UPPER_BODY, size: tuple[int, int] = (96, 60)
) -> PaintRequest:
    person = np.random.default_rng(1).integers(0, 256, (*size, 3), np.uint8)
    photo = np.full((40, 40, 3), 255, np.uint8)
    photo[8:32, 8:32] = colour
    cover = np.where(photo[..., 0] < 255, 255, 0).astype(np.uint8)
    blank = np.zeros(size, np.uint8)
    nobody = PersonMap(blank, blank, np.zeros((33, 4), np.float32), 0.0)
    return PaintRequest(person, nobody, [Reference(Garment(photo, category), photo, cover)], seed)


def paint(painter: Painter, request: PaintRequest) -> Picture:
    return painter.paint(request, lambda _: None, lambda: False)
