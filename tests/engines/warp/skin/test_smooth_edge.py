"""The outline of a bare leg is one smooth line."""

import numpy as np

from engines.warp.body.bare_parts import BarePart
from engines.warp.skin.smooth_edge import antialiased, with_straight_legs

UNIT = 200.0


def leg(slope: float) -> BarePart:
    """A strip of a leg that runs aside by so much for each row."""
    rows, columns = np.indices((300, 400), np.float32)
    aside = np.abs(columns - 40.0 - slope * rows) if slope <= 1.0 else np.abs(rows - 40.0 - columns / slope)
    on = (aside < 30.0) & (rows > 20) & (rows < 280) & (columns < 380)
    nothing = np.zeros(on.shape, np.float32)
    return BarePart(on, nothing, nothing, bend=0.5)


def straightened(part: BarePart) -> tuple[np.ndarray, np.ndarray]:
    plain = antialiased(part.on)
    cover = plain.copy()
    with_straight_legs(cover, part.on, [part], UNIT)
    return plain, cover


def roughness(cover: np.ndarray) -> float:
    """How far the right edge is off a straight line, pixels."""
    rows = np.arange(80, 220)
    # Column 50 lies within the leg in all of these rows.
    edge = cover[80:220, 50:].sum(axis=1)
    return float((edge - np.polyval(np.polyfit(rows, edge, 1), rows)).std())


def test_the_steps_of_an_upright_leg_are_straightened() -> None:
    plain, cover = straightened(leg(0.06))
    assert roughness(cover) < 0.5 * roughness(plain)


def test_its_ends_stay_where_they_are() -> None:
    plain, cover = straightened(leg(0.06))
    for rows in (np.s_[:24], np.s_[277:]):
        np.testing.assert_allclose(cover[rows], plain[rows], atol=0.02)


def test_a_leg_that_lies_stays_as_it_is() -> None:
    plain, cover = straightened(leg(4.0))
    np.testing.assert_array_equal(cover, plain)


def test_the_edge_of_a_leg_is_as_sharp_as_that_of_a_leg_in_a_photo() -> None:
    _, cover = straightened(leg(0.06))
    mixed = (cover[80:220, 50:] > 0.05) & (cover[80:220, 50:] < 0.95)
    assert 0.4 < mixed.sum(axis=1).mean() < 1.6
