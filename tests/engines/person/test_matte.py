"""The person's outline where cloth and wall are nearly of one colour."""

import numpy as np
from numpy.typing import NDArray

from engines.person.body import Body
from engines.person.matte import refined
from engines.person.networks import Square
from engines.person.pose import Pose
from engines.settling import cells_of, lab_of
from tests.engines.person.test_body import body as body  # noqa: PLC0414 - a fixture

WALL, SHIRT, TROUSERS = 233, 247, 70
SHIRT_BOX = np.s_[110:260, 100:200]
LEFT, RIGHT = 100, 200

Floats = NDArray[np.float32]


def cover(body: Body, photo: NDArray[np.uint8], mask: Floats) -> Floats:
    pose = Pose(body.landmarks, mask, 1.0, Square(150, 240, 400))
    lab = lab_of(photo)
    return refined(pose, mask, body, lab, cells_of(lab))


def person(shirt: int = SHIRT, wall: int = WALL) -> NDArray[np.uint8]:
    photo = np.full((480, 300, 3), wall, np.uint8)
    photo[SHIRT_BOX] = shirt
    photo[260:440, 110:190] = TROUSERS
    photo[60:110, 130:170] = (205, 160, 135)
    return photo


def rough(slip: int) -> Floats:
    """What a network says that is off by some columns and unsure over a dozen."""
    columns = np.arange(300, dtype=np.float32)
    ramp = np.clip(np.minimum(columns - LEFT - slip, RIGHT - slip - columns) / 12 + 0.5, 0.002, 0.998)
    mask = np.tile(ramp, (480, 1)).astype(np.float32)
    mask[:60], mask[440:] = 0.002, 0.002
    return mask


def test_white_shirt_before_a_pale_wall_ends_where_it_ends(body: Body) -> None:
    found = cover(body, person(), rough(slip=5))[150:230] > 0.5

    wrong = found != (np.arange(300) >= LEFT) & (np.arange(300) < RIGHT)
    assert wrong.sum(axis=1).mean() < 2.5


def test_shirt_of_the_colour_of_the_wall_is_left_to_the_networks(body: Body) -> None:
    found = cover(body, person(shirt=WALL), rough(slip=0))[150:230] > 0.5

    assert found[:, LEFT + 6 : RIGHT - 6].all()
    assert not found[:, : LEFT - 8].any()


def test_print_of_the_colour_of_the_wall_is_no_hole(body: Body) -> None:
    photo, mask = person(shirt=40), rough(slip=0)
    photo[170:173, 140:143] = WALL
    mask[168:175, 138:145] = 0.3
    mask[170:173, 140:143] = 0.02

    assert cover(body, photo, mask)[165:180, 135:150].min() == 1


def test_gap_between_arm_and_body_stays_open(body: Body) -> None:
    photo, mask = person(shirt=40), rough(slip=0)
    photo[150:230, 140:160] = WALL
    mask[150:230, 140:160] = 0.05

    assert cover(body, photo, mask)[160:220, 146:154].max() == 0
