"""Hands under the old cuffs: no skin is invented for them, and a long sleeve goes as far as the old one."""

from dataclasses import replace

import numpy as np

from engines.base import Label
from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.warp.body.bare_parts import WRIST_END, bare_arm
from engines.warp.body.hidden_hands import hand_hidden, sleeved_arm
from engines.warp.body.model import RIGHT, BodyModel, measure_body
from engines.warp.drape.upper import drape_upper
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin


def gloved() -> BodyModel:
    """A person whose hands are under the cuffs."""
    person_map = draw_mannequin(sleeves="long").person_map
    skin = np.isin(person_map.labels, (Label.HANDS, Label.ARMS))
    return measure_body(replace(person_map, labels=np.where(skin, np.uint8(Label.UPPER), person_map.labels)))


def test_gloved_hand_is_hidden() -> None:
    assert hand_hidden(gloved(), RIGHT)


def test_bare_hand_is_not_hidden() -> None:
    assert not hand_hidden(measure_body(draw_mannequin(sleeves="long").person_map), RIGHT)


def test_long_sleeve_goes_over_a_hidden_hand() -> None:
    body = gloved()
    cloth = cut_out(draw_garment("long sleeve").picture)
    drape = drape_upper(cloth, find_upper_landmarks(cloth), body)
    assert drape.checks["right_sleeve_end"] > 1.05
    x, y = np.rint(body.arms[RIGHT].points(np.array([1.05], np.float32))[0]).astype(int)
    assert drape.pieces[-1].alpha[y, x] > 0.9


def test_short_sleeve_stays_short() -> None:
    cloth = cut_out(draw_garment("t-shirt").picture)
    drape = drape_upper(cloth, find_upper_landmarks(cloth), gloved())
    assert drape.checks["right_sleeve_end"] < 0.62


def test_no_skin_beyond_a_hidden_wrist() -> None:
    body = gloved()
    assert bare_arm(body, RIGHT, 0.4).share.max() <= WRIST_END + 1e-3


def test_sleeve_leaves_the_picture_with_the_old_one() -> None:
    body = gloved()
    wrist_row = int(body.arms[RIGHT].points(np.ones(1, np.float32))[0, 1])
    cut = wrist_row + round(0.15 * body.shoulder_width)
    cropped = replace(body, shape=(cut, body.shape[1]), labels=body.labels[:cut], matte=body.matte[:cut])
    arm, end = sleeved_arm(cropped.arms[RIGHT], cropped)
    assert arm.points(np.array([end], np.float32))[0, 1] > cut


def test_sleeve_ends_where_the_old_cuff_goes_into_a_pocket() -> None:
    body = gloved()
    wrist = body.arms[RIGHT].points(np.ones(1, np.float32))[0]
    labels = body.labels.copy()
    labels[int(wrist[1]) + 3 :] = Label.LOWER
    _, end = sleeved_arm(body.arms[RIGHT], replace(body, labels=labels))
    assert end < 1.06
