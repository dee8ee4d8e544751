"""A structured ground goes on behind the person; a plain one is filled smoothly."""

import numpy as np

from engines.filling import fill_from
from engines.warp.plate.patch_fill import structured_fill


def striped_wall() -> np.ndarray:
    """Upright red and white stripes, 40 pixels wide each."""
    columns = np.arange(400)
    red = (columns // 40) % 2 == 0
    colour = np.where(red[:, None], (0.7, 0.1, 0.1), (0.95, 0.95, 0.95))
    return np.repeat(colour[None], 400, axis=0).astype(np.float32)


def person_in_the_middle() -> tuple[np.ndarray, np.ndarray]:
    known, wanted = np.ones((400, 400), bool), np.zeros((400, 400), bool)
    known[120:300, 120:300] = False
    wanted[130:160, 130:290] = True
    return known, wanted


def test_stripes_go_on_into_the_hole() -> None:
    wall = striped_wall()
    known, wanted = person_in_the_middle()
    photo = np.where(known[..., None], wall, np.float32(0.3))
    error = np.abs(structured_fill(photo, known, wanted) - wall).mean(axis=2)[wanted]
    haze = np.abs(fill_from(photo, known) - wall).mean(axis=2)[wanted]
    assert error.mean() < 0.5 * haze.mean()


def test_rim_of_the_hole_is_not_copied() -> None:
    wall = striped_wall()
    known, wanted = person_in_the_middle()
    photo = np.where(known[..., None], wall, np.float32(0.0))
    photo[116:304, 116:304] *= np.array([0.2, 1.0, 0.2], np.float32)
    filled = structured_fill(photo, known, wanted)[wanted]
    assert (filled[:, 1] > filled[:, 0] + 0.1).mean() < 0.1


def test_plain_wall_is_filled_smoothly() -> None:
    photo = np.broadcast_to(np.linspace(0.5, 0.8, 400, dtype=np.float32)[None, :, None], (400, 400, 3)).copy()
    known, wanted = person_in_the_middle()
    np.testing.assert_array_equal(structured_fill(photo, known, wanted), fill_from(photo, known))


def test_fill_meets_the_ground_beside_it() -> None:
    wall = striped_wall() * np.linspace(0.8, 1.0, 400, dtype=np.float32)[:, None, None]
    known, wanted = person_in_the_middle()
    filled = structured_fill(np.where(known[..., None], wall, np.float32(0.3)), known, wanted)
    middles = np.array([140, 180, 220, 260])
    np.testing.assert_allclose(filled[121, middles], wall[117, middles], atol=0.08)


def test_nothing_known_still_gives_a_picture() -> None:
    nothing = np.zeros((40, 40), bool)
    filled = structured_fill(np.zeros((40, 40, 3), np.float32), nothing, ~nothing)
    assert np.isfinite(filled).all()
