"""Other pictures of the ones there are: clothes in other colours, other grounds, other cameras."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture

Chance = np.random.Generator
Floats = NDArray[np.float32]
Region = NDArray[np.bool_]


def recoloured(
    photo: Picture,
    drawn: Floats,
    region: Region,
    colour: NDArray[np.float64],
    *,
    softness: float,
    chance: Chance,
    plain: bool = False,
) -> Floats:
    """What was drawn so far, with a region in another colour or a pattern, under the folds that the photo has there.

    Args:
        photo: ``(height, width, 3)``, whose light and shade stay.
        drawn: ``(height, width, 3)``, 0 to 255.
        region: ``(height, width)``.
        colour: ``(3,)``, 0 to 255.
        softness: Share of the folds' depth that is kept, 0 to 1.
        chance: Where all randomness comes from.
        plain: Whether it may not have a pattern.
    """
    cloth = np.broadcast_to(colour, drawn.shape).astype(np.float32)
    if not plain and chance.random() < 0.3:
        cloth = _patterned(cloth, chance)
    lit = cloth * (1 + (_relief(photo, region) - 1) * softness)[..., None]
    share = cv2.GaussianBlur(region.astype(np.float32), (3, 3), 0.6)[..., None] * (
        1.0 if plain else chance.uniform(0.75, 1.0)
    )
    return np.asarray(share * lit + (1 - share) * drawn, np.float32)


def _patterned(cloth: Floats, chance: Chance) -> Floats:
    """Cloth with stripes, checks, dots or blots of a second colour."""
    height, width = cloth.shape[:2]
    rows, columns = np.mgrid[:height, :width]
    step, turn = chance.uniform(4, 24), chance.choice([0.0, np.pi / 2, np.pi / 4, chance.uniform(0, np.pi)])
    wave = np.sin((rows * np.cos(turn) + columns * np.sin(turn)) * 2 * np.pi / step)
    kind = chance.random()
    if kind < 0.35:  # checks or dots
        wave = wave * np.sin((columns * np.cos(turn) - rows * np.sin(turn)) * 2 * np.pi / step)
    elif kind < 0.65:  # blots
        wave = cv2.resize(
            chance.normal(size=(max(height // int(step), 2), max(width // int(step), 2))), (width, height)
        )
    marks = (wave > chance.uniform(-0.3, 0.8))[..., None]
    return np.where(marks, chance.uniform(0, 255, 3), cloth).astype(np.float32)


def _relief(photo: Picture, region: Region) -> Floats:
    """How light each pixel is against the mean of a region: its folds and shades, ``(height, width)``."""
    grey = cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return np.clip(grey / max(float(grey[region].mean()), 12.0), 0.35, 1.7)


def made_ground(shape: tuple[int, ...], chance: Chance) -> Floats:
    """``(height, width, 3)``, 0 to 255: white or grey as in a catalogue, of any colour, or blots."""
    height, width = shape
    kind = chance.random()
    if kind < 0.45:
        new = np.full((height, width, 3), chance.uniform(215, 255), np.float32) + chance.normal(size=3) * 3
    elif kind < 0.8:
        new = np.full((height, width, 3), 0.0, np.float32) + (
            chance.uniform(40, 240, 3) if chance.random() < 0.5 else chance.uniform(90, 215)
        )
    else:
        coarse = chance.normal(size=(int(chance.integers(3, 24)), int(chance.integers(3, 18)), 3))
        coarse = coarse * chance.uniform(10, 70) + chance.uniform(30, 225, 3)
        new = cv2.resize(coarse.astype(np.float32), (width, height))
    if chance.random() < 0.6:
        down, aside = np.linspace(-1, 1, height)[:, None, None], np.linspace(-1, 1, width)[None, :, None]
        new = new + down * chance.uniform(-30, 30) + aside * chance.uniform(-25, 25)
    return np.asarray(new, np.float32)


def pale_ground(shape: tuple[int, ...], chance: Chance) -> Floats:
    """``(height, width, 3)``, 0 to 255: nearly white, a little darker to one side."""
    down = np.linspace(0, 1, shape[0], dtype=np.float32)[:, None, None] * np.float32(chance.uniform(-12, 12))
    return np.asarray(down + chance.uniform(228, 255) + chance.normal(size=3) * 2 + np.zeros((*shape, 3)), np.float32)


def laid_before(ground: Floats, photo: Picture, thing: Region, chance: Chance) -> Picture:
    """A photo's person or garment before another ground, most often with its shadow on that."""
    beside = (~thing).astype(np.float32)
    share = cv2.GaussianBlur(beside, (0, 0), chance.uniform(0.5, 1.2))[..., None]
    if chance.random() < 0.4:
        moved = np.roll(1 - beside, tuple(chance.integers(-14, 15, 2)), (0, 1))
        cast = cv2.GaussianBlur(moved, (0, 0), chance.uniform(3, 12))
        ground = ground * (1 - cast[..., None] * chance.uniform(0.1, 0.5))
    return np.clip(photo * (1 - share) + ground * share, 0, 255).astype(np.uint8)


def photographed(photo: Picture, chance: Chance) -> Picture:
    """Another camera: white balance, exposure, contrast, noise, blur, JPEG."""
    gains = np.exp(chance.normal(size=3) * 0.06) * np.exp(chance.normal() * 0.15)
    ramp = np.arange(256, dtype=np.float32)[:, None] * gains
    ramp = (ramp - 128) * np.exp(chance.normal() * 0.15) + 128 + chance.normal() * 12
    photo = cv2.LUT(np.ascontiguousarray(photo), np.clip(ramp, 0, 255).astype(np.uint8)[None])
    if chance.random() < 0.1:
        grey = cv2.cvtColor(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
        photo = cv2.addWeighted(photo, 0.3, grey, 0.7, 0)
    blurred = chance.random()
    if blurred < 0.2:
        photo = cv2.GaussianBlur(photo, (0, 0), chance.uniform(0.4, 1.4))
    elif blurred < 0.35:
        small = cv2.resize(photo, None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA)
        photo = cv2.resize(small, photo.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    if chance.random() < 0.25:
        noise = chance.normal(size=(64, 64, 3)) * chance.uniform(2, 9)
        height, width = photo.shape[:2]
        tiles = np.tile(noise, (-(-height // 64), -(-width // 64), 1))[:height, :width]
        photo = np.clip(photo + tiles, 0, 255).astype(np.uint8)
    if chance.random() < 0.25:
        coded = cv2.imencode(".jpg", photo, [cv2.IMWRITE_JPEG_QUALITY, int(chance.integers(35, 92))])[1]
        photo = cv2.imdecode(coded, cv2.IMREAD_COLOR)
    return np.asarray(photo, np.uint8)
