"""Where trousers end and shoes and ankles begin."""

import numpy as np

from engines.base import Label, Landmark
from engines.warp.body.model import measure_body
from engines.warp.plate.shoe_colours import shoes_told_from_trousers
from engines.warp.plate.stray_cloth import bare_ankles
from tests.engines.mannequin import SKIN, TROUSERS, Mannequin, draw_mannequin

SHOE = (235, 235, 235)

LONGER = 60


def with_shoes(colour: tuple[int, int, int] = SHOE) -> tuple[Mannequin, np.ndarray, np.ndarray]:
    """A mannequin in light shoes that reach some way up, their mask, and the rows of the ankles."""
    mannequin = draw_mannequin()
    labels, height = mannequin.person_map.labels, mannequin.photo.shape[0]
    rows = np.indices(labels.shape)[0]
    ankle = float(mannequin.point(Landmark.LEFT_ANKLE)[1])
    shoes = (labels == Label.FEET) | ((labels == Label.LOWER) & (rows > ankle + 0.005 * height))
    mannequin.photo[shoes] = colour
    labels[shoes] = Label.FEET
    return mannequin, shoes, rows - ankle


def test_a_cuff_called_shoe_is_trousers() -> None:
    mannequin, shoes, below = with_shoes()
    labels, truth = mannequin.person_map.labels, mannequin.person_map.labels.copy()
    labels[(labels == Label.LOWER) & (below > -14)] = Label.FEET
    photo = mannequin.photo.astype(np.float32) / 255.0
    told = shoes_told_from_trousers(photo, labels, measure_body(mannequin.person_map).shoulder_width)
    wrong = labels != truth
    assert wrong.sum() > 500
    assert (told != truth)[wrong].mean() < 0.2
    assert (told[shoes] == Label.FEET).mean() > 0.85


def test_a_dark_sole_beside_a_hem_is_no_cuff() -> None:
    photo, labels = np.full((260, 160, 3), 215, np.uint8), np.full((260, 160), Label.BACKGROUND, np.uint8)
    # A shoe with a sole in the colour of the trousers, from their hem down behind it and along the ground.
    photo[110:220, 40:130], labels[100:220, 40:130] = SHOE, Label.FEET
    photo[110:220, 40:54] = photo[205:220, 40:130] = TROUSERS
    photo[:110, 40:120], labels[:100, 40:120] = TROUSERS, Label.LOWER
    told = shoes_told_from_trousers(photo.astype(np.float32) / 255.0, labels, 150.0)
    assert (told[120:220, 40:54] == Label.FEET).mean() > 0.95
    assert (told[100:108, 44:116] == Label.LOWER).mean() > 0.9


def test_labels_that_are_right_stay() -> None:
    mannequin, _, _ = with_shoes()
    labels = mannequin.person_map.labels
    photo = mannequin.photo.astype(np.float32) / 255.0
    told = shoes_told_from_trousers(photo, labels, measure_body(mannequin.person_map).shoulder_width)
    assert (told != labels).sum() < 0.01 * (labels == Label.FEET).sum()


def test_a_bare_ankle_called_shoe_is_noticed() -> None:
    mannequin, _, below = with_shoes()
    labels = mannequin.person_map.labels
    ankle = (labels == Label.LOWER) & (below > -10)
    mannequin.photo[ankle] = SKIN
    labels[ankle] = Label.FEET
    photo = mannequin.photo.astype(np.float32) / 255.0
    found = bare_ankles(photo, labels, labels == Label.LOWER, measure_body(mannequin.person_map).shoulder_width)
    assert found[ankle].mean() > 0.7
    assert not found[below > 12].any()


def test_a_dark_tongue_below_an_ankle_is_no_line_under_a_hem() -> None:
    mannequin, shoes, below = with_shoes((25, 25, 25))
    labels = mannequin.person_map.labels
    ankle = (labels == Label.LOWER) & (below > -6)
    mannequin.photo[ankle] = SKIN
    labels[ankle] = Label.FEET
    photo = mannequin.photo.astype(np.float32) / 255.0
    found = bare_ankles(photo, labels, labels == Label.LOWER, measure_body(mannequin.person_map).shoulder_width)
    assert found[ankle].mean() > 0.7
    assert found[shoes].mean() < 0.06


