"""The light of the photo, and the folds of plain old cloth, fall on the new garment."""

import numpy as np
import pytest

from engines.base import Label, PersonMap
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.composite.light import (
    BRIGHTEST,
    DARKEST,
    MOST_TILT,
    Light,
    exposure,
    folds_of_old_cloth,
    read_light,
)
from engines.warp.ribbon import Piece
from tests.engines.mannequin import draw_mannequin

UNIT = 120.0


def lit_from(side: float, brightness: float = 0.6) -> tuple[np.ndarray, BodyModel]:
    """A person whose cloth and skin are lit from one side by a share of the light."""
    body = measure_body(draw_mannequin(960, 760).person_map)
    light = brightness * (1 + side * np.clip(body.laterals / 0.45, -1, 1))
    return np.repeat(light[..., None], 3, axis=2).astype(np.float32), body


def tilt_of(photo: np.ndarray, body: BodyModel) -> float:
    return read_light(photo, np.asarray(body.labels == Label.UPPER), body, []).tilt


@pytest.mark.parametrize("side", [-0.06, 0.0, 0.06])
def test_the_side_that_light_comes_from_is_read_off_the_photo(side: float) -> None:
    assert tilt_of(*lit_from(side)) == pytest.approx(0.6 * side, abs=0.02)


def test_the_tilt_is_bounded_and_prints_and_black_cloth_say_nothing() -> None:
    assert tilt_of(*lit_from(0.27)) == pytest.approx(MOST_TILT)
    assert tilt_of(*lit_from(0.2, brightness=0.03)) == 0.0
    photo, body = lit_from(0.0)
    photo[(body.labels == Label.UPPER) & (body.laterals > 0)] = 0.05
    assert abs(tilt_of(photo, body)) < 0.02


def piece_of(body: BodyModel, colour: float) -> Piece:
    across = np.broadcast_to(np.linspace(-1, 1, body.shape[1], dtype=np.float32), body.shape)
    return Piece("torso", np.full((*body.shape, 3), colour, np.float32), np.ones(body.shape, np.float32), across)


def test_cloth_is_darkest_at_the_edge_away_from_the_light() -> None:
    _, body = lit_from(0.0)
    ones, none = np.ones(body.shape, np.float32), np.zeros(body.shape, np.float32)
    factor = Light(body, 0.04, ones, none).on(piece_of(body, 0.9))[500]
    assert factor[380] > 0.99
    assert factor[0] < factor[-1] < 0.97


def test_folds_are_deeper_in_darker_cloth_and_all_light_is_bounded() -> None:
    _, body = lit_from(0.0)
    ones = np.ones(body.shape, np.float32)
    light = Light(body, 0.0, ones, np.full_like(ones, -0.1))
    dark, white = (light.on(piece_of(body, colour))[500, 380] for colour in (0.1, 0.95))
    assert dark < white - 0.05
    wild = Light(body, 0.0, 4.0 * ones, 0.0 * ones).on(piece_of(body, 0.9))
    assert wild.max() == pytest.approx(BRIGHTEST)
    assert Light(body, 0.0, 0.1 * ones, 0.0 * ones).on(piece_of(body, 0.9)).min() == pytest.approx(DARKEST)


def plain_cloth() -> tuple[np.ndarray, np.ndarray]:
    """A photo of plain cloth with a soft fold down its middle, and the cloth's mask."""
    x = np.arange(300)
    fold = 0.5 * (1 - 0.15 * np.exp(-(((x - 150) / 12) ** 2)))
    photo = np.repeat(np.broadcast_to(fold, (400, 300))[..., None], 3, axis=2).astype(np.float32)
    mask = np.zeros((400, 300), bool)
    mask[20:380, 20:280] = True
    return photo, mask


def test_folds_of_plain_cloth_are_taken_over_and_those_of_black_cloth_not() -> None:
    photo, mask = plain_cloth()
    folds, _, _ = folds_of_old_cloth(photo, mask, mask, UNIT)
    assert folds[200, 150] < -0.03
    assert abs(folds[200, 60]) < 0.03
    assert np.abs(folds_of_old_cloth(photo * 0.05, mask, mask, UNIT)[0]).max() < 1e-3


def test_folds_are_believed_where_old_cloth_is_and_nowhere_else() -> None:
    photo, mask = plain_cloth()
    mask[200:] = False
    folds, shade, _ = folds_of_old_cloth(photo, mask, np.ones_like(mask), UNIT)
    assert folds[120, 150] < -0.02
    assert not folds[230:].any()
    assert np.abs(shade[230:]).max() < 0.01


def test_a_button_and_a_print_leave_nothing_and_the_folds_around_are_believed() -> None:
    photo, mask = plain_cloth()
    photo[:] = (0.55, 0.50, 0.60)
    photo[60:100, 60:140] = (0.35, 0.55, 0.50)
    photo[195:206, 145:156] = 0.05
    photo[:] *= 1 - 0.12 * np.exp(-(((np.arange(300) - 220) / 12) ** 2))[None, :, None]
    folds, _, _ = folds_of_old_cloth(photo, mask, mask, UNIT)
    assert np.abs(folds[50:110, 50:150]).max() < 0.02
    assert np.abs(folds[190:210, 140:160]).max() < 0.03
    assert folds[300, 220] < -0.02


def test_light_wider_than_folds_is_taken_over_but_ends_where_old_cloth_does() -> None:
    photo, mask = plain_cloth()
    photo[:] = 0.6 * np.linspace(1.1, 0.8, 300)[None, :, None]
    _, shade, _ = folds_of_old_cloth(photo, mask, mask, UNIT)
    assert shade[200, 60] > 0.03
    assert shade[200, 240] < -0.05
    mask[220:] = False
    _, shade, _ = folds_of_old_cloth(photo, mask, np.ones_like(mask), UNIT)
    assert shade[120, 240] < -0.05
    assert abs(shade[216, 240]) < 0.01


def test_a_hollow_too_dark_to_be_a_fold_does_not_end_in_a_line() -> None:
    photo, mask = plain_cloth()
    hollow = np.exp(-(((np.arange(300) - 150) / 20) ** 2)) * np.exp(-(((np.arange(400) - 200) / 20) ** 2))[:, None]
    photo[:] = 0.6 * (1 - 0.75 * hollow)[..., None]
    folds, _, _ = folds_of_old_cloth(photo, mask, mask, UNIT)
    assert folds.min() < -0.03
    assert max(np.abs(np.diff(folds, axis=axis)).max() for axis in (0, 1)) < 0.05


def person_in(brightness: float, wall: float) -> tuple[np.ndarray, PersonMap]:
    person_map = draw_mannequin().person_map
    person = person_map.matte > 127
    photo = np.where(person[..., None], brightness, wall) * np.ones(3)
    return photo.astype(np.float32), person_map


def test_a_dim_photo_dims_new_clothes_and_black_clothes_before_a_bright_wall_do_not() -> None:
    assert exposure(*person_in(0.2, 0.97)) == 1.0
    assert exposure(*person_in(0.2, 0.3)) < exposure(*person_in(0.3, 0.45)) < exposure(*person_in(0.5, 0.6)) < 0.95
