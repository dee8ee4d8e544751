"""One picture laid over another."""

import numpy as np

from engines.warp.painting import blended


def test_the_other_picture_is_seen_as_far_as_it_covers() -> None:
    picture, over = np.full((6, 8, 3), 0.2, np.float32), np.full((6, 8, 3), 0.8, np.float32)
    cover = np.zeros((6, 8), np.float32)
    cover[2:4, 3:5] = 0.5
    found = blended(picture, over, cover)
    assert np.allclose(found[2:4, 3:5], 0.5)
    assert np.array_equal(found[cover == 0], picture[cover == 0])
    assert (picture == np.float32(0.2)).all()


def test_nothing_is_laid_where_nothing_covers() -> None:
    picture = np.random.default_rng(0).random((4, 4, 3)).astype(np.float32)
    assert np.array_equal(blended(picture, 1 - picture, np.zeros((4, 4), np.float32)), picture)
