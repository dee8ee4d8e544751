"""Garments are told from their ground, whatever colour either has, with one smooth outline free of its colour."""

import cv2
import numpy as np
import pytest

from engines.base import Category, EngineError, Picture
from engines.garment.cloth import MARGIN, Cloth, lay_on_canvas
from engines.garment.cutout import cut_out
from tests.engines.drawings import DrawnGarment, draw_garment
from tests.engines.hanging_drawings import network


def lifted(picture: Picture) -> Cloth:
    return cut_out(np.ascontiguousarray(picture), Category.UPPER_BODY, network())


def overlap(drawn: DrawnGarment) -> float:
    """Intersection over union of the mask found and the mask drawn."""
    found = lifted(drawn.picture).alpha > 0.5
    truth = lay_on_canvas(np.repeat(drawn.mask[..., None], 3, axis=2))[..., 0] > 127
    return float((found & truth).sum() / (found | truth).sum())


def on(drawn: DrawnGarment, ground: np.ndarray) -> DrawnGarment:
    picture = np.where(drawn.mask[..., None] > 0, drawn.picture, ground)
    return DrawnGarment(np.clip(picture, 0, 255).astype(np.uint8), drawn.mask, drawn.points, drawn.axis)


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve", "tank top"])
@pytest.mark.parametrize("ground", [(255, 255, 255), (128, 128, 128), (200, 60, 60)])
def test_finds_garment_on_plain_ground_of_any_colour(kind: str, ground: tuple[int, int, int]) -> None:
    assert overlap(draw_garment(kind, ground=ground)) > 0.96


def test_finds_white_garment_on_white_ground() -> None:
    assert overlap(draw_garment(colour=(247, 247, 246), ground=(255, 255, 255), folds=0.02)) > 0.93


def test_leaves_soft_shadow_outside() -> None:
    assert overlap(draw_garment(shadow=True)) > 0.96


def test_keeps_stripes_of_the_grounds_colour() -> None:
    assert overlap(draw_garment(stripes=(255, 255, 255), folds=0.06)) > 0.93


def test_follows_a_vignette() -> None:
    drawn = draw_garment(ground=(210, 205, 200))
    height, width = drawn.mask.shape
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    shaded = drawn.picture * (1 - 0.15 * (x**2 + y**2) / 2)[..., None]
    assert overlap(DrawnGarment(shaded.astype(np.uint8), drawn.mask, drawn.points, drawn.axis)) > 0.95


def test_finds_garment_on_wood() -> None:
    rng = np.random.default_rng(2)
    drawn = draw_garment(colour=(30, 120, 60))
    boards = cv2.GaussianBlur(rng.normal(0.0, 1.0, drawn.mask.shape), (0, 0), sigmaX=1.5, sigmaY=40)
    assert overlap(on(drawn, np.array([165, 120, 80]) + (boards / boards.std() * 25)[..., None])) > 0.93


@pytest.mark.parametrize("joint", [(245, 240, 235), (60, 50, 45)])
def test_finds_garment_on_tiles(joint: tuple[int, int, int]) -> None:
    drawn = draw_garment(colour=(40, 60, 150))
    tiled = np.full(drawn.picture.shape, (190, 140, 110), np.uint8)
    rows, columns = np.mgrid[: tiled.shape[0], : tiled.shape[1]]
    tiled[((rows + 45) % 90 < 9) | ((columns + 45) % 90 < 9)] = joint
    assert overlap(on(drawn, tiled)) > 0.93


def test_a_garment_that_lies_askew_is_turned_upright() -> None:
    drawn = draw_garment("t-shirt")
    height, width = drawn.mask.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), 15.0, 0.85)
    turned = cv2.warpAffine(drawn.picture, matrix, (width, height), borderValue=(255, 255, 255))
    alpha = lifted(np.asarray(turned, np.uint8)).alpha > 0.5
    left, right = alpha[:, : alpha.shape[1] // 2], alpha[:, ::-1][:, : alpha.shape[1] // 2]
    assert (left & right).sum() / (left | right).sum() > 0.85


def test_colours_at_the_edge_are_free_of_the_ground() -> None:
    cloth = lifted(draw_garment(colour=(20, 40, 160), ground=(255, 200, 0), folds=0.0).picture)
    edge = (cloth.alpha > 0.2) & (cloth.alpha < 0.9)
    assert edge.sum() > 500
    assert np.abs(cloth.colour[edge] * 255 - (20, 40, 160)).max(axis=1).mean() < 12


def test_alpha_is_partial_only_in_a_thin_ring() -> None:
    alpha = lifted(draw_garment().picture).alpha
    assert ((alpha > 0.05) & (alpha < 0.95)).mean() < 0.03


def test_nothing_of_the_margin_is_cloth() -> None:
    alpha = lifted(draw_garment().picture).alpha
    assert not alpha[:MARGIN].any()
    assert not alpha[:, -MARGIN:].any()


@pytest.mark.parametrize("picture", ["blank", "noise"])
def test_refuses_pictures_without_a_garment(picture: str) -> None:
    empty = np.full((400, 300, 3), 240, np.uint8)
    if picture == "noise":
        empty[:, :] = np.random.default_rng(0).integers(0, 30, (400, 300, 1)) + 100
    with pytest.raises(EngineError) as error:
        lifted(empty)
    assert error.value.code == "garment_not_recognised"


@pytest.mark.parametrize("end", ["above", "below"])
def test_garment_that_the_picture_cuts_off_is_refused_with_a_sentence(end: str) -> None:
    drawn = draw_garment("t-shirt")
    rows = np.flatnonzero(drawn.mask.any(axis=1))
    cut = rows[0] + round(0.3 * len(rows))
    with pytest.raises(EngineError, match="Send a picture") as caught:
        lifted(drawn.picture[cut:] if end == "above" else drawn.picture[:cut])
    assert caught.value.code == "garment_not_recognised"


def test_garment_whose_picture_is_trimmed_to_it_is_whole() -> None:
    drawn = draw_garment("tank top")
    rows, columns = np.flatnonzero(drawn.mask.any(axis=1)), np.flatnonzero(drawn.mask.any(axis=0))
    assert lifted(drawn.picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]).alpha.any()
