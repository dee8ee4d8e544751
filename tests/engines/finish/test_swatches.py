"""The colours of a garment are found again in another light, and no others are."""

import cv2
import numpy as np

from engines.finish.swatches import colours_seen


def lab(pixels: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(pixels[None].astype(np.float32) / 255.0, cv2.COLOR_RGB2LAB)[0]


def plain_red() -> np.ndarray:
    noise = np.random.default_rng(0).normal(0.0, 2.0, (2000, 3))
    return np.clip(np.array([170.0, 60.0, 70.0]) + noise, 0, 255).astype(np.uint8)


def test_plain_cloth_in_weaker_light_shows_its_colours() -> None:
    red = plain_red()
    assert colours_seen(red, lab((red * 0.88).astype(np.uint8))) > 0.95


def test_cloth_of_another_colour_does_not() -> None:
    red = plain_red()
    assert colours_seen(red, lab(red[:, ::-1])) < 0.05


def test_cloth_in_a_dark_photo_is_known_once_the_light_is() -> None:
    red = plain_red()
    dark = lab((red * 0.4).astype(np.uint8))
    assert colours_seen(red, dark) < 0.25
    assert colours_seen(red, dark, 0.4) > 0.95
    assert colours_seen(red[:, ::-1], dark, 0.4) < 0.05
