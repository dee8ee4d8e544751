"""Each figure is exact on a picture whose truth was drawn, and falls when the picture is made worse."""

import cv2
import numpy as np
import pytest

from bench.engine import fidelity
from engines.base import Picture
from tests.bench.engine.pictures import SIDE, columns, everywhere, flat, noise


def from_lab(lightness: float, a: float, b: float) -> Picture:
    lab = np.full((SIDE, SIDE, 3), (lightness, a, b), np.float32)
    return np.rint(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB) * 255).astype(np.uint8)


def nowhere(picture: Picture) -> np.ndarray:
    return ~everywhere(picture)


def test_residue_is_the_share_that_was_left() -> None:
    before, after = noise(1), noise(2)
    old = columns(50, 150, before)
    after[:, 50:75] = before[:, 50:75]
    assert fidelity.residue(before, after, old, nowhere(before)) == pytest.approx(0.25, abs=0.01)
    after[:, 50:100] = before[:, 50:100]
    assert fidelity.residue(before, after, old, nowhere(before)) == pytest.approx(0.5, abs=0.01)


def test_no_residue_where_all_was_replaced() -> None:
    before, after = flat((180, 40, 40)), flat((30, 60, 160))
    assert fidelity.residue(before, after, everywhere(before), nowhere(before)) == 0.0


def test_slight_noise_hides_no_residue() -> None:
    before = flat((180, 40, 40))
    grain = np.random.default_rng(3).integers(-3, 4, before.shape)
    after = (before.astype(int) + grain).astype(np.uint8)
    assert fidelity.residue(before, after, everywhere(before), nowhere(before)) == 1.0


def test_single_pixels_alike_by_chance_are_no_residue() -> None:
    before, after = noise(1), noise(2)
    chosen = np.zeros(before.shape[:2], bool)
    chosen[::4, ::4] = True
    after[chosen] = before[chosen]
    assert fidelity.residue(before, after, everywhere(before), nowhere(before)) == 0.0


def test_unjudged_pixels_are_no_residue() -> None:
    before = flat((180, 40, 40))
    after = flat((30, 60, 160))
    after[:, :100] = before[:, :100]
    old = everywhere(before)
    assert fidelity.residue(before, after, old, columns(0, 100, before)) == 0.0
    assert fidelity.residue(before, after, old, columns(0, 50, before)) == pytest.approx(1 / 3, abs=0.01)
    assert fidelity.residue(before, after, old, old) is None


def test_alike_colours_are_found() -> None:
    picture = flat((180, 40, 40))
    picture[:, 100:] = (30, 60, 160)
    reds = fidelity.palette(flat((182, 42, 38)), everywhere(picture), 0.01)
    np.testing.assert_array_equal(fidelity.alike(picture, everywhere(picture), reds), columns(0, 100, picture))
    assert not fidelity.alike(picture, columns(100, 200, picture), reds).any()
    assert not fidelity.alike(picture, everywhere(picture), np.zeros((0, 3), np.float32)).any()


def test_rare_colours_are_not_of_the_palette() -> None:
    picture = flat((180, 40, 40))
    picture[0, :10] = (30, 60, 160)
    assert len(fidelity.palette(picture, everywhere(picture), 0.01)) == 1
    picture[:20] = (30, 60, 160)
    assert len(fidelity.palette(picture, everywhere(picture), 0.01)) == 2


def test_the_same_colour_in_shadow_is_the_same_and_another_is_not() -> None:
    lit = from_lab(60, 30, 20)
    assert fidelity.same_colour(lit, from_lab(46, 30, 20)).all()
    assert not fidelity.same_colour(lit, from_lab(60, 30, 34)).any()
    assert not fidelity.same_colour(lit, from_lab(30, 30, 20)).any()


