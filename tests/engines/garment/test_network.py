"""The trained network: what it says is laid back where the picture is, and a mirrored picture shows the same."""

from __future__ import annotations

import numpy as np
import pytest

from api.dashboard.samples import pixels_of
from engines.garment.network import MIRRORED_POINTS, SIZE, Kind, Part, Point, Seen, square_of
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import network


@pytest.fixture(scope="module")
def seen() -> Seen:
    return network().look(draw_garment("long sleeve").picture)


def test_the_whole_picture_is_in_the_square() -> None:
    matrix = square_of(800, 400)
    corners = np.array([[0, 0], [399, 799]]) @ matrix[:, :2].T + matrix[:, 2]
    assert corners.min() > 0
    assert corners.sum(axis=0) == pytest.approx(SIZE - 1), "in its middle"


def test_a_margin_around_the_picture_moves_what_is_seen(seen: Seen) -> None:
    picture = draw_garment("long sleeve").picture
    padded = np.pad(picture, ((40, 40), (40, 40), (0, 0)))
    moved = network().look(padded, 40)
    assert np.abs(moved.points - 40 - seen.points).max() < 0.01
    height, width = picture.shape[:2]
    whole = moved.chance(Part.GROUND, height + 80, width + 80)[40:-40, 40:-40]
    assert np.abs(whole - seen.chance(Part.GROUND, height, width)).max() < 0.01


def test_parts_and_kind_of_a_jumper(seen: Seen) -> None:
    drawn = draw_garment("long sleeve")
    parts = seen.parts(*drawn.mask.shape)
    cloth = drawn.mask > 0
    for part, side in ((Part.LEFT_SLEEVE, -1), (Part.RIGHT_SLEEVE, 1)):
        columns = np.nonzero(cloth & (parts == part))[1]
        assert side * (np.median(columns) - drawn.axis) > 0.15 * drawn.mask.shape[0]
    assert seen.kinds[[Kind.TOP, Kind.OUTERWEAR]].sum() > 0.5
    assert seen.steady > 0.9


def test_a_mirrored_picture_has_the_mirrored_landmarks(seen: Seen) -> None:
    picture = draw_garment("long sleeve").picture
    mirrored = network().look(np.ascontiguousarray(picture[:, ::-1])).points[MIRRORED_POINTS]
    mirrored[:, 0] = picture.shape[1] - 1 - mirrored[:, 0]
    upper = [Point.NECK_LEFT, Point.SHOULDER_RIGHT, Point.ARMPIT_LEFT, Point.CUFF_RIGHT_OUTER, Point.HEM_LEFT]
    assert np.abs(mirrored - seen.points)[upper].max() < 0.02 * max(picture.shape)


@pytest.mark.parametrize(
    ("sample", "kind"),
    [("plain_tee", Kind.TOP), ("denim_jeans", Kind.TROUSERS), ("summer_dress", Kind.DRESS)],
)
def test_kinds_of_the_samples(sample: str, kind: Kind) -> None:
    seen = network().look(pixels_of(sample))
    assert seen.kinds[kind] > 0.5
    assert seen.unsure < 0.25
