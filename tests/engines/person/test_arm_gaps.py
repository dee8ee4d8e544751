"""Gaps between a drawn arm and the body beside it: what is seen in them, and what is on the arm's side of them."""

import cv2
import numpy as np
import pytest

from engines.base import Label
from engines.person.arm_gaps import shaded_arms, wall_between
from engines.person.body import Body
from tests.engines.person.drawn_body import HEIGHT, WIDTH, drawn_body

SKIN, JEANS, WALL = (68.0, 17.0, 23.0), (42.0, -2.0, -22.0), (86.0, 1.0, 3.0)

Plane = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Mask = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

ZOOM = 3
"""Gaps are looked at pixel by pixel: the drawn body is too small for them."""

ELBOW, WRIST, HAND = (ZOOM * 80, ZOOM * 180), (ZOOM * 60, ZOOM * 240), (ZOOM * 59, ZOOM * 262)


def body() -> Body:
    drawn, size = drawn_body(), np.array([ZOOM, ZOOM, ZOOM, 1], np.float32)
    return Body(drawn.landmarks * size, drawn.face, (ZOOM * HEIGHT, ZOOM * WIDTH))


def scene() -> tuple[Plane, Floats, Floats, Mask]:
    """The right arm beside the clothes and its hand, and between them a gap that is called clothes.

    Returns:
        Labels, Lab, matte, and where the gap is.
    """
    shape = (ZOOM * HEIGHT, ZOOM * WIDTH)
    labels, lab = np.full(shape, Label.BACKGROUND, np.uint8), np.empty((*shape, 3), np.float32)
    lab[:] = WALL
    drawn = cv2.line(np.zeros(shape, np.uint8), (ZOOM * 110, ZOOM * 120), ELBOW, 1, ZOOM * 14)
    arm = cv2.line(drawn, ELBOW, WRIST, 1, ZOOM * 14) > 0
    beside = np.logical_or.accumulate(arm, axis=1) & ~arm
    beside[ZOOM * 300 :] = beside[:, ZOOM * 220 :] = False
    lab[beside], labels[beside] = JEANS, Label.LOWER
    gap = np.roll(arm, ZOOM * 6, axis=1) & ~arm
    gap[: ZOOM * 200] = gap[ZOOM * 232 :] = False
    lab[gap] = WALL
    lab[arm], labels[arm] = SKIN, Label.ARMS
    palm = cv2.ellipse(np.zeros(shape, np.uint8), (HAND[0], ZOOM * 256), (ZOOM * 14, ZOOM * 22), 0, 0, 360, 1, -1) > 0
    lab[palm], labels[palm] = SKIN, Label.HANDS
    lab += np.random.default_rng(0).normal(0, 1.0, lab.shape).astype(np.float32)
    return labels, lab, np.where(labels == Label.BACKGROUND, np.float32(0.0), np.float32(1.0)), gap


def disc(radius: int) -> Mask:
    """In the middle of the hand."""
    return np.asarray(cv2.circle(np.zeros((ZOOM * HEIGHT, ZOOM * WIDTH), np.uint8), HAND, radius, 1, -1) > 0)


def test_wall_between_an_arm_and_the_body_is_wall() -> None:
    labels, lab, matte, gap = scene()
    found = wall_between(labels, lab, matte, body())
    assert found[gap].mean() > 0.8
    assert (found & ~gap).sum() < 0.1 * gap.sum()


def test_a_hand_may_be_looked_through() -> None:
    labels, lab, matte, gap = scene()
    lab[gap] = JEANS
    hole = disc(16)
    lab[hole] = WALL
    found = wall_between(labels, lab, matte, body())
    assert found[hole].mean() > 0.9
    assert not (found & ~disc(22)).any()


def test_a_watch_in_the_colour_of_the_wall_is_no_hole() -> None:
    labels, lab, matte, gap = scene()
    lab[gap] = JEANS
    watch = np.s_[ZOOM * 225 : ZOOM * 235]
    lab[watch][labels[watch] == Label.ARMS] = WALL
    labels[watch][labels[watch] == Label.ARMS] = Label.HANDS
    assert not wall_between(labels, lab, matte, body()).any()


def test_a_nail_in_the_colour_of_the_wall_is_no_hole() -> None:
    labels, lab, matte, gap = scene()
    lab[gap] = JEANS
    lab[disc(3)] = WALL
    assert not wall_between(labels, lab, matte, body()).any()


def test_white_stripes_of_a_skirt_before_a_white_wall_stay() -> None:
    labels, lab, matte, _ = scene()
    cloth = labels == Label.LOWER
    lab[cloth] = JEANS
    lab[cloth & (np.indices(cloth.shape)[0] % (16 * ZOOM) < 6 * ZOOM)] = WALL
    assert not wall_between(labels, lab, matte, body()).any()


def test_a_shirt_in_the_colour_of_the_wall_stays() -> None:
    labels, lab, matte, _ = scene()
    lab[labels == Label.LOWER] = WALL
    assert not wall_between(labels, lab, matte, body()).any()


@pytest.mark.parametrize("parted", [True, False], ids=["beyond a gap", "beside the body"])
def test_what_is_dark_on_the_arms_side_of_a_gap_is_the_arm(parted: bool) -> None:
    labels, _, _, gap = scene()
    strip = np.roll(gap, -3 * ZOOM, axis=1) & (labels == Label.ARMS)
    labels[strip], labels[gap] = Label.LOWER, Label.BACKGROUND if parted else Label.LOWER
    found = shaded_arms(labels, body())
    assert found[strip].mean() > 0.9 if parted else not found.any()
    assert not found[~strip].any()


def test_the_corner_of_a_cuff_stays_cloth() -> None:
    labels, _, _, gap = scene()
    corner = np.roll(gap, -3 * ZOOM, axis=1) & (labels == Label.ARMS)
    corner[206 * ZOOM :] = False
    labels[gap], labels[corner] = Label.BACKGROUND, Label.UPPER
    assert not shaded_arms(labels, body()).any()
