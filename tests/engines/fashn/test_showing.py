import numpy as np
import pytest
import torch

from engines.base import Category, Garment, Picture
from engines.fashn.poses.finder import PoseFinder
from engines.fashn.preprocess import GREY, Frame
from engines.fashn.showing import Shown, garment_picture_of, shown
from engines.generative.painter import Reference

FRAME = (48, 36)
SHIRT, SKIN, WALL = (180, 30, 40), (220, 170, 150), (120, 140, 160)


def product_photo(ground: int = 255) -> Picture:
    photo = np.full((60, 80, 3), ground, np.uint8)
    photo[20:50, 30:60] = SHIRT
    return photo


def worn_photo() -> Picture:
    photo = np.full((60, 80, 3), WALL, np.uint8)
    photo[5:60, 35:50] = SKIN
    photo[20:40, 30:56] = SHIRT
    return photo


def reference_of(photo: Picture, *, back: Picture | None = None, category: Category = Category.UPPER_BODY) -> Reference:
    """As the caller of a painter makes them: trimmed, with the ground of somebody who wears it painted white."""
    is_shirt = np.all(photo == SHIRT, axis=2)
    rows, columns = np.nonzero(is_shirt.any(axis=1))[0], np.nonzero(is_shirt.any(axis=0))[0]
    box = slice(rows[0] - 2, rows[-1] + 3), slice(columns[0] - 2, columns[-1] + 3)
    picture, cover = photo[box].copy(), np.where(is_shirt[box], 255, 0).astype(np.uint8)
    was_worn = bool(np.any(np.all(photo == SKIN, axis=2)))
    if was_worn:
        picture[~is_shirt[box]] = 255
    return Reference(Garment(photo, category), picture, cover, back, was_worn)


@pytest.fixture(scope="module")
def poses(weights: object) -> PoseFinder:
    return PoseFinder(weights, cuda_device=None)  # type: ignore[arg-type]


def show(poses: PoseFinder, reference: Reference, person: Picture) -> Shown:
    return shown(person, reference, 5, frame=FRAME, poses=poses, on_step=lambda _: None, should_stop=lambda: False)


def test_garment_alone_is_shown_on_its_own_ground() -> None:
    for ground in (255, 250, 90):
        reference = reference_of(product_photo(ground))
        assert garment_picture_of(reference) is reference.picture


def test_garment_off_somebody_is_shown_on_grey() -> None:
    picture = garment_picture_of(reference_of(worn_photo()))
    assert picture[0, 0].tolist() == [GREY] * 3
    assert picture[5, 10].tolist() == list(SHIRT)


def test_back_is_shown_where_it_was_asked_for() -> None:
    back = np.zeros((5, 5, 3), np.uint8)
    assert garment_picture_of(reference_of(worn_photo(), back=back)) is back


def test_garment_without_ground_is_shown_as_it_is() -> None:
    photo = np.full((10, 10, 3), SHIRT, np.uint8)
    reference = Reference(Garment(photo, Category.UPPER_BODY), photo, np.full((10, 10), 255, np.uint8))
    assert garment_picture_of(reference) is photo


def test_conditions_of_one_pass(poses: PoseFinder) -> None:
    one = show(poses, reference_of(product_photo()), np.full((96, 48, 3), 200, np.uint8))
    conditions = one.conditions
    assert conditions.person.shape == (1, 3, *FRAME)
    assert one.place == Frame(6, 0, 24, 48)
    assert one.seed == 5
    assert torch.all(conditions.person[..., :6] == -1)
    assert torch.allclose(conditions.person[..., 6:30], torch.tensor(200 / 127.5 - 1))
    assert torch.all(conditions.garment_pose == -1)
    assert conditions.person_pose.max() > 0.5
    assert torch.all(conditions.person_pose[..., :6] == -1)


@pytest.mark.parametrize(
    ("category", "number"), [(Category.UPPER_BODY, 1), (Category.LOWER_BODY, 2), (Category.FULL_BODY, 3)]
)
def test_class_of_a_garment(poses: PoseFinder, category: Category, number: int) -> None:
    one = show(poses, reference_of(product_photo(), category=category), np.zeros((48, 36, 3), np.uint8))
    assert one.conditions.category.tolist() == [number]
