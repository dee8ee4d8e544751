from dataclasses import replace

import cv2
import numpy as np

from engines.base import Label, Landmark
from engines.warp.body.model import measure_body
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


def test_dark_ring_behind_the_neck_is_no_face() -> None:
    mannequin = draw_mannequin()
    labels, points = mannequin.person_map.labels.copy(), mannequin.person_map.landmarks
    ears = points[[Landmark.LEFT_EAR, Landmark.RIGHT_EAR]]
    row, column = int(ears[:, 1].max()) + 8, int(points[:11, 0].max()) + 12
    bottom = int(np.flatnonzero((labels == Label.UPPER)[:, column])[0])
    box = (slice(row, bottom), slice(column, column + 20))
    labels[box] = Label.FACE
    photo = mannequin.photo.copy()
    photo[box] = (20, 20, 30)
    found = look(Mannequin(photo, replace(mannequin.person_map, labels=labels)))
    assert (found[box] == Label.UPPER).mean() > 0.9
    assert (found == Label.FACE).sum() == (mannequin.person_map.labels == Label.FACE).sum()


def test_collar_ring_beside_the_neck_is_cloth_and_a_bag_is_not() -> None:
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels.copy()
    body = measure_body(mannequin.person_map)
    x, y = body.point(-0.09, 0.30 * body.shoulder_width).round().astype(int)
    ring = (slice(y - 4, y + 5), slice(x, x + 6))
    labels[ring], labels[400:440, 20:60] = Label.OTHER, Label.OTHER
    labels[y + 5 : y + 12, x : x + 6] = Label.UPPER
    found = look(Mannequin(mannequin.photo, replace(mannequin.person_map, labels=labels)))
    assert (found[ring] == Label.UPPER).all()
    assert (found[400:440, 20:60] == Label.OTHER).all()


def test_ear_ring_that_hangs_on_no_garment_is_no_cloth() -> None:
    mannequin = draw_mannequin()
    labels, points = mannequin.person_map.labels.copy(), mannequin.person_map.landmarks
    ears = points[[Landmark.LEFT_EAR, Landmark.RIGHT_EAR]]
    row, column = int(ears[:, 1].max()) + 8, int(points[:11, 0].max()) + 12
    box = (slice(row, row + 10), slice(column, column + 12))
    labels[box] = Label.FACE
    photo = mannequin.photo.copy()
    photo[box] = (20, 20, 30)
    assert np.array_equal(look(Mannequin(photo, replace(mannequin.person_map, labels=labels))), labels)


def test_tattoo_and_glare_within_skin_stay_skin() -> None:
    mannequin = draw_mannequin(sleeves="none")
    arm = cv2.erode((mannequin.person_map.labels == Label.ARMS).astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    photo = mannequin.photo.copy()
    photo[arm & (np.indices(arm.shape)[0] // 12 % 2 == 0)] = (40, 45, 60)
    assert np.array_equal(look(Mannequin(photo, mannequin.person_map)), mannequin.person_map.labels)


def sliver_on(sleeve_colour: int | None, *, width: int) -> tuple[np.ndarray, tuple[slice, slice]]:
    """Labels after the second look at a thing along the edge of the top, in a grey or in the top's own colour."""
    mannequin = draw_mannequin()
    labels, photo = mannequin.person_map.labels.copy(), mannequin.photo.copy()
    row = 260
    edge = int(np.flatnonzero(labels[row] == Label.UPPER)[-1])
    box = (slice(row - 20, row + 20), slice(edge + 1, edge + 1 + width))
    labels[box] = Label.OTHER
    photo[box] = photo[row, edge - 12] if sleeve_colour is None else sleeve_colour
    return look(Mannequin(photo, replace(mannequin.person_map, labels=labels))), box


def test_sliver_in_the_colour_of_the_top_is_a_fold_of_it() -> None:
    found, box = sliver_on(None, width=4)
    assert (found[box] == Label.UPPER).mean() > 0.6


def test_strap_in_another_colour_stays_a_thing() -> None:
    found, box = sliver_on(20, width=4)
    assert (found[box] == Label.OTHER).all()


def test_bag_in_the_colour_of_the_top_stays_a_thing() -> None:
    found, box = sliver_on(None, width=30)
    assert (found[box] == Label.OTHER).mean() > 0.8
