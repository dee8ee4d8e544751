"""The thin outline of old cloth beside it goes; what arms, hair and the wall itself draw there stays."""

import numpy as np

from engines.base import Label
from engines.warp.plate.cloth_outline import outline_of_cloth

UNIT = 200.0


def scene() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Photo, labels, old garment, and distance from it."""
    photo = np.full((300, 300, 3), 0.75, np.float32)
    photo += np.random.default_rng(3).normal(0, 0.003, photo.shape).astype(np.float32)
    labels = np.full((300, 300), Label.BACKGROUND, np.uint8)
    labels[:, 200:] = Label.UPPER
    old = labels == Label.UPPER
    from_old = np.broadcast_to(np.maximum(199.0 - np.arange(300.0), 0)[None] + ~old, old.shape).astype(np.float32)
    return photo, labels, old, from_old


def test_a_thin_dark_line_beside_the_old_garment_is_found() -> None:
    photo, labels, old, from_old = scene()
    photo[100:160, 189:191] -= 0.07
    found = outline_of_cloth(photo, labels, old, from_old, UNIT)
    assert found[102:158, 189:191].all()
    assert found.sum() < 6 * 70


def test_a_plain_wall_has_none() -> None:
    photo, labels, old, from_old = scene()
    assert not outline_of_cloth(photo, labels, old, from_old, UNIT).any()


def test_lines_of_the_wall_stay() -> None:
    photo, labels, old, from_old = scene()
    photo[:, 9:200:18] -= 0.07
    assert not outline_of_cloth(photo, labels, old, from_old, UNIT).any()


def test_a_line_far_from_the_garment_stays() -> None:
    photo, labels, old, from_old = scene()
    photo[100:110, 150:152] -= 0.07
    assert not outline_of_cloth(photo, labels, old, from_old, UNIT).any()


def test_the_edge_of_an_arm_stays() -> None:
    photo, labels, old, from_old = scene()
    labels[:, 170:190] = Label.ARMS
    photo[:, 168:170] -= 0.07
    assert not outline_of_cloth(photo, labels, old, from_old, UNIT).any()
