"""A hand before trousers of nearly its own colour, and before a bare thigh: drawn, so that every finger is known."""

import cv2
import numpy as np
import pytest

from engines.base import Label
from engines.person.hands import cut_out, thighs_beside
from engines.person.naming import LOWER, SKIN
from tests.engines.person.drawn_body import HEIGHT, WIDTH, drawn_body

SKIN_COLOUR, KHAKI, SHADE, WALL = (68.0, 17.0, 23.0), (72.0, 5.0, 11.0), (50.0, 9.0, 15.0), (95.0, 0.0, 0.0)

Plane = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Truth = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def hand() -> Truth:
    """Forearm, palm and three fingers with trousers in between."""
    drawn = np.zeros((HEIGHT, WIDTH), np.uint8)
    cv2.line(drawn, (195, 180), (190, 240), 1, 14)
    cv2.ellipse(drawn, (189, 250), (10, 12), 0, 0, 360, 1, -1)
    for column in (182, 189, 196):
        cv2.line(drawn, (column, 255), (column, 276), 1, 4)
    return drawn > 0


def away(truth: Truth) -> Floats:
    """Distance from the hand, in pixels."""
    return np.asarray(cv2.distanceTransform((~truth).astype(np.uint8), cv2.DIST_L2, 5), dtype=np.float32)


def photo(truth: Truth) -> Floats:
    """The hand and its shadow, which fades over thirty pixels."""
    lab = np.empty((HEIGHT, WIDTH, 3), np.float32)
    lab[:] = WALL
    light = np.clip(away(truth) / 30, 0, 1)[170:440, 120:225, None]
    lab[170:440, 120:225] = np.array(SHADE) * (1 - light) + np.array(KHAKI) * light
    lab[truth] = SKIN_COLOUR
    noise = np.random.default_rng(0).normal(0, 1.0, lab.shape)
    return (lab + noise).astype(np.float32)


def materials(skin: Truth) -> Plane:
    owners = np.zeros((HEIGHT, WIDTH), np.uint8)
    owners[170:440, 120:225] = LOWER
    owners[skin] = SKIN
    return owners


def test_shadow_beside_a_hand_is_trousers() -> None:
    truth = hand()
    shade = (away(truth) < 7) & ~truth
    shade[:, :190] = shade[:190] = shade[278:] = False

    owners, found = cut_out(materials(shade | truth), photo(truth), drawn_body())

    below = np.s_[200:290]
    assert shade[below].sum() > 400
    assert ((owners == SKIN) & ~truth)[below].sum() < 0.25 * shade[below].sum()
    assert ((owners != SKIN) & truth)[below].sum() < 40
    assert (found & ~truth)[below].sum() < 0.25 * shade[below].sum()


def test_fingers_that_were_taken_for_trousers_come_back() -> None:
    truth = hand()
    palm = truth.copy()
    palm[262:] = False
    assert (truth & ~palm).sum() > 100

    owners, _ = cut_out(materials(palm), photo(truth), drawn_body())

    assert ((owners == SKIN) & truth & ~palm).sum() > 0.75 * (truth & ~palm).sum()
    assert ((owners == SKIN) & ~truth).sum() < 40


def test_bare_belly_beside_a_forearm_stays_skin() -> None:
    truth = hand()
    belly = np.zeros_like(truth)
    belly[195:212, 120:190] = True
    lab = photo(truth)
    lab[belly & ~truth] = (60.0, 10.0, 14.0)

    owners, _ = cut_out(materials(truth | belly), lab, drawn_body())

    assert (owners[belly] == SKIN).mean() > 0.98


@pytest.mark.parametrize("covered", [True, False], ids=["sleeve", "wall"])
def test_nothing_changes_where_there_is_no_hand_or_no_cloth(covered: bool) -> None:
    owners = np.zeros((HEIGHT, WIDTH), np.uint8)
    owners[hand()] = LOWER if covered else SKIN

    after, found = cut_out(owners, photo(hand()), drawn_body())

    assert np.array_equal(after, owners)
    assert not found.any()


def test_the_same_hand_is_cut_the_same_way() -> None:
    truth = hand()
    lab, owners = photo(truth), materials(truth)

    first, again = cut_out(owners, lab, drawn_body())[0], cut_out(owners, lab, drawn_body())[0]

    assert np.array_equal(first, again)


def before_a_thigh(truth: Truth) -> tuple[Plane, Floats]:
    """A hand before a bare thigh in its own colours, darker only; what lies near the hand is named as the hand."""
    thigh = np.zeros_like(truth)
    thigh[240:440, 120:200] = True
    lab = np.empty((HEIGHT, WIDTH, 3), np.float32)
    lab[:] = WALL
    lab[thigh] = SKIN_COLOUR
    lab[thigh, 0] -= 14.0
    lab[truth] = SKIN_COLOUR
    lab += np.random.default_rng(0).normal(0, 1.0, lab.shape).astype(np.float32)
    labels = np.full(truth.shape, Label.BACKGROUND, np.uint8)
    labels[thigh] = Label.LEGS
    labels[truth | (thigh & (away(truth) < 12))] = Label.HANDS
    labels[:240][labels[:240] == Label.HANDS] = Label.ARMS
    return labels, lab


def test_bare_thigh_beside_a_hand_is_a_leg() -> None:
    truth = hand()
    labels, lab = before_a_thigh(truth)
    hands = labels == Label.HANDS
    assert (hands & ~truth).sum() > 600

    thighs = thighs_beside(labels, lab, drawn_body())

    assert not (thighs & ~hands).any()
    assert (thighs & ~truth).sum() > 0.8 * (hands & ~truth).sum()
    assert (thighs & truth).sum() < 0.1 * (hands & truth).sum()


def test_hand_away_from_legs_stays_whole() -> None:
    truth = hand()
    labels, lab = before_a_thigh(truth)
    labels[labels == Label.LEGS] = Label.LOWER

    assert not thighs_beside(labels, lab, drawn_body()).any()
