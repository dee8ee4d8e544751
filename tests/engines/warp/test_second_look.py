from dataclasses import replace

import numpy as np

from engines.base import Label
from engines.warp.body import measure_body
from engines.warp.second_look import looked_at_again
from tests.engines.mannequin import Mannequin, draw_mannequin


def look(mannequin: Mannequin) -> np.ndarray:
    photo = mannequin.photo.astype(np.float32) / 255.0
    body = measure_body(mannequin.person_map, photo)
    return looked_at_again(photo, mannequin.person_map, body).labels


def painted(mannequin: Mannequin, where: np.ndarray, colour: tuple[int, int, int]) -> Mannequin:
    photo = mannequin.photo.copy()
    photo[where] = colour
    return Mannequin(photo, mannequin.person_map)


def test_labels_that_fit_their_colours_stay() -> None:
    mannequin = draw_mannequin(sleeves="none")
    assert np.array_equal(look(mannequin), mannequin.person_map.labels)


def test_black_collar_is_no_neck() -> None:
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels.copy()
    box = (slice(112, 130), slice(225, 255))
    labels[box] = Label.NECK
    photo = mannequin.photo.copy()
    photo[box] = (12, 12, 14)
    found = look(Mannequin(photo, replace(mannequin.person_map, labels=labels)))
    assert (found[box] == Label.UPPER).mean() > 0.8


def test_dark_lining_is_no_blond_hair() -> None:
    mannequin = draw_mannequin(top=(200, 80, 20))
    labels = mannequin.person_map.labels.copy()
    labels[125:150, 180:215] = Label.HAIR
    fair = painted(mannequin, mannequin.person_map.labels == Label.HAIR, (215, 185, 120))
    photo = fair.photo.copy()
    photo[125:150, 180:215] = 10
    found = look(Mannequin(photo, replace(mannequin.person_map, labels=labels)))
    assert (found[125:150, 180:215] == Label.UPPER).all()


def test_metal_ring_on_a_sleeve_is_no_hand() -> None:
    mannequin = draw_mannequin(sleeves="long")
    labels = mannequin.person_map.labels.copy()
    box = (slice(180, 200), slice(225, 250))
    labels[box] = Label.HANDS
    photo = mannequin.photo.copy()
    photo[box] = 230
    found = look(Mannequin(photo, replace(mannequin.person_map, labels=labels)))
    assert (found[box] == Label.UPPER).all()
    assert (found == Label.HANDS).any()
