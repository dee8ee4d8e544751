import numpy as np

from engines.garment.cloth import Cloth
from engines.garment.cutout import cut_out
from engines.garment.worn import is_worn, shows_legs
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import SKIN, draw_mannequin


def test_person_in_the_picture_is_seen() -> None:
    mannequin = draw_mannequin(sleeves="long", top=(40, 60, 150))
    alpha = (mannequin.person_map.labels > 0).astype(np.float32)
    assert is_worn(Cloth(mannequin.photo.astype(np.float32) / 255.0, alpha))


def test_garment_alone_is_not_worn() -> None:
    assert not is_worn(cut_out(draw_garment("t-shirt").picture))


def test_skin_coloured_garment_is_not_taken_for_a_person() -> None:
    assert not is_worn(cut_out(draw_garment("long sleeve", colour=(205, 160, 135)).picture))


def test_legs_below_shorts_are_seen() -> None:
    mannequin = draw_mannequin(sleeves="long", top=(40, 60, 150))
    labels = mannequin.person_map.labels
    shorts = (labels > 0) & (np.arange(labels.shape[0])[:, None] > 0.5 * labels.shape[0])
    photo = mannequin.photo.copy()
    below = np.arange(labels.shape[0])[:, None] > 0.7 * labels.shape[0]
    photo[shorts & below] = SKIN
    assert shows_legs(Cloth(photo.astype(np.float32) / 255.0, shorts.astype(np.float32)))
    assert not shows_legs(Cloth(mannequin.photo.astype(np.float32) / 255.0, shorts.astype(np.float32)))
