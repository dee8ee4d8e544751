"""Straps, and shoulders without sleeves, lie on the shoulders and end there."""

from dataclasses import replace

import numpy as np

from engines.base import Label
from engines.garment.regions import dilated
from engines.warp.body.model import RIGHT, SIDES, BodyModel, measure_body
from engines.warp.drape.fit import Fit
from engines.warp.drape.strap_ends import ended_on_shoulders
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin


def strapped(aside: float = 0.36, *, padded: int = 0, lowered: float = 0.0) -> tuple[BodyModel, int, np.ndarray]:
    """A body, the column of a strap that runs over the whole height of the picture, and the strap's cover.

    Args:
        aside: Where the strap lies, in shoulder widths beside the axis.
        padded: By how many pixels the top that is worn now stands higher than usual.
        lowered: How far below its shoulder joints the person's outline begins, in torso lengths.
    """
    person = draw_mannequin(960, 760, sleeves="none").person_map
    body = measure_body(person)
    if padded:
        higher = dilated(person.labels == Label.UPPER, padded) & (person.labels == Label.BACKGROUND)
        body = replace(body, matte=np.maximum(body.matte, higher), labels=np.where(higher, Label.UPPER, body.labels))
    if lowered:
        body = replace(body, matte=np.where(body.heights < lowered, np.float32(0.0), body.matte))
    column = round(float(body.point(0.0, RIGHT * aside * body.shoulder_width)[0]))
    strap = np.zeros(body.shape, np.float32)
    strap[:, column - 4 : column + 5] = 1.0
    piece = Piece("torso", np.repeat(strap[..., None], 3, axis=2), strap, np.zeros(body.shape, np.float32))
    return body, column, ended_on_shoulders(piece, body).alpha[:, column]


def test_nothing_stands_out_over_the_shoulder() -> None:
    body, column, cover = strapped()
    silhouette = int(np.argmax(body.matte[:, column] > 0.5))
    assert cover[: silhouette - round(0.06 * body.shoulder_width)].max() < 0.05


def test_strap_reaches_the_shoulder() -> None:
    body, column, cover = strapped()
    silhouette = int(np.argmax(body.matte[:, column] > 0.5))
    assert cover[silhouette + round(0.06 * body.shoulder_width) :].min() > 0.95


def test_strap_reaches_a_shoulder_that_is_higher_than_usual() -> None:
    body, column, cover = strapped(0.42, padded=14)
    silhouette = int(np.argmax(body.matte[:, column] > 0.5))
    assert cover[silhouette + round(0.025 * body.shoulder_width) :].min() > 0.95
    assert cover[: silhouette - round(0.02 * body.shoulder_width)].max() < 0.05


def test_strap_ends_at_the_outline_where_the_shoulder_is_lower_than_expected() -> None:
    body, column, cover = strapped(lowered=0.05)
    silhouette = int(np.argmax(body.matte[:, column] > 0.5))
    assert cover[: silhouette - round(0.04 * body.shoulder_width)].max() < 0.05


def shoulders_of_a_slab() -> tuple[BodyModel, Fit, np.ndarray]:
    """A body, where a garment has its shoulders, and the cover of a slab without any shoulders after it ended there."""
    body = measure_body(draw_mannequin(960, 760, sleeves="none").person_map)
    neck, tip = ({side: share * body.tip_offset(side) for side in SIDES} for share in (0.5, 0.9))
    fit = Fit(1.0, 1.0, 0.0, 0.0, 1.0, 1.0, False, neck, tip, 1.0)
    slab = np.where(body.heights > -0.5, np.float32(1.0), np.float32(0.0))
    piece = Piece("torso", np.repeat(slab[..., None], 3, axis=2), slab, np.zeros(body.shape, np.float32))
    return body, fit, ended_on_shoulders(piece, body, fit).alpha


def test_a_shoulder_without_a_sleeve_ends_on_the_skin_and_a_collar_stands_up() -> None:
    body, fit, cover = shoulders_of_a_slab()
    for aside, most in ((0.95 * fit.tip[RIGHT], 0.03), (fit.neck[RIGHT], np.inf)):
        column = round(float(body.point(0.0, RIGHT * aside)[0]))
        first = int(np.argmax(body.matte[:, column] > 0.5))
        off = (first - int(np.argmax(cover[:, column] > 0.5))) / body.shoulder_width
        assert off < most
    assert off > 0.05


def test_it_turns_down_into_the_armhole_in_a_bend() -> None:
    body, fit, cover = shoulders_of_a_slab()
    column = round(float(body.point(0.0, RIGHT * (fit.tip[RIGHT] + 0.04 * body.shoulder_width))[0]))
    first = int(np.argmax(body.matte[:, column] > 0.5))
    assert int(np.argmax(cover[:, column] > 0.5)) > first + 0.02 * body.shoulder_width
