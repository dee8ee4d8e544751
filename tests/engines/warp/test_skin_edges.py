"""Where hands and arms end before clothes."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.skin_edges import ending_by_colour

UNIT = 200.0
WHITE, BLACK, KHAKI = (0.94, 0.94, 0.95), (0.06, 0.06, 0.07), (0.68, 0.60, 0.51)
DARK_SKIN, PALE_SKIN, NAIL = (0.45, 0.27, 0.19), (0.80, 0.63, 0.53), (0.66, 0.49, 0.42)
WALL, JEANS = (0.55, 0.57, 0.60), (0.20, 0.33, 0.48)


def drawn(cloth: tuple[float, ...], skin: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A hand with a finger of 14 pixels before cloth: the photo, its labels, and where the hand is."""
    hand = np.zeros((160, 240), bool)
    hand[50:120, 20:90] = hand[70:84, 90:160] = True
    photo = np.where(hand[..., None], np.array(skin, np.float32), np.array(cloth, np.float32))
    labels = np.where(hand, Label.HANDS, Label.UPPER).astype(np.uint8)
    return photo.astype(np.float32), labels, hand


def test_a_nail_that_went_to_the_cloth_comes_back_and_teeth_go() -> None:
    photo, labels, hand = drawn(WHITE, DARK_SKIN)
    photo[73:81, 152:159] = NAIL
    labels[70:84, 152:160] = labels[70:72, 95:150:6] = Label.UPPER
    labels[84:86, 98:150:6] = Label.HANDS
    found = ending_by_colour(photo, labels, UNIT)
    assert ((found == Label.HANDS) != hand).sum() < 12


def test_cloth_between_two_fingers_is_none_of_the_hand() -> None:
    photo, labels, _ = drawn(WHITE, DARK_SKIN)
    gap = np.s_[82:87, 60:80]
    photo[gap] = np.array(WHITE) * 0.9
    found = ending_by_colour(photo, labels, UNIT)
    assert (found[gap] == Label.UPPER).all()
    assert (found[70:78, 40:150] == Label.HANDS).all()


def test_a_dark_crease_of_a_hand_before_black_cloth_stays() -> None:
    photo, labels, _ = drawn(BLACK, PALE_SKIN)
    photo[82:86, 60:82] *= 0.1
    found = ending_by_colour(photo, labels, UNIT)
    assert (found[80:88, 58:82] == Label.HANDS).all()


@pytest.mark.parametrize(("cloth", "skin"), [(KHAKI, PALE_SKIN), (BLACK, PALE_SKIN)])
def test_the_shadow_of_a_hand_stays_cloth(cloth: tuple[float, ...], skin: tuple[float, ...]) -> None:
    photo, labels, hand = drawn(cloth, skin)
    photo[84:88, 90:160] *= 0.5
    found = ending_by_colour(photo, labels, UNIT)
    assert ((found == Label.HANDS) & ~hand).sum() < 20


def test_the_shadow_under_a_hem_is_no_part_of_the_hand_beside_it() -> None:
    photo, labels, hand = drawn(WHITE, DARK_SKIN)
    leg = np.zeros_like(hand)
    leg[122:, 60:240] = True
    leg &= ~hand
    photo[leg], labels[leg] = DARK_SKIN, Label.LEGS
    photo[119:122, 90:150] = np.array(DARK_SKIN) * 0.5
    found = ending_by_colour(photo, labels, UNIT)
    assert (found[119:122, 90:150] == Label.UPPER).all()


def test_the_dark_side_of_an_arm_before_the_wall_is_left_alone() -> None:
    photo = np.full((160, 120, 3), WALL, np.float32)
    labels = np.full((160, 120), Label.BACKGROUND, np.uint8)
    photo[:, 40:52], labels[:, 40:52] = PALE_SKIN, Label.ARMS
    photo[:, 40:42] = np.array(PALE_SKIN) * 0.3
    photo[:, 52:], labels[:, 52:] = BLACK, Label.LOWER
    found = ending_by_colour(photo, labels, UNIT)
    assert (found[:, 40:42] == Label.ARMS).all()


@pytest.mark.parametrize(("cloth", "shade"), [(JEANS, 0.62), (BLACK, 0.4)])
def test_the_shaded_side_of_an_arm_beside_darker_cloth_is_the_arm(cloth: tuple[float, ...], shade: float) -> None:
    photo = np.full((160, 120, 3), cloth, np.float32)
    photo[:, 40:90] = PALE_SKIN
    photo[:, 40:48] *= np.linspace(shade, 1.0, 8, dtype=np.float32)[:, None]
    labels = np.full((160, 120), Label.LOWER, np.uint8)
    labels[:, 40:90] = Label.ARMS
    found = ending_by_colour(photo, labels, UNIT)
    # Black cloth tells less: it looks like skin in a deeper shade.
    assert (found[20:140, 41 if cloth == JEANS else 44 : 90] == Label.ARMS).all()
    assert (found[20:140, :39] == Label.LOWER).all()


def test_half_a_pixel_of_skin_before_blue_cloth_is_where_an_arm_ends() -> None:
    photo = np.full((160, 120, 3), JEANS, np.float32)
    photo[:, 40:90] = PALE_SKIN
    for column, share in ((38, 0.2), (39, 0.35)):
        photo[:, column] = (share * np.array(PALE_SKIN) ** 2.2 + (1 - share) * np.array(JEANS) ** 2.2) ** (1 / 2.2)
    labels = np.full((160, 120), Label.LOWER, np.uint8)
    labels[:, 37:90] = Label.ARMS
    found = ending_by_colour(photo, labels, UNIT)
    assert (found[20:140, 37:39] == Label.LOWER).all()
    assert (found[20:140, 40:90] == Label.ARMS).all()


def test_where_no_clothes_are_near_nothing_changes() -> None:
    photo, labels, _ = drawn(WALL, PALE_SKIN)
    labels[labels == Label.UPPER] = Label.BACKGROUND
    np.testing.assert_array_equal(ending_by_colour(photo, labels, UNIT), labels)
