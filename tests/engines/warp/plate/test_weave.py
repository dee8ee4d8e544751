"""A weave goes on without what else there is in the cloth."""

import numpy as np

from engines.warp.plate.weave import weave

UNIT = 200.0


def cloth() -> tuple[np.ndarray, np.ndarray]:
    """Fine upright threads, and the cloth; a dark seam crosses half of it."""
    photo = np.full((160, 160, 3), 0.5, np.float32)
    photo[:, ::4] += 0.04
    photo[:60, 70:76] = 0.1
    return photo, np.ones((160, 160), bool)


def test_it_is_as_strong_and_runs_as_the_one_that_is_seen() -> None:
    photo, seen = cloth()
    drawn = weave(photo, seen, (50, 120), UNIT)
    assert drawn.shape == (50, 120, 3)
    strength = (photo[100:] - photo[100:].mean()).std()
    assert 0.5 * strength < drawn.std() < 1.6 * strength
    across, along = np.abs(np.diff(drawn, axis=1)).mean(), np.abs(np.diff(drawn, axis=0)).mean()
    assert across > 2.0 * along


def test_seams_are_not_part_of_it() -> None:
    photo, seen = cloth()
    assert np.abs(weave(photo, seen, (50, 120), UNIT)).max() < 0.15


def test_too_little_cloth_shows_none() -> None:
    photo, seen = cloth()
    seen[:] = False
    seen[:20, :20] = True
    assert not weave(photo, seen, (10, 10), UNIT).any()