def test_coverage_is_the_share_that_was_laid_and_is_seen() -> None:
    before, after = flat((180, 40, 40)), flat((30, 60, 160))
    region, unlike = columns(0, 100, before), nowhere(before)
    assert fidelity.coverage(before, after, region, columns(0, 100, before), unlike) == 1.0
    assert fidelity.coverage(before, after, region, columns(0, 80, before), unlike) == pytest.approx(0.8)
    after[:, :40] = before[:, :40]
    assert fidelity.coverage(before, after, region, columns(0, 80, before), unlike) == pytest.approx(0.4)
    assert fidelity.coverage(before, after, nowhere(before), region, unlike) is None


def test_cloth_of_the_old_colour_counts_as_seen() -> None:
    before = flat((180, 40, 40))
    whole = everywhere(before)
    assert fidelity.coverage(before, before.copy(), whole, whole, whole) == 1.0


def test_equal_share_counts_every_bit() -> None:
    before = noise(1)
    after = before.copy()
    assert fidelity.equal_share(before, after, everywhere(before)) == 1.0
    after[0, :100, 2] ^= 1
    assert fidelity.equal_share(before, after, everywhere(before)) == pytest.approx(1 - 100 / SIDE**2)
    assert fidelity.equal_share(before, after, columns(100, 200, before)) == 1.0
    assert fidelity.equal_share(before, after, nowhere(before)) is None


@pytest.mark.parametrize("shift", [3.0, 8.0])
def test_a_shift_in_hue_costs_what_it_measures(shift: float) -> None:
    shop, worn = from_lab(60, 10, 20), from_lab(60, 10 + shift, 20)
    measured = fidelity.colour(shop, everywhere(shop), worn, everywhere(worn))
    assert measured is not None
    assert measured.ab == pytest.approx(shift, abs=0.5)
    assert measured.lightness == pytest.approx(0, abs=0.3)
    assert measured.exposure == pytest.approx(0, abs=0.3)


def test_less_light_is_exposure_and_no_colour() -> None:
    shop = noise(5) // 2 + 100
    linear = (shop / 255.0) ** 2.2
    dim = np.rint((linear * 0.6) ** (1 / 2.2) * 255).astype(np.uint8)
    measured = fidelity.colour(shop, everywhere(shop), dim, everywhere(dim))
    assert measured is not None
    assert measured.exposure < -10
    assert measured.ab < 0.7
    assert measured.lightness < 0.7


def test_lost_contrast_is_lightness() -> None:
    shop = flat((60, 60, 60))
    shop[::2] = (200, 200, 200)
    faded = flat((100, 100, 100))
    faded[::2] = (160, 160, 160)
    blended = cv2.addWeighted(shop, 0.9, flat((130, 130, 130)), 0.1, 0)
    figures = [fidelity.colour(shop, everywhere(shop), worn, everywhere(shop)) for worn in (shop, blended, faded)]
    lightness = [figure.lightness for figure in figures if figure]
    assert lightness[0] == pytest.approx(0, abs=1e-6)
    assert lightness[0] < lightness[1] < lightness[2]


def test_where_colours_lie_does_not_matter() -> None:
    shop = noise(7)
    worn = shop[::-1, ::-1].copy()
    measured = fidelity.colour(shop, everywhere(shop), worn, everywhere(worn))
    assert measured is not None
    assert measured.ab < 1e-3
    assert fidelity.colour(shop, everywhere(shop), worn, columns(0, 0, worn)) is None


def test_likeness_falls_with_blur() -> None:
    truth = cv2.GaussianBlur(noise(8), (0, 0), 2)
    zone = columns(50, 150, truth)
    figures = [
        fidelity.likeness(truth, after, zone)
        for after in (truth, cv2.GaussianBlur(truth, (0, 0), 1), cv2.GaussianBlur(truth, (0, 0), 4))
    ]
    assert figures[0] == pytest.approx(1.0)
    assert figures[0] > figures[1] > figures[2]


def test_likeness_looks_into_the_zone_only() -> None:
    truth = cv2.GaussianBlur(noise(8), (0, 0), 2)
    after = truth.copy()
    after[:, :20] = 0
    assert fidelity.likeness(truth, after, columns(50, 150, truth)) == pytest.approx(1.0)
    assert fidelity.likeness(truth, after, columns(0, 20, truth)) < 0.2
