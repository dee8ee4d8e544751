import numpy as np

from engines.base import Label
from engines.warp.composite.zone import FADE_FROM, FADE_UNTIL, kept_outside

UNIT = 100.0


def test_far_from_the_garments_the_photo_stays_to_the_last_bit_and_near_them_the_picture() -> None:
    random = np.random.default_rng(0)
    photo, picture = (random.random((60, 120, 3), dtype=np.float32) for _ in range(2))
    garments = np.zeros((60, 120), bool)
    garments[:, :40] = True
    result = kept_outside(picture, photo, garments, np.zeros((60, 120), np.uint8), UNIT)
    assert np.array_equal(result[:, 41 + int(FADE_UNTIL * UNIT) :], photo[:, 41 + int(FADE_UNTIL * UNIT) :])
    assert np.allclose(result[:, : 39 + int(FADE_FROM * UNIT)], picture[:, : 39 + int(FADE_FROM * UNIT)], atol=1e-6)


def test_shoes_may_be_cuffs_of_the_trousers() -> None:
    photo, picture = np.zeros((60, 120, 3), np.float32), np.ones((60, 120, 3), np.float32)
    labels = np.zeros((60, 120), np.uint8)
    labels[:20], labels[50:] = Label.LOWER, Label.FEET
    assert kept_outside(picture, photo, labels == Label.LOWER, labels, UNIT)[55].min() == 1.0
    labels[:20] = Label.UPPER
    assert kept_outside(picture, photo, labels == Label.UPPER, labels, UNIT)[55].max() == 0.0
