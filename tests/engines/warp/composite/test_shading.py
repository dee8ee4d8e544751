import numpy as np
import pytest

from engines.base import PersonMap
from engines.warp.composite.shading import BRIGHTEST, BRIGHTEST_BLACK, DARKEST, bounded, exposure, folds_of_old_cloth
from engines.warp.composite.shadows import contact_shadow, shaded, shadow_of_cuffs
from tests.engines.mannequin import draw_mannequin

UNIT = 120.0


def plain_cloth() -> tuple[np.ndarray, np.ndarray]:
    """A photo of plain cloth with a soft fold down its middle, and the cloth's mask."""
    x = np.arange(300)
    fold = 0.5 * (1 - 0.15 * np.exp(-(((x - 150) / 12) ** 2)))
    photo = np.repeat(np.broadcast_to(fold, (400, 300))[..., None], 3, axis=2).astype(np.float32)
    mask = np.zeros((400, 300), bool)
    mask[20:380, 20:280] = True
    return photo, mask


def test_folds_of_plain_cloth_are_taken_over() -> None:
    photo, mask = plain_cloth()
    seen = folds_of_old_cloth(photo, mask, mask, UNIT)
    assert seen.change[200, 150] < -0.04
    assert abs(seen.change[200, 60]) < 0.04


