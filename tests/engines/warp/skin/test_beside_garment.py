"""Beside a closed garment there is no torso, above its armholes and under its hem there may be."""

import numpy as np

from engines.warp.body.model import BodyModel, measure_body
from engines.warp.skin.bare_skin import BELOW_ARMPIT, bare_body, bare_skin, beside_garment
from tests.engines.mannequin import draw_mannequin


def narrow_dress(body: BodyModel, until: float = 2.0) -> np.ndarray:
    return ((np.abs(body.laterals) < 0.3) & (body.heights > 0.1) & (body.heights < until)).astype(np.float32)


def test_both_sides_of_a_dress_are_beside_it() -> None:
    body = measure_body(draw_mannequin(arms="out").person_map)
    beside = beside_garment(body, narrow_dress(body))
    below = (body.heights > BELOW_ARMPIT + 0.05) & (body.heights < 1.5)
    assert beside[below & (np.abs(body.laterals) > 0.34)].all()
    assert not beside[np.abs(body.laterals) < 0.27].any()
    assert not beside[body.heights < BELOW_ARMPIT - 0.05].any()


def test_nothing_is_beside_a_bare_midriff() -> None:
    body = measure_body(draw_mannequin(arms="out").person_map)
    assert not beside_garment(body, narrow_dress(body, until=0.6))[body.heights > 0.65].any()


def test_holes_of_lace_do_not_end_it() -> None:
    body = measure_body(draw_mannequin(arms="out").person_map)
    lace = narrow_dress(body)
    rows, columns = np.indices(body.shape)
    lace[(rows % 6 < 2) & (columns % 6 < 2)] = 0.0
    assert not beside_garment(body, lace)[np.abs(body.laterals) < 0.25].any()


def test_no_torso_stands_out_beside_a_dress_that_is_narrower_than_the_old_clothes() -> None:
    mannequin = draw_mannequin(arms="out", sleeves="none")
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    dressed, far = narrow_dress(body), np.zeros(body.shape, np.float32)
    cover = bare_skin(photo, body, bare_body(photo, body), dressed, far, torso=True, arms=True, legs=True).cover
    waist = (np.abs(body.heights - 0.6) < 0.05) & (np.abs(body.laterals) > 0.34) & (np.abs(body.laterals) < 0.40)
    assert cover[waist & (body.arm_distance > 1.5)].max() < 0.1


def test_below_the_higher_ends_of_a_round_hem_is_the_body() -> None:
    body = measure_body(draw_mannequin(arms="out").person_map)
    bowed = 0.7 - 0.5 * body.laterals**2
    top = narrow_dress(body) * (body.heights < bowed)
    beside = beside_garment(body, top)
    below = (body.heights > bowed) & (body.heights < 0.7)
    assert (below & (np.abs(body.laterals) < 0.27)).sum() > 30
    assert not beside[below & (np.abs(body.laterals) < 0.27)].any()
    assert beside[(np.abs(body.heights - 0.6) < 0.05) & (np.abs(body.laterals) > 0.34)].all()
