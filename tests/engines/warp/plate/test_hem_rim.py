"""No line of the old trousers stays along the hem of a top."""

import numpy as np

from engines.warp.plate.hem_rim import ABOVE, GAP, above_cloth, own_rim

SHAPE, HEM = (80, 60), 40


def hem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A light top whose lowest two rows are as dark as the trousers below it; the top, and distances from these."""
    rows = np.indices(SHAPE)[0]
    cloth = (rows < HEM) & (rows > 5)
    photo = np.where((rows < HEM - 2)[..., None], np.float32(0.8), np.float32(0.1)).repeat(3, axis=2)
    from_old = np.maximum(HEM - rows, 0).astype(np.float32)
    return photo.astype(np.float32), cloth, from_old


def test_the_rim_takes_the_colour_from_further_in() -> None:
    photo, cloth, from_old = hem()
    colour, wanted = own_rim(photo, cloth, from_old, ~cloth & (from_old == 0), 5.0)
    assert (wanted[HEM - 3 : HEM] == 1.0).all()
    np.testing.assert_allclose(colour[wanted > 0], 0.8, atol=1e-3)


def test_a_gap_above_the_new_garment_is_closed_and_no_more() -> None:
    photo, cloth, from_old = hem()
    below = from_old == 0
    below[:, 30:] = False
    _, wanted = own_rim(photo, cloth, from_old, below, 5.0)
    assert (wanted[HEM : HEM + GAP, 5:25] == 1.0).all()
    assert not wanted[HEM:, 30:].any()
    assert not wanted[HEM + GAP + 1 :].any()


def test_other_edges_of_the_top_stay() -> None:
    photo, cloth, from_old = hem()
    _, wanted = own_rim(photo, cloth, from_old, np.zeros(SHAPE, bool), 5.0)
    assert not wanted[: HEM - 6].any()


def test_a_hem_that_hangs_free_beside_the_new_garment_keeps_its_edge() -> None:
    photo, cloth, from_old = hem()
    trousers = np.zeros(SHAPE, bool)
    trousers[HEM:, 20:40] = True
    below = above_cloth(trousers)
    _, wanted = own_rim(photo, cloth, from_old, below & ~cloth, 5.0)
    assert (wanted[HEM : HEM + GAP, 24:36] == 1.0).all()
    assert not wanted[HEM:, :20].any()
    assert not wanted[HEM:, 40:].any()
    assert below[HEM - ABOVE, 30]
    assert not below[HEM - ABOVE - 1].any()
