"""A body's frame of reference, its outline where cloth and wall are nearly of one colour, and maps made larger."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.base import Label, Landmark
from engines.person.body import Body
from engines.person.finding import Face, Person
from engines.person.matte import enlarged_matte, refined
from engines.person.parsing import enlarged_labels
from engines.settling import cells_of, lab_of

WIDTH, HEIGHT = 300, 480

STANDING: dict[Landmark, tuple[float, float]] = {
    Landmark.LEFT_SHOULDER: (190, 120),
    Landmark.RIGHT_SHOULDER: (110, 120),
    Landmark.LEFT_ELBOW: (210, 180),
    Landmark.RIGHT_ELBOW: (90, 180),
    Landmark.LEFT_WRIST: (220, 240),
    Landmark.RIGHT_WRIST: (80, 240),
    Landmark.LEFT_PINKY: (222, 250),
    Landmark.RIGHT_PINKY: (78, 250),
    Landmark.LEFT_INDEX: (220, 252),
    Landmark.RIGHT_INDEX: (80, 252),
    Landmark.LEFT_HIP: (170, 250),
    Landmark.RIGHT_HIP: (130, 250),
    Landmark.LEFT_KNEE: (172, 340),
    Landmark.RIGHT_KNEE: (128, 340),
    Landmark.LEFT_ANKLE: (174, 430),
    Landmark.RIGHT_ANKLE: (126, 430),
    Landmark.LEFT_FOOT_INDEX: (184, 445),
    Landmark.RIGHT_FOOT_INDEX: (116, 445),
}

WALL, SHIRT, TROUSERS = 233, 247, 70
SHIRT_BOX = np.s_[110:260, 100:200]
LEFT, RIGHT = 100, 200

Floats = NDArray[np.float32]


def somebody(mask: Floats) -> Person:
    landmarks = np.ones((len(Landmark), 4), np.float32)
    for landmark, place in STANDING.items():
        landmarks[landmark, :2] = place
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    oval = np.column_stack([150 + 22 * np.cos(turn), 65 + 30 * np.sin(turn)]).astype(np.float32)
    face = Face(oval, np.array([150, 95], np.float32), 44.0, measured=True)
    return Person(landmarks, 1.0, mask, mask, face)


def framed(box: tuple[int, int, int, int] = (0, 0, WIDTH, HEIGHT), step: int = 1) -> Body:
    person = somebody(np.zeros((HEIGHT, WIDTH), np.float32))
    return Body(person.landmarks, person.face, box, step)


def test_height_runs_from_shoulders_to_hips() -> None:
    body = framed()
    assert body.height[120, 20] == pytest.approx(0, abs=1e-5)
    assert body.height[250, 280] == pytest.approx(1, abs=1e-5)
    assert body.aside[200, 150] == pytest.approx(0, abs=1e-5)
    assert body.aside[200, 230] == pytest.approx(1, abs=1e-5)


def test_position_along_the_nearer_limb() -> None:
    body = framed()
    assert body.arm.position[180, 210] == pytest.approx(1, abs=0.02)
    assert body.arm.position[240, 80] == pytest.approx(2, abs=0.02)
    assert body.leg.position[340, 172] == pytest.approx(1, abs=0.02)
    assert body.arm.offset[180, 210] == pytest.approx(0, abs=0.02)


def test_reach_takes_in_the_body_and_not_the_corners() -> None:
    body = framed()
    assert max(body.reach[65, 150], body.reach[200, 150], body.reach[240, 80], body.reach[430, 126]) < 1
    assert min(body.reach[5, 5], body.reach[5, 295], body.reach[475, 5], body.reach[300, 295]) > 1.5


def test_legs_that_the_photo_cuts_off_may_stand_further_out() -> None:
    whole, above_the_knees = framed(), framed((0, 0, WIDTH, 330))
    beside = (325, 210)
    assert above_the_knees.reach[beside] < 0.6 * whole.reach[beside]
    assert min(above_the_knees.reach[180, 250], above_the_knees.reach[20, 280]) > 1.2


def test_a_part_of_the_photo_and_a_smaller_copy_have_the_same_body() -> None:
    whole, part, small = framed(), framed((40, 30, 200, 300)), framed(step=4)
    box = np.s_[30:330, 40:240]
    assert part.height == pytest.approx(whole.height[box], abs=1e-4)
    assert part.head == pytest.approx(whole.head[box], abs=1e-4)
    assert part.leg.offset == pytest.approx(whole.leg.offset[box], abs=1e-3)
    assert (part.on_face == whole.on_face[box]).all()
    assert small.reach.shape == (HEIGHT // 4, WIDTH // 4)
    assert np.abs(small.reach - (whole.reach[1::4, 1::4] + whole.reach[2::4, 2::4]) / 2).max() < 0.05


def cover(photo: NDArray[np.uint8], mask: Floats) -> Floats:
    lab = lab_of(photo)
    return refined(somebody(mask), lab, cells_of(lab))


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


def test_white_shirt_before_a_pale_wall_ends_where_it_ends() -> None:
    found = cover(person(), rough(slip=5))[150:230] > 0.5

    wrong = found != (np.arange(300) >= LEFT) & (np.arange(300) < RIGHT)
    assert wrong.sum(axis=1).mean() < 2.5


def test_shirt_of_the_colour_of_the_wall_is_left_to_the_networks() -> None:
    found = cover(person(shirt=WALL), rough(slip=0))[150:230] > 0.5

    assert found[:, LEFT + 6 : RIGHT - 6].all()
    assert not found[:, : LEFT - 8].any()


def test_print_of_the_colour_of_the_wall_is_no_hole() -> None:
    photo, mask = person(shirt=40), rough(slip=0)
    photo[170:173, 140:143] = WALL
    mask[168:175, 138:145] = 0.3
    mask[170:173, 140:143] = 0.02

    assert cover(photo, mask)[165:180, 135:150].min() == 1


def test_gap_between_arm_and_body_stays_open() -> None:
    photo, mask = person(shirt=40), rough(slip=0)
    photo[150:230, 140:160] = WALL
    mask[150:230, 140:160] = 0.05

    assert cover(photo, mask)[160:220, 146:154].max() == 0


def test_a_piece_that_hangs_on_to_nothing_is_dropped() -> None:
    photo, mask = person(shirt=40), rough(slip=0)
    photo[300:320, 230:250], mask[300:320, 230:250] = 40, 0.998

    assert cover(photo, mask)[298:322, 228:252].max() < 0.5


def test_map_of_the_right_size_is_left_alone() -> None:
    labels = np.full((30, 20), Label.UPPER, np.uint8)

    assert (enlarged_labels(labels, 30, 20) == labels).all()


def test_slanting_border_becomes_smooth_and_no_label_is_made_up() -> None:
    rows, columns = np.indices((40, 40))
    labels = np.where(rows > columns, np.uint8(Label.UPPER), np.uint8(Label.LEGS)).astype(np.uint8)

    large = enlarged_labels(labels, 400, 400)

    rows, columns = np.indices((400, 400))
    off = (large == Label.UPPER) != (rows > columns)
    assert set(np.unique(large)) == {Label.UPPER, Label.LEGS}
    assert (np.abs(rows - columns)[off] < 12).all()


def test_matte_takes_the_edge_of_the_large_photo() -> None:
    photo = np.full((200, 240, 3), 230, np.uint8)
    photo[:, 123:] = 30
    small = np.full((50, 60, 3), 230, np.uint8)
    small[:, 31:] = 30
    small[:, 30] = 80
    matte = np.zeros((50, 60), np.float32)
    matte[:, 31:] = 1.0
    matte[:, 30] = 0.75

    large = enlarged_matte(matte, small, photo)

    assert large.dtype == np.uint8
    assert large[:, :121].max() < 40
    assert large[:, 125:].min() > 215