def creased_cloth(colour: tuple[float, ...], deep: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    """A photo of cloth with a weave and a sharp crease down its middle, and the cloth's mask."""
    photo, mask = plain_cloth()
    crease = 1 - deep * np.exp(-np.abs(np.arange(300) - 150) / 3)
    weave = 1 + 0.02 * np.random.default_rng(0).normal(size=(400, 300))
    photo[:] = crease[None, :, None] * weave[..., None] * np.array(colour)
    return photo, mask


def steepest(change: np.ndarray) -> float:
    return float(np.abs(np.diff(change[100:300, 130:171].mean(axis=0))).max())


def test_a_crease_in_which_a_colour_deepens_is_no_print() -> None:
    photo, mask = creased_cloth((0.93, 0.84, 0.35), 0.12)
    photo[..., 2] *= np.minimum(1, photo[..., 0] / 0.93) ** 2
    change = folds_of_old_cloth(photo, mask, mask, UNIT).change
    assert change[100:300, 150].mean() < -0.03


def test_folds_of_cloth_that_shines_are_taken_over_less_than_those_of_white_cloth() -> None:
    mask = plain_cloth()[1]
    photos = (creased_cloth((level,) * 3)[0] for level in (0.25, 0.9))
    dark, light = (folds_of_old_cloth(photo, mask, mask, UNIT).change for photo in photos)
    assert dark[100:300, 150].mean() > 0.75 * light[100:300, 150].mean()


def test_folds_are_believed_where_old_cloth_is_and_nowhere_else() -> None:
    photo, mask = plain_cloth()
    mask[200:] = False
    seen = folds_of_old_cloth(photo, mask, np.ones_like(mask), UNIT)
    assert seen.change[120, 150] < -0.02
    assert not seen.change[230:].any()
    assert np.abs(seen.shade[230:]).max() < 0.01


def test_buttons_and_prints_are_not() -> None:
    photo, mask = plain_cloth()
    photo[:] = 0.8
    photo[195:206, 145:156] = 0.05
    seen = folds_of_old_cloth(photo, mask, mask, UNIT)
    assert np.abs(seen.change).max() < 0.03
    assert np.abs(seen.shade).max() < 0.03


def test_a_print_of_the_same_lightness_leaves_nothing_and_the_folds_around_it_are_believed() -> None:
    photo, mask = plain_cloth()
    photo[:] = (0.55, 0.50, 0.60)
    photo[60:100, 60:140] = (0.35, 0.55, 0.50)
    photo[:] *= 1 - 0.12 * np.exp(-(((np.arange(300) - 220) / 12) ** 2))[None, :, None]
    seen = folds_of_old_cloth(photo.astype(np.float32), mask, mask, UNIT)
    assert np.abs(seen.change[50:110, 50:150]).max() < 0.02
    assert seen.change[200, 220] < -0.03


def test_light_wider_than_folds_is_taken_over_but_ends_where_old_cloth_does() -> None:
    photo, mask = plain_cloth()
    photo[:] = 0.6 * np.linspace(1.1, 0.8, 300)[None, :, None]
    seen = folds_of_old_cloth(photo, mask, mask, UNIT)
    assert seen.shade[200, 60] > 0.03
    assert seen.shade[200, 240] < -0.05
    longer = np.ones_like(mask)
    mask[220:] = False
    shade = folds_of_old_cloth(photo, mask, longer, UNIT).shade
    assert shade[120, 240] < -0.05
    assert abs(shade[216, 240]) < 0.01


def test_what_is_gathered_above_an_old_hem_does_not_arrive_on_cloth_that_goes_on() -> None:
    photo, mask = plain_cloth()
    mask[220:] = False
    as_long, longer = (folds_of_old_cloth(photo, mask, new, UNIT).change for new in (mask, np.ones_like(mask)))
    assert as_long[205, 150] < -0.03
    assert abs(longer[205, 150]) < 0.6 * abs(as_long[205, 150])
    assert longer[120, 150] == pytest.approx(as_long[120, 150], abs=0.003)


def test_a_hollow_too_dark_to_be_a_fold_does_not_end_in_a_line() -> None:
    photo, mask = plain_cloth()
    hollow = np.exp(-(((np.arange(300) - 150) / 20) ** 2)) * np.exp(-(((np.arange(400) - 200) / 20) ** 2))[:, None]
    photo[:] = 0.6 * (1 - 0.75 * hollow)[..., None]
    change = folds_of_old_cloth(photo, mask, mask, UNIT).change
    assert change.min() < -0.03
    assert max(np.abs(np.diff(change, axis=axis)).max() for axis in (0, 1)) < 0.05


def test_folds_of_black_cloth_are_not_believed() -> None:
    photo, mask = plain_cloth()
    seen = folds_of_old_cloth(photo * 0.05, mask, mask, UNIT)
    assert np.abs(seen.change).max() < 1e-3


def person_in(brightness: float, wall: float) -> tuple[np.ndarray, PersonMap]:
    person_map = draw_mannequin().person_map
    person = person_map.matte > 127
    photo = np.where(person[..., None], brightness, wall) * np.ones(3)
    return photo.astype(np.float32), person_map


def test_black_clothes_before_a_bright_wall_do_not_dim_new_ones() -> None:
    assert exposure(*person_in(0.2, 0.97)) == 1.0


def test_a_dim_photo_dims_new_clothes() -> None:
    assert exposure(*person_in(0.5, 0.6)) < 0.95


def test_a_photo_taken_in_the_dark_dims_them_more() -> None:
    assert exposure(*person_in(0.2, 0.3)) < 0.5
    assert exposure(*person_in(0.3, 0.45)) < exposure(*person_in(0.5, 0.6))


def test_contact_shadow_falls_outside_only() -> None:
    cover = np.zeros((100, 100), np.float32)
    cover[30:60, 30:70] = 1
    factor = contact_shadow(cover, 4.0, 0.3)
    assert factor[45, 50] == 1
    assert factor[62, 50] < 0.95
    assert factor[62, 50] < factor[27, 50], "light falls from above"
    assert factor[95, 50] > 0.999


def test_a_shadow_on_skin_is_warm_and_on_grey_cloth_grey() -> None:
    surfaces = np.broadcast_to(np.array([[[0.8, 0.6, 0.5], [0.6, 0.6, 0.6]]], np.float32), (1, 2, 3)).copy()
    skin, grey = shaded(surfaces, np.full((1, 2), 0.6, np.float32))[0] / surfaces[0]
    assert skin[0] > 0.63
    assert skin[2] < 0.58
    assert np.allclose(grey, 0.6, atol=1e-3)
    assert np.array_equal(shaded(surfaces, np.ones((1, 2), np.float32)), surfaces)


@pytest.mark.parametrize("colour", [(0.1, 0.2, 0.6), (0.6, 0.45, 0.3), (0.0, 0.6, 0.45)])
def test_coloured_cloth_keeps_its_colour_in_the_shade(colour: tuple[float, float, float]) -> None:
    surface = np.array([[colour]], np.float32)
    (shade,) = shaded(surface, np.full((1, 1), 0.6, np.float32))[0]
    assert shade.mean() == pytest.approx(0.6 * np.mean(colour), rel=0.15)
    assert np.ptp(shade) / shade.max() >= np.ptp(colour) / max(colour)
    assert shade[np.argmax(colour)] > 0.62 * max(colour)
    (lit,) = shaded(surface, np.full((1, 1), 1.2, np.float32))[0]
    assert lit == pytest.approx(1.2 * surface[0, 0])


def test_shading_is_held_within_bounds() -> None:
    wild = np.random.default_rng(0).uniform(0, 3, (80, 80)).astype(np.float32)
    for lightness, brightest in ((0.8, BRIGHTEST), (0.0, BRIGHTEST_BLACK)):
        factor = bounded(wild, 10.0, lightness)
        assert factor.min() >= DARKEST
        assert factor.max() == pytest.approx(brightest)


def test_a_garment_at_the_lower_edge_throws_no_shadow_on_the_upper_one() -> None:
    cover = np.zeros((100, 100), np.float32)
    cover[60:] = 1
    factor = contact_shadow(cover, 8.0, 0.5)
    assert factor[:10].min() > 0.999
    assert factor[56].max() < 0.99


def test_what_shows_through_a_soft_edge_is_no_lighter_than_what_is_beside_it() -> None:
    cover = np.zeros((100, 100), np.float32)
    cover[30:60] = 1
    cover[60], cover[61] = 0.75, 0.25
    factor = contact_shadow(cover, 6.0, 0.5)[:, 50]
    assert factor[60:62].max() < factor[64]
    assert factor[45] == 1


def test_the_shadow_on_an_arm_before_the_torso_has_no_step_where_the_torso_begins() -> None:
    cuff, torso, arm = (np.zeros((120, 120), np.float32) for _ in range(3))
    cuff[20:50, 20:70], torso[10:110, 50:], arm[50:110, 25:65] = 1, 1, 1
    whole = contact_shadow(np.maximum(cuff, torso), 8.0, 0.5)
    alone = shadow_of_cuffs([cuff], arm, 8.0, 0.5)
    assert np.abs(np.diff(whole[56, 30:62])).max() > 0.05
    assert np.abs(np.diff(alone[56, 30:62])).max() < 0.02
    assert alone[53, 45] < 0.9
