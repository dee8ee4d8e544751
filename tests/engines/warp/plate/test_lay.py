"""The old garment is gone from the plate, and nothing else is."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import Category, Label, Landmark
from engines.warp.body.model import measure_body
from engines.warp.plate.lay import left_as_it_is, old_garment
from engines.warp.ribbon import Drape, Piece
from tests.engines.mannequin import TROUSERS, Mannequin, draw_mannequin
from tests.engines.warp.plating import lay_plate


def drape_over(shape: tuple[int, int], box: tuple[slice, slice] | None = None) -> Drape:
    alpha = np.zeros(shape, np.float32)
    if box is not None:
        alpha[box] = 1.0
    return Drape((Piece("torso", np.zeros((*shape, 3), np.float32), alpha, np.zeros(shape, np.float32)),), {})


def plate_of(mannequin: Mannequin, drape: Drape, category: Category) -> np.ndarray:
    photo = mannequin.photo.astype(np.float32) / 255.0
    body = measure_body(mannequin.person_map)
    return lay_plate(photo, mannequin.person_map, body, drape, category).picture


def loud_pixels(picture: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int((np.abs(picture * 255.0 - np.array(colour)).max(axis=2) < 40).sum())


LOUD = (255, 20, 200)


def test_loud_top_is_gone_when_nothing_covers_it() -> None:
    mannequin = draw_mannequin(top=LOUD, sleeves="long")
    plate = plate_of(mannequin, drape_over(mannequin.photo.shape[:2]), Category.UPPER_BODY)
    assert loud_pixels(mannequin.photo / 255.0, LOUD) > 1000
    assert loud_pixels(plate, LOUD) == 0


@pytest.mark.parametrize("category", [Category.LOWER_BODY, Category.FULL_BODY])
def test_old_trousers_are_gone(category: Category) -> None:
    mannequin = draw_mannequin(top=TROUSERS if category is Category.FULL_BODY else LOUD, ground=(250, 250, 120))
    plate = plate_of(mannequin, drape_over(mannequin.photo.shape[:2]), category)
    assert loud_pixels(plate, TROUSERS) < 0.01 * loud_pixels(mannequin.photo / 255.0, TROUSERS)


def test_bared_leg_has_the_tone_of_the_person() -> None:
    mannequin = draw_mannequin()
    plate = plate_of(mannequin, drape_over(mannequin.photo.shape[:2]), Category.LOWER_BODY)
    x, y = mannequin.point(Landmark.LEFT_KNEE).round().astype(int)
    # A kneecap is lighter and its hollows are darker: the tone is that of the shin.
    shin = plate[y + 50 : y + 70, x - 8 : x + 9].mean(axis=(0, 1)) * 255.0
    np.testing.assert_allclose(shin, (205, 160, 135), atol=14)


def test_sleeve_zone_beside_a_new_sleeve_becomes_ground() -> None:
    ground = (215, 215, 220)
    mannequin = draw_mannequin(arms="out", sleeves="long", top=LOUD, ground=ground)
    shape = mannequin.photo.shape[:2]
    # The new sleeve lies on the arm's axis to the wrist, so no skin is open anywhere along it.
    drape = drape_over(shape, np.s_[0 : int(0.6 * shape[0]), 0 : shape[1]])
    plate = plate_of(mannequin, drape, Category.UPPER_BODY)
    x, y = mannequin.point(Landmark.LEFT_ELBOW).round().astype(int)
    np.testing.assert_allclose(plate[y, x] * 255.0, ground, atol=6)


def test_fill_has_no_light_rim() -> None:
    """Black clothes before a black wall: nothing between them may come out lighter than both."""
    mannequin = draw_mannequin(top=(0, 0, 0), sleeves="long", arms="out", ground=(0, 0, 0))
    shape = mannequin.photo.shape[:2]
    plate = plate_of(mannequin, drape_over(shape, np.s_[:, :]), Category.UPPER_BODY)
    x, y = mannequin.point(Landmark.LEFT_ELBOW).round().astype(int)
    assert plate[y - 20 : y + 20, x - 20 : x + 20].max() < 0.1


def test_a_dress_is_parted_at_the_waist() -> None:
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels
    labels[np.isin(labels, (Label.UPPER, Label.LOWER))] = Label.FULL
    body = measure_body(mannequin.person_map)
    upper = old_garment(labels, body, Category.UPPER_BODY)
    lower = old_garment(labels, body, Category.LOWER_BODY)
    assert not (upper & lower).any()
    assert (upper | lower).sum() == (labels == Label.FULL).sum()


def test_no_old_garment_leaves_the_photo_alone() -> None:
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels
    labels[labels == Label.UPPER] = Label.TORSO_SKIN
    plate = plate_of(mannequin, drape_over(labels.shape), Category.UPPER_BODY)
    np.testing.assert_array_equal(plate, mannequin.photo.astype(np.float32) / 255.0)


def test_a_leg_is_bare_only_below_its_new_hem() -> None:
    mannequin = draw_mannequin(ground=(60, 200, 60))
    shape = mannequin.photo.shape[:2]
    knee = int(mannequin.point(Landmark.LEFT_KNEE)[1])
    plate = plate_of(mannequin, drape_over(shape, np.s_[:knee, : shape[1] // 2 + 50]), Category.LOWER_BODY)
    x, y = mannequin.point(Landmark.LEFT_KNEE).round().astype(int)
    beside_new_leg = plate[y - 60, x + 22] * 255.0
    np.testing.assert_allclose(beside_new_leg, (60, 200, 60), atol=10)
    below_hem = plate[y + 50, x] * 255.0
    assert below_hem[0] > 150
    assert below_hem[0] > below_hem[2]


def test_outside_its_collar_no_skin_stands_over_a_sleeved_garment_and_inside_it_does() -> None:
    mannequin = draw_mannequin(top=LOUD, sleeves="long", ground=(250, 250, 120))
    body = measure_body(mannequin.person_map)
    lower = 0.05 + 0.25 * np.maximum(np.abs(body.laterals) - 0.25, 0.0)
    # Highest a quarter of a shoulder width beside the axis, as a wide neckline is.
    alpha = ((body.heights > lower) & ((np.abs(body.laterals) > 0.25) | (body.heights > 0.2))).astype(np.float32)
    pieces = tuple(
        Piece(name, np.zeros((*body.shape, 3), np.float32), alpha, alpha) for name in ("torso", "left_sleeve")
    )
    plate = plate_of(mannequin, Drape(pieces, {}), Category.UPPER_BODY)
    ground = np.abs(plate * 255.0 - np.array((250, 250, 120))).max(axis=2) < 30
    old = mannequin.person_map.labels == Label.UPPER
    above = old & (body.heights < lower) & (body.heights > -0.02)
    outside, inside = (above & place for place in (np.abs(body.laterals) > 0.28, np.abs(body.laterals) < 0.2))
    assert ground[outside].mean() > 0.9
    assert ground[inside].mean() < 0.1


def test_highlight_on_the_old_sleeve_leaves_no_hole_in_the_bare_arm() -> None:
    mannequin = draw_mannequin(arms="out", sleeves="long", top=LOUD, ground=(90, 200, 90))
    x, y = ((mannequin.point(Landmark.LEFT_ELBOW) + mannequin.point(Landmark.LEFT_WRIST)) / 2).round().astype(int)
    spot = np.s_[y - 2 : y + 3, x - 2 : x + 3]
    labels, matte = mannequin.person_map.labels.copy(), mannequin.person_map.matte.copy()
    labels[spot], matte[spot] = Label.BACKGROUND, 0
    holed = Mannequin(mannequin.photo, replace(mannequin.person_map, labels=labels, matte=matte))
    plate = plate_of(holed, drape_over(labels.shape), Category.UPPER_BODY)[y, x]
    assert plate[0] > plate[1]


def test_skin_joins_a_seen_arm_without_a_seam() -> None:
    """Half of an arm is lit, and the tone goes on as it is at the cuff."""
    mannequin = draw_mannequin(arms="out", sleeves="short", top=LOUD)
    photo = mannequin.photo
    photo[mannequin.person_map.labels == Label.ARMS] = (150, 105, 80)
    plate = plate_of(mannequin, drape_over(photo.shape[:2]), Category.UPPER_BODY) * 255.0
    shoulder, elbow = mannequin.point(Landmark.LEFT_SHOULDER), mannequin.point(Landmark.LEFT_ELBOW)
    down_the_arm = [
        plate[tuple((shoulder + (elbow - shoulder) * s).round().astype(int)[::-1])] for s in (0.45, 0.6, 0.8)
    ]
    np.testing.assert_allclose(down_the_arm, np.broadcast_to((150, 105, 80), (3, 3)), atol=20)
    assert np.abs(np.diff(down_the_arm, axis=0)).max() < 12


@pytest.mark.parametrize("category", list(Category))
def test_face_hair_hands_and_shoes_stay_to_the_last_bit(category: Category) -> None:
    mannequin = draw_mannequin(top=LOUD, arms="out")
    photo = mannequin.photo.astype(np.float32) / 255.0
    plate = plate_of(mannequin, drape_over(photo.shape[:2]), category)
    stays = np.isin(mannequin.person_map.labels, (Label.FACE, Label.HAIR, Label.HANDS, Label.FEET)).astype(np.uint8)
    inner = cv2.erode(stays, np.ones((7, 7), np.uint8)) > 0
    assert inner.sum() > 1000
    np.testing.assert_array_equal(plate[inner], photo[inner])


def test_a_wall_away_from_the_old_garment_stays_to_the_last_bit() -> None:
    mannequin = draw_mannequin(top=(248, 248, 248), ground=(235, 235, 238))
    rng = np.random.default_rng(2)
    noise = rng.integers(-4, 5, mannequin.photo.shape)
    photo = np.clip(mannequin.photo.astype(int) + noise, 0, 255).astype(np.uint8)
    noisy = Mannequin(photo, mannequin.person_map)
    labels = mannequin.person_map.labels
    plate = plate_of(noisy, drape_over(labels.shape), Category.UPPER_BODY)
    away = cv2.distanceTransform((labels != Label.UPPER).astype(np.uint8), cv2.DIST_L2, 5) > 0.014 * labels.shape[0]
    wall = away & (labels == Label.BACKGROUND)
    np.testing.assert_array_equal(plate[wall], photo.astype(np.float32)[wall] / 255.0)


def test_crumbs_of_the_garment_in_the_hair_are_hair() -> None:
    mannequin = draw_mannequin(top=LOUD)
    labels = mannequin.person_map.labels
    photo = mannequin.photo.astype(np.float32) / 255.0
    rows, columns = np.nonzero(labels == Label.HAIR)
    y, x = int(rows.min()) + 6, int(np.median(columns))
    labels[y : y + 8, x : x + 8] = Label.UPPER
    body = measure_body(mannequin.person_map)
    assert not old_garment(labels, body, Category.UPPER_BODY)[y : y + 8, x : x + 8].any()
    plate = plate_of(mannequin, drape_over(labels.shape), Category.UPPER_BODY)
    np.testing.assert_array_equal(plate[y : y + 8, x : x + 8], photo[y : y + 8, x : x + 8])


def test_shadow_of_an_old_cuff_goes_with_it_and_a_tattoo_stays() -> None:
    mannequin = draw_mannequin(arms="out", sleeves="short", top=LOUD)
    labels = mannequin.person_map.labels
    arm = labels == Label.ARMS
    from_old = cv2.distanceTransform((labels != Label.UPPER).astype(np.uint8), cv2.DIST_L2, 5)
    near = from_old < 16
    left = np.indices(labels.shape)[1] < labels.shape[1] // 2
    shadow, tattoo = arm & near & left, arm & near & ~left
    mannequin.photo[shadow] = (0.8 * mannequin.photo[shadow]).astype(np.uint8)
    mannequin.photo[tattoo] = (90, 95, 100)
    plate = plate_of(mannequin, drape_over(labels.shape), Category.UPPER_BODY) * 255.0
    inner = cv2.erode(arm.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    inner_arm = cv2.erode(arm.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    inner &= from_old < 5
    assert plate[shadow & inner].mean() > mannequin.photo[shadow & inner].mean() + 8
    far = tattoo & inner_arm & (from_old > 7.5) & (from_old < 12)
    assert far.sum() > 5
    np.testing.assert_allclose(plate[far], mannequin.photo[far], atol=6)


def test_the_wall_that_comes_to_light_between_the_legs_is_no_person() -> None:
    mannequin = draw_mannequin()
    photo = mannequin.photo.astype(np.float32) / 255.0
    body = measure_body(mannequin.person_map)
    above_knees = drape_over(body.shape, np.s_[: int(mannequin.point(Landmark.LEFT_KNEE)[1]), :])
    plate = lay_plate(photo, mannequin.person_map, body, above_knees, Category.LOWER_BODY)
    trousers = mannequin.person_map.labels == Label.LOWER
    bared = trousers & (above_knees.alpha < 0.5)
    skin = np.abs(plate.picture - photo).max(axis=2) > 0.2
    like_wall = bared & (np.abs(plate.picture - photo[5, 5]).max(axis=2) < 0.02)
    assert like_wall.sum() > 50
    assert plate.person[like_wall].max() < 0.1
    assert np.median(plate.person[bared & skin & ~like_wall]) > 0.9


def test_over_everything_the_person_is_whole() -> None:
    mannequin = draw_mannequin()
    photo = mannequin.photo.astype(np.float32) / 255.0
    plate = left_as_it_is(photo, mannequin.person_map)
    assert plate.picture is photo
    assert np.array_equal(plate.person > 0.5, mannequin.person_map.matte > 127)


def test_no_wall_shows_between_a_bare_belly_and_the_waistband() -> None:
    mannequin = draw_mannequin(ground=(20, 255, 20))
    labels = mannequin.person_map.labels
    plate = plate_of(mannequin, drape_over(labels.shape), Category.UPPER_BODY) * 255.0
    body = measure_body(mannequin.person_map)
    middle = (np.abs(body.laterals) < 0.2) & (body.heights > 0.4) & (body.heights < 1.0)
    green = plate[..., 1] - np.maximum(plate[..., 0], plate[..., 2])
    assert green[middle].max() < 6
