"""A sheet of cloth before a drawn person, a part of which is seen through the opening of a hood."""

from dataclasses import replace

import numpy as np

from engines.base import Label
from engines.garment.cloth import Cloth
from engines.garment.regions import dilated
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.drape.hood_opening import opened_for_neck
from engines.warp.pieces import Piece
from engines.warp.ribbon import Ribbon, draw
from tests.engines.mannequin import draw_mannequin


def sheet(body: BodyModel) -> tuple[Ribbon, Piece]:
    """Cloth of the photo's size, laid where it lies."""
    height, width = body.shape
    rows, columns = np.linspace(0, height - 1, 20), np.linspace(0, width - 1, 20)
    grid = np.stack(np.meshgrid(columns, rows), axis=-1).astype(np.float32)
    ribbon = Ribbon(grid, grid, np.linspace(-1, 1, 20, dtype=np.float32))
    cloth = Cloth(np.full((height, width, 3), 0.5, np.float32), np.ones((height, width), np.float32))
    return ribbon, draw(ribbon, cloth, body.shape, "torso")


def hood_round_neck() -> tuple[Piece, Piece, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Cloth opened for the upper part of a neck, the cloth before, the opening, the neck in rows and columns."""
    mannequin = draw_mannequin(960, 760)
    body = measure_body(mannequin.person_map)
    ribbon, torso = sheet(body)
    neck = mannequin.person_map.labels == Label.NECK
    rows, columns = (np.flatnonzero(neck.any(axis=axis)) for axis in (1, 0))
    opening = np.zeros(body.shape, bool)
    # The rest of the neck is under the collar of what was worn before.
    opening[rows[0] : rows[0] + 40, columns[0] - 60 : columns[-1] + 60] = True
    return opened_for_neck(torso, ribbon, opening, body), torso, opening, (rows, columns)


def test_neck_is_before_the_inside_of_the_hood_and_the_hood_beside_it() -> None:
    hood, torso, opening, (rows, columns) = hood_round_neck()
    worn = hood.alpha
    middle = (columns[0] + columns[-1]) // 2
    assert worn[rows[0] + 4 : rows[0] + 36, middle - 10 : middle + 11].max() < 0.1
    assert worn[rows[0] : rows[0] + 5, columns[0] - 50 : columns[0] - 20].min() > 0.95
    # The soft edge of a matte above the opening goes with it.
    above = np.roll(opening, -10, axis=0)
    assert worn[~dilated(opening | above, 3) & (torso.alpha > 0.99)].min() > 0.95


def test_garment_without_a_seen_opening_stays_whole() -> None:
    body = measure_body(draw_mannequin(960, 760).person_map)
    ribbon, torso = sheet(body)
    assert opened_for_neck(torso, ribbon, np.zeros(body.shape, bool), body) is torso


def test_no_rim_of_hood_is_left_between_neck_and_hair() -> None:
    mannequin = draw_mannequin(960, 760)
    labels = mannequin.person_map.labels.copy()
    neck = labels == Label.NECK
    first = int(np.flatnonzero(neck.any(axis=1))[0])
    row, middle = first + 16, int(np.flatnonzero(neck[first]).mean())
    labels[row - 8 : row, middle - 12 : middle + 13] = Label.HAIR
    body = measure_body(replace(mannequin.person_map, labels=labels))
    ribbon, torso = sheet(body)
    worn = opened_for_neck(torso, ribbon, np.ones(body.shape, bool), body).alpha
    assert worn[row + 2, middle - 5 : middle + 6].max() < 0.1


def test_what_is_seen_through_the_opening_is_known_to_lie_behind() -> None:
    body = measure_body(draw_mannequin(960, 760).person_map)
    ribbon, torso = sheet(body)
    opening = np.zeros(body.shape, bool)
    opening[100:140, 40:90] = True
    behind = opened_for_neck(torso, ribbon, opening, body).behind
    assert behind is not None
    assert behind[104:136, 44:86].min() > 0.9
    assert behind[200:].max() == 0


def test_the_rim_of_the_hood_before_the_neck_has_no_stairs() -> None:
    mannequin = draw_mannequin(960, 760)
    body = measure_body(mannequin.person_map)
    ribbon, torso = sheet(body)
    neck = mannequin.person_map.labels == Label.NECK
    first, middle = int(np.flatnonzero(neck.any(axis=1))[0]), int(np.flatnonzero(neck.any(axis=0)).mean())
    columns = np.arange(body.shape[1])
    line = first + 24 + 0.3 * (columns - middle)
    worn = opened_for_neck(torso, ribbon, np.arange(body.shape[0])[:, None] < line, body).alpha
    across = np.s_[first + 8 : first + 44, middle - 24 : middle + 25]
    open_rows = (1 - worn[across]).sum(axis=0) - 0.3 * np.arange(49)
    assert np.abs(np.diff(open_rows)).max() < 0.22


def test_the_inside_of_the_hood_is_darkest_beside_the_neck() -> None:
    hood, torso, _, (rows, columns) = hood_round_neck()
    colour = hood.colour[rows[0] + 4, :, 0]
    assert colour[columns[0] - 8] < 0.85 * colour[columns[0] - 55]
    assert colour[columns[0] - 55] < 0.98 * torso.colour[rows[0] + 4, columns[0] - 55, 0]
    assert np.allclose(hood.colour[rows[0] + 60 :], torso.colour[rows[0] + 60 :])


def test_the_soft_upper_edge_of_the_hood_is_no_line_on_the_neck() -> None:
    mannequin = draw_mannequin(960, 760)
    body = measure_body(mannequin.person_map)
    ribbon, _ = sheet(body)
    neck = mannequin.person_map.labels == Label.NECK
    first, middle = int(np.flatnonzero(neck.any(axis=1))[0]), int(np.flatnonzero(neck.any(axis=0)).mean())
    # The hood ends on the neck, and a matte is soft.
    alpha = np.clip((np.arange(body.shape[0]) - first - 18) / 4, 0, 1).astype(np.float32)
    cloth = Cloth(np.full((*body.shape, 3), 0.5, np.float32), np.repeat(alpha[:, None], body.shape[1], axis=1))
    opening = cloth.alpha > 0.5
    opening[first + 40 :] = False
    hood = opened_for_neck(draw(ribbon, cloth, body.shape, "torso"), ribbon, opening, body)
    assert hood.alpha[first + 10 : first + 38, middle - 5 : middle + 6].max() < 0.05
