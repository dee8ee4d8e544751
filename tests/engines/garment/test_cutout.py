import cv2
import numpy as np
import pytest

from engines.base import EngineError
from engines.garment.canvas import clear_margin, lay_on_canvas
from engines.garment.cutout import cut_out, garment_mask
from engines.garment.ground import fit_ground
from tests.engines.drawings import DrawnGarment, draw_garment


def overlap(drawn: DrawnGarment) -> float:
    """Intersection over union of the mask found and the mask drawn."""
    found = garment_mask(lay_on_canvas(drawn.picture))
    truth = clear_margin(lay_on_canvas(np.repeat(drawn.mask[..., None], 3, axis=2))[..., 0] > 127)
    return float((found & truth).sum() / (found | truth).sum())


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve", "tank top"])
@pytest.mark.parametrize("ground", [(255, 255, 255), (128, 128, 128), (200, 60, 60)])
def test_finds_garment_on_plain_ground_of_any_colour(kind: str, ground: tuple[int, int, int]) -> None:
    assert overlap(draw_garment(kind, ground=ground)) > 0.97


def test_finds_white_garment_on_white_ground() -> None:
    assert overlap(draw_garment(colour=(247, 247, 246), ground=(255, 255, 255), folds=0.02)) > 0.95


def test_leaves_soft_shadow_outside() -> None:
    assert overlap(draw_garment(shadow=True)) > 0.97


def test_keeps_stripes_of_the_grounds_colour() -> None:
    drawn = draw_garment(stripes=(255, 255, 255), folds=0.06)
    assert overlap(drawn) > 0.93


def test_follows_a_vignette() -> None:
    drawn = draw_garment(ground=(210, 205, 200))
    height, width = drawn.mask.shape
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    shaded = drawn.picture * (1 - 0.15 * (x**2 + y**2) / 2)[..., None]
    picture = np.clip(shaded, 0, 255).astype(np.uint8)
    assert overlap(DrawnGarment(picture, drawn.mask, drawn.points, drawn.axis)) > 0.95


def test_finds_garment_on_clutter() -> None:
    drawn = draw_garment(colour=(30, 120, 60))
    rng = np.random.default_rng(3)
    blocks = rng.integers(60, 255, (20, 18, 3)) * np.array([1.0, 0.6, 0.5])
    clutter = np.kron(blocks, np.ones((40, 40, 1)))[: drawn.mask.shape[0], : drawn.mask.shape[1]]
    picture = np.where(drawn.mask[..., None] > 0, drawn.picture, clutter).astype(np.uint8)
    assert overlap(DrawnGarment(picture, drawn.mask, drawn.points, drawn.axis)) > 0.85


@pytest.mark.parametrize("joint", [(245, 240, 235), (60, 50, 45)])
def test_finds_garment_on_tiles(joint: tuple[int, int, int]) -> None:
    drawn = draw_garment(colour=(40, 60, 150))
    tiled = np.full(drawn.picture.shape, (190, 140, 110), np.uint8)
    rows, columns = np.mgrid[: tiled.shape[0], : tiled.shape[1]]
    tiled[((rows + 45) % 90 < 9) | ((columns + 45) % 90 < 9)] = joint
    picture = np.where(drawn.mask[..., None] > 0, drawn.picture, tiled)
    assert overlap(DrawnGarment(picture, drawn.mask, drawn.points, drawn.axis)) > 0.93


def test_busy_ground_between_two_legs_is_ground() -> None:
    mask = np.zeros((800, 600), np.uint8)
    legs = [(180, 80), (420, 80), (500, 720), (390, 720), (300, 220), (210, 720), (100, 720)]
    cv2.fillPoly(mask, [np.array(legs, np.int32)], 1)
    rng = np.random.default_rng(2)
    boards = cv2.GaussianBlur(rng.normal(0.0, 1.0, (800, 600)), (0, 0), sigmaX=1.5, sigmaY=40)
    wood = np.array([165, 120, 80]) + (boards / boards.std() * 25)[..., None]
    picture = np.where(mask[..., None] > 0, (225, 220, 205), wood)
    found = garment_mask(lay_on_canvas(np.clip(picture, 0, 255).astype(np.uint8)))
    truth = clear_margin(lay_on_canvas(np.repeat(mask[..., None] * 255, 3, axis=2))[..., 0] > 127)
    assert (found & truth).sum() / (found | truth).sum() > 0.98


