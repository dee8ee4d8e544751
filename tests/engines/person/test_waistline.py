"""Where top and bottom meet, from colours alone."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.person.waistline import waist_row
from tests.engines.person.drawn_body import HEIGHT, WIDTH, drawn_body

BLUE, RED, GREEN, BEIGE = (30.0, 5.0, -40.0), (45.0, 55.0, 35.0), (50.0, -35.0, 30.0), (70.0, 12.0, 20.0)
EVERYBODY = np.ones((HEIGHT, WIDTH), np.bool_)
NOBODY = ~EVERYBODY


def bands(*ends_and_colours: tuple[float, tuple[float, float, float]]) -> NDArray[np.float32]:
    """CIELAB of bands across the body, each down to a height: shoulders 0, hips 1."""
    lab = np.empty((HEIGHT, WIDTH, 3), np.float32)
    for end, colour in reversed(ends_and_colours):
        lab[drawn_body().height < end] = colour
    return lab + np.random.default_rng(0).normal(0, 2, lab.shape).astype(np.float32)


@pytest.mark.parametrize("waist", [0.7, 0.92, 1.2, 1.5])
def test_waist_is_where_the_colours_change(waist: float) -> None:
    lab = bands((waist, BLUE), (9, RED))

    assert waist_row(drawn_body(), lab, EVERYBODY, NOBODY) == pytest.approx(waist, abs=0.03)


def test_seam_of_a_top_in_two_colours_is_not_its_end() -> None:
    lab = bands((0.5, BLUE), (1.1, RED), (9, GREEN))

    assert waist_row(drawn_body(), lab, EVERYBODY, NOBODY) == pytest.approx(1.1, abs=0.03)


def test_short_top_over_a_skirt_that_is_lit_from_below_is_short() -> None:
    lab = bands((0.5, BLUE), (1.68, RED), (9, GREEN))

    assert waist_row(drawn_body(), lab, EVERYBODY, NOBODY) == pytest.approx(0.5, abs=0.03)


def test_print_on_the_chest_is_not_the_end_of_the_top() -> None:
    lab = bands((0.4, BLUE), (0.55, RED), (1.1, BLUE), (9, GREEN))

    assert waist_row(drawn_body(), lab, EVERYBODY, NOBODY) == pytest.approx(1.1, abs=0.03)


def test_skin_has_no_say_unless_the_top_has_its_colour() -> None:
    body = drawn_body()
    midriff = (body.height > 0.5) & (body.height < 0.8)
    cropped = waist_row(body, bands((0.5, BLUE), (0.8, BEIGE), (9, GREEN)), EVERYBODY, midriff)
    beige_top = waist_row(body, bands((1.1, BEIGE), (9, GREEN)), EVERYBODY, body.height < 1.1)

    assert cropped is not None
    assert 0.47 < cropped < 0.83
    assert beige_top == pytest.approx(1.1, abs=0.03)


def test_one_colour_has_no_waist() -> None:
    assert waist_row(drawn_body(), bands((9, BLUE)), EVERYBODY, NOBODY) is None


def test_torso_outside_the_photo_has_no_waist() -> None:
    assert waist_row(drawn_body(), bands((9, BLUE)), NOBODY, NOBODY) is None


def test_belt_belongs_to_the_bottom() -> None:
    lab = bands((0.9, BLUE), (0.94, GREEN), (9, RED))

    found = waist_row(drawn_body(), lab, EVERYBODY, NOBODY)

    assert found is not None
    assert 0.87 < found < 0.92


def test_photo_that_ends_above_the_hips_shows_a_bottom_only_where_it_is_plain() -> None:
    body = drawn_body()
    seen = body.height < 0.95
    pocket = bands((0.75, BLUE), (9, BLUE))
    pocket[(body.height > 0.75) & (body.aside < 0.1)] = RED

    assert waist_row(body, pocket, seen, NOBODY) is None
    assert waist_row(body, bands((0.7, BLUE), (9, RED)), seen, NOBODY) == pytest.approx(0.7, abs=0.03)
