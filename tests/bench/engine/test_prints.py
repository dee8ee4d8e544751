"""A print is found again however the cloth was bent, and not where it is another one or was cut to pieces."""

import cv2
import numpy as np

from bench.engine.prints import found_again
from engines.base import Picture
from tests.bench.engine.pictures import everywhere, flat, printed


def found(cloth: Picture, after: Picture) -> float | None:
    return found_again(cloth, everywhere(cloth), everywhere(cloth), after, everywhere(after))


def bent(picture: Picture) -> Picture:
    """Turned, squeezed and waved, as cloth on a body is."""
    side = picture.shape[0]
    turn = cv2.getRotationMatrix2D((side / 2, side / 2), 9, 0.9)
    turned = cv2.warpAffine(picture, turn, (side, side), borderMode=cv2.BORDER_REPLICATE)
    rows, cols = np.mgrid[0:side, 0:side].astype(np.float32)
    return cv2.remap(turned, cols + 6 * np.sin(rows / 40), 1.06 * rows - 9, cv2.INTER_LINEAR, borderMode=1)


def in_tiles(picture: Picture, tile: int) -> Picture:
    """The same pixels, in squares that were dealt out anew."""
    count = picture.shape[0] // tile
    tiles = [picture[y * tile : (y + 1) * tile, x * tile : (x + 1) * tile] for y in range(count) for x in range(count)]
    order = np.random.default_rng(4).permutation(len(tiles))
    lines = [np.hstack([tiles[order[y * count + x]] for x in range(count)]) for y in range(count)]
    return np.vstack(lines)


def test_the_same_print_is_found_whole() -> None:
    cloth = printed()
    assert found(cloth, cloth) == 1.0


def test_a_bent_print_is_found() -> None:
    cloth = printed()
    assert found(cloth, bent(cloth)) > 0.95


def test_light_and_contrast_do_not_matter() -> None:
    cloth = printed()
    dim = cv2.addWeighted(bent(cloth), 0.6, flat((20, 20, 20), *cloth.shape[:2]), 0.4, 0)
    assert found(cloth, dim) > 0.9


def test_a_smaller_print_is_found() -> None:
    cloth = printed()
    small = cv2.resize(bent(cloth), (200, 200), interpolation=cv2.INTER_AREA)
    assert found(cloth, small) > 0.85


def test_half_a_print_is_found_by_half() -> None:
    cloth = printed()
    torn = cloth.copy()
    torn[:, 200:] = cloth[0, 0]
    assert 0.35 < found(cloth, torn) < 0.65


def test_another_print_is_not_found() -> None:
    assert found(printed(1), printed(2)) < 0.1


def test_a_mirrored_print_is_not_found() -> None:
    cloth = printed()
    assert found(cloth, cloth[:, ::-1].copy()) < 0.1


def test_smaller_pieces_are_found_less() -> None:
    cloth = printed()
    whole, halves, crumbs = found(cloth, cloth), found(cloth, in_tiles(cloth, 100)), found(cloth, in_tiles(cloth, 25))
    assert whole > halves > crumbs
    assert crumbs < 0.15


def test_plain_and_striped_cloth_has_no_print() -> None:
    plain = flat((120, 130, 140), 400, 400)
    striped = plain.copy()
    striped[(np.arange(400) // 20) % 2 == 0] = (20, 20, 60)
    checked = striped.copy()
    checked[:, (np.arange(400) // 20) % 2 == 0] = (200, 40, 40)
    for cloth in (plain, striped, checked):
        assert found(cloth, cloth) is None


def test_no_cloth_no_figure() -> None:
    cloth = printed()
    assert found_again(cloth, everywhere(cloth), everywhere(cloth), cloth, ~everywhere(cloth)) is None