def test_colours_at_the_edge_are_free_of_the_ground() -> None:
    drawn = draw_garment(colour=(20, 40, 160), ground=(255, 200, 0), folds=0.0)
    cloth = cut_out(drawn.picture)
    edge = (cloth.alpha > 0.2) & (cloth.alpha < 0.9)
    assert edge.sum() > 500
    assert np.abs(cloth.colour[edge] * 255 - (20, 40, 160)).max(axis=1).mean() < 12


def test_alpha_is_partial_only_in_a_thin_ring() -> None:
    cloth = cut_out(draw_garment().picture)
    assert ((cloth.alpha > 0.05) & (cloth.alpha < 0.95)).mean() < 0.03


@pytest.mark.parametrize("picture", ["blank", "whole"])
def test_refuses_pictures_without_a_garment(picture: str) -> None:
    empty = np.full((400, 300, 3), 240, np.uint8)
    if picture == "whole":
        empty[:, :] = np.random.default_rng(0).integers(0, 30, (400, 300, 1)) + 100
    with pytest.raises(EngineError) as error:
        cut_out(empty)
    assert error.value.code == "garment_not_recognised"


def test_grainy_cloth_has_one_smooth_and_sharp_outline() -> None:
    """Pale grain beside white ground must not fray the edge, nor leave it as soft as a halo."""
    rng = np.random.default_rng(5)
    picture = np.full((900, 700, 3), 255, np.uint8)
    grain = rng.integers(0, 2, (600, 400, 1))
    picture[150:750, 150:550] = np.where(grain > 0, (222, 205, 214), (120, 92, 110))
    picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.8), dtype=np.uint8)
    alpha = cut_out(picture).alpha
    rows = alpha[alpha.shape[0] // 2 - 250 : alpha.shape[0] // 2 + 250]
    assert ((rows > 0.05) & (rows < 0.95)).sum(axis=1).max() <= 6, "two edges of about two pixels"
    edge = rows[:, : rows.shape[1] // 2].sum(axis=1)
    assert np.std(edge) < 0.35


def test_pale_cloth_on_the_border_is_not_taken_for_noise_of_the_ground() -> None:
    picture = np.full((900, 700, 3), 246, np.uint8)
    for place in range(20, 700, 60):
        picture[:, place : place + 6] = picture[place : place + 6] = (30, 32, 48)
        picture[:, place + 6 : place + 16] = picture[place + 6 : place + 16] = (241, 241, 239)
    ground = fit_ground(lay_on_canvas(picture))
    assert ground.plain
    assert ground.noise < 1.0


def test_garment_cut_off_at_both_sides_leaves_its_ground_plain() -> None:
    picture = np.full((900, 700, 3), 246, np.uint8)
    picture[100:880] = (30, 90, 60)
    picture[600:, :150] = picture[600:, 550:] = 246
    assert fit_ground(lay_on_canvas(picture)).plain


@pytest.mark.parametrize("end", ["above", "below"])
def test_garment_that_the_picture_cuts_off_is_refused_with_a_sentence(end: str) -> None:
    drawn = draw_garment("t-shirt")
    rows = np.flatnonzero(drawn.mask.any(axis=1))
    cut = rows[0] + round(0.3 * len(rows))
    picture = drawn.picture[cut:] if end == "above" else drawn.picture[:cut]
    with pytest.raises(EngineError, match=r"cuts the garment off\. Send a picture that shows all") as caught:
        cut_out(np.ascontiguousarray(picture))
    assert caught.value.code == "garment_not_recognised"


def test_garment_whose_picture_is_trimmed_to_it_is_whole() -> None:
    drawn = draw_garment("tank top")
    rows, columns = np.flatnonzero(drawn.mask.any(axis=1)), np.flatnonzero(drawn.mask.any(axis=0))
    trimmed = drawn.picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    assert cut_out(np.ascontiguousarray(trimmed)).alpha.any()
