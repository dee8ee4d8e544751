"""Colours of cloth and skin."""

import numpy as np
import pytest

from engines.person.colour_models import Skin, cells_of, histogram, lab_of, likeness, log_density


def cloth(colour: tuple[int, int, int]) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    noise = np.random.default_rng(0).integers(-6, 7, (30, 30, 3))
    return (np.array(colour) + noise).astype(np.uint8)


def test_lab_of_white_and_black() -> None:
    assert lab_of(np.full((8, 8, 3), 255, np.uint8))[4, 4] == pytest.approx((100, 0, 0), abs=0.1)
    assert lab_of(np.zeros((8, 8, 3), np.uint8))[4, 4] == pytest.approx((0, 0, 0), abs=0.1)


def test_seen_colour_is_likelier_than_an_unseen_one() -> None:
    blue, red = cells_of(lab_of(cloth((40, 60, 160)))), cells_of(lab_of(cloth((180, 40, 40))))
    shares = histogram(blue, np.ones(blue.shape, bool))

    assert shares.sum() == pytest.approx(1, abs=1e-4)
    assert log_density(shares, blue, 0.1).min() > log_density(shares, red, 0.1).max()


def test_likeness_of_same_and_different_cloth() -> None:
    everywhere = np.ones((30, 30), bool)
    blue = histogram(cells_of(lab_of(cloth((40, 60, 160)))), everywhere)
    red = histogram(cells_of(lab_of(cloth((180, 40, 40)))), everywhere)

    assert likeness(blue, blue) == pytest.approx(1, abs=1e-3)
    assert likeness(blue, red) < 0.05


@pytest.mark.parametrize("skin_colour", [(224, 180, 155), (150, 100, 75), (80, 52, 40)])
def test_own_skin_is_likelier_than_cloth(skin_colour: tuple[int, int, int]) -> None:
    cheek = lab_of(cloth(skin_colour))
    skin = Skin([cheek.reshape(-1, 3)])

    shaded = lab_of(cloth(tuple(int(0.85 * value) for value in skin_colour)))  # type: ignore[arg-type]  # three stay three

    assert skin.log_density(shaded).mean() > skin.log_density(lab_of(cloth((40, 60, 160)))).mean() + 2


def test_shaded_skin_resembles_and_pale_metal_does_not() -> None:
    skin = Skin([lab_of(cloth((224, 180, 155))).reshape(-1, 3)])

    assert skin.resembles(np.median(lab_of(cloth((180, 144, 124))), axis=(0, 1)))
    assert not skin.resembles(np.median(lab_of(cloth((206, 196, 186))), axis=(0, 1)))


def test_skin_without_samples_takes_in_light_and_dark() -> None:
    unknown = Skin([])

    for colour in ((224, 180, 155), (120, 80, 60)):
        assert unknown.log_density(lab_of(cloth(colour))).mean() > -16
    assert unknown.log_density(lab_of(cloth((30, 200, 60)))).mean() < -17