def test_a_label_of_the_colour_of_skin_on_a_tongue_is_no_ankle() -> None:
    mannequin, shoes, below = with_shoes((25, 25, 25))
    labels = mannequin.person_map.labels
    ankle = (labels == Label.LOWER) & (below > -6)
    column = float(mannequin.point(Landmark.LEFT_ANKLE)[0])
    tag = shoes & (below < 14) & (np.abs(np.indices(shoes.shape)[1] - column) < 4)
    mannequin.photo[ankle | tag] = SKIN
    labels[ankle] = Label.FEET
    photo = mannequin.photo.astype(np.float32) / 255.0
    found = bare_ankles(photo, labels, labels == Label.LOWER, measure_body(mannequin.person_map).shoulder_width)
    assert found[ankle].mean() > 0.7
    assert found[tag & (below > 4)].mean() < 0.1


def test_boots_of_the_colour_of_skin_are_no_ankles() -> None:
    mannequin, _, below = with_shoes(SKIN)
    labels = mannequin.person_map.labels
    boots = (labels == Label.LOWER) & (below > -40)
    mannequin.photo[boots] = SKIN
    labels[boots] = Label.FEET
    photo = mannequin.photo.astype(np.float32) / 255.0
    unit = measure_body(mannequin.person_map).shoulder_width
    assert not bare_ankles(photo, labels, labels == Label.LOWER, unit).any()


def test_a_patterned_shoe_called_trousers_is_shoe() -> None:
    """The colours of a shoe are several: its mean is none of them."""
    mannequin, shoes, below = with_shoes()
    labels, columns = mannequin.person_map.labels, np.indices(shoes.shape)[1]
    # Long shoes, so that a part of them is surely none of the trousers.
    for _ in range(LONGER):
        shoes[1:] |= shoes[:-1] & (below[1:] > 0)
    mannequin.photo[shoes], labels[shoes] = SHOE, Label.FEET
    mannequin.photo[shoes & ((columns // 8) % 2 == 0)] = (190, 60, 170)
    truth = labels.copy()
    labels[shoes & (below < -2)] = Label.LOWER
    photo = mannequin.photo.astype(np.float32) / 255.0
    told = shoes_told_from_trousers(photo, labels, measure_body(mannequin.person_map).shoulder_width)
    wrong = labels != truth
    assert wrong.sum() > 100
    assert (told == Label.FEET)[wrong].mean() > 0.7
    trousers = (truth == Label.LOWER) & (below < -20)
    assert (told[trousers] == Label.LOWER).all()


def test_a_white_shoe_is_no_ankle_of_pale_skin() -> None:
    pale = (196, 168, 146)
    mannequin, shoes, below = with_shoes((200, 201, 203))
    labels, photo = mannequin.person_map.labels, mannequin.photo
    photo[(photo == SKIN).all(axis=2)] = pale
    ankle = (labels == Label.LOWER) & (below > -10)
    photo[ankle], labels[ankle] = pale, Label.FEET
    seen = photo.astype(np.float32) / 255.0
    found = bare_ankles(seen, labels, labels == Label.LOWER, measure_body(mannequin.person_map).shoulder_width)
    assert found[ankle].mean() > 0.7
    assert not found[shoes & (below > 8)].any()


def test_a_brown_shoe_is_no_ankle() -> None:
    rows, columns = np.indices((200, 160))
    labels = np.full(rows.shape, Label.BACKGROUND, np.uint8)
    photo = np.full((*rows.shape, 3), 215, np.uint8)
    labels[:60, 40:90], photo[:60, 40:90] = Label.LOWER, (40, 50, 90)
    face = (rows > 160) & (columns > 100)
    labels[face], photo[face] = Label.FACE, SKIN
    old = labels == Label.LOWER
    for right, ankle in ((62, True), (125, False)):
        worn, lit = labels.copy(), photo.copy()
        worn[60:110, 35:130], lit[60:110, 35:130] = Label.FEET, SHOE
        lit[60:80, 38:right] = (0.7 * np.array(SKIN)).astype(np.uint8)
        found = bare_ankles(lit.astype(np.float32) / 255.0, worn, old, 150.0)
        assert found[64:76, 42:58].any() == ankle
