"""What lies between an arm and the old garment is seldom a thing."""

import numpy as np

from engines.base import Label
from engines.warp.body.model import LEFT, BodyModel, measure_body
from engines.warp.plate.arm_crumbs import arm_crumbs
from tests.engines.mannequin import draw_mannequin


def with_thing(share: float, width: int, inwards: bool = True) -> tuple[BodyModel, np.ndarray, np.ndarray, np.ndarray]:
    """A body, its labels with a thing at the edge of an arm at a share of it, the old garment, and the thing."""
    mannequin = draw_mannequin()
    body, labels = measure_body(mannequin.person_map), mannequin.person_map.labels
    column, row = np.rint(body.arms[LEFT].points(np.array([share], np.float32))[0]).astype(int)
    arm = np.flatnonzero(labels[row] == Label.ARMS)
    arm = arm[np.abs(arm - column) < 0.3 * body.shoulder_width]
    thing = np.zeros(labels.shape, bool)
    inner = int(arm.max() if (column < labels.shape[1] // 2) == inwards else arm.min())
    towards = 1 if inner > column else -1
    for step in range(width):
        thing[row - 4 : row + 4, inner - towards * step] = True
    labels[row - 6 : row + 6, inner + towards] = Label.UPPER
    labels[row - 6 : row + 6, inner + 2 * towards] = Label.UPPER
    labels[thing] = Label.OTHER
    return body, labels, np.asarray(labels == Label.UPPER), thing


def test_a_crumb_between_arm_and_cloth_goes() -> None:
    body, labels, old, thing = with_thing(0.6, 3)
    assert thing.any()
    np.testing.assert_array_equal(arm_crumbs(labels, old, body), thing)


def test_a_bracelet_and_a_large_thing_stay() -> None:
    body, labels, old, _ = with_thing(0.97, 3)
    assert not arm_crumbs(labels, old, body).any()
    body, labels, old, thing = with_thing(0.6, 3)
    row, column = (int(part.mean()) for part in np.nonzero(thing))
    labels[row - 30 : row + 30, column - 10 : column + 10] = Label.OTHER
    assert not arm_crumbs(labels, old, body).any()


def test_what_touches_no_old_cloth_stays() -> None:
    body, labels, old, _ = with_thing(0.6, 3)
    assert not arm_crumbs(labels, np.zeros_like(old), body).any()
