"""The compositor on flat layers, where every pixel's expected colour is known."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import Label, Landmark
from engines.warp.body.model import RIGHT, measure_body
from engines.warp.composite.compose import (
    GARMENT_REACH,
    GARMENT_SHADOW,
    SLEEVE_REACH,
    SLEEVE_SHADOW,
    Scene,
    compose,
)
from engines.warp.composite.shadows import contact_shadow
from engines.warp.plate.lay import left_as_it_is
from engines.warp.ribbon import Drape, Piece
from tests.engines.mannequin import Mannequin, draw_mannequin

SHAPE = (960, 760)


def scene_of(mannequin: Mannequin, colour: tuple[float, float, float], cover: np.ndarray) -> Scene:
    """A piece of one colour laid over the photo."""
    photo = mannequin.photo.astype(np.float32) / 255.0
    cover = cover.astype(np.float32)
    piece = Piece("torso", np.array(colour, np.float32) * cover[..., None], cover, np.zeros_like(cover))
    body = measure_body(mannequin.person_map)
    old = np.asarray(mannequin.person_map.labels == Label.UPPER)
    plate = left_as_it_is(photo, mannequin.person_map)
    return Scene(photo, plate, mannequin.person_map, body, old, Drape((piece,), {}))


def everywhere(mannequin: Mannequin) -> np.ndarray:
    return np.ones(mannequin.person_map.labels.shape, bool)


def test_hands_and_face_stay_in_front() -> None:
    mannequin = draw_mannequin(arms="out")
    scene = scene_of(mannequin, (0.1, 0.8, 0.2), everywhere(mannequin))
    picture = compose(scene, seed=0)
    face = mannequin.point(Landmark.NOSE).astype(int)
    fingers = mannequin.point(Landmark.LEFT_INDEX).astype(int)
    for x, y in (face, fingers):
        assert np.abs(picture[y, x] - scene.photo[y, x]).max() < 0.05


def test_white_cloth_stays_neutral_and_is_never_brightened_beyond_white() -> None:
    mannequin = draw_mannequin()
    scene = scene_of(mannequin, (1.0, 1.0, 1.0), mannequin.person_map.labels == Label.UPPER)
    picture = compose(scene, seed=0)
    cloth = scene.drape.alpha > 0.99
    assert picture.max() <= 1.0
    inner = picture[
        cloth & (np.abs(scene.body.laterals) < 0.2) & (scene.body.heights > 0.1) & (scene.body.heights < 0.8)
    ]
    assert np.ptp(inner, axis=1).max() < 0.03
    assert inner.mean() > 0.8


def test_nothing_changes_far_from_the_garment() -> None:
    mannequin = draw_mannequin()
    scene = scene_of(mannequin, (0.2, 0.2, 0.9), mannequin.person_map.labels == Label.UPPER)
    picture = compose(scene, seed=0)
    far = scene.body.heights > 1.5
    assert np.abs(picture - scene.photo)[far].max() < 1e-3


def test_plate_shows_where_the_drape_is_open() -> None:
    mannequin = draw_mannequin()
    scene = scene_of(mannequin, (0.2, 0.2, 0.9), np.zeros_like(everywhere(mannequin)))
    plate = replace(scene.plate, picture=np.full_like(scene.photo, 0.5))
    picture = compose(replace(scene, plate=plate), seed=0)
    x, y = ((mannequin.point(Landmark.LEFT_SHOULDER) + mannequin.point(Landmark.RIGHT_HIP)) / 2).astype(int)
    assert np.abs(picture[y, x] - 0.5).max() < 0.02


def test_arms_beside_the_garment_keep_their_edges_before_the_wall() -> None:
    mannequin = draw_mannequin(sleeves="short")
    scene = scene_of(mannequin, (0.2, 0.2, 0.9), mannequin.person_map.labels == Label.UPPER)
    picture = compose(scene, seed=0)
    labels = mannequin.person_map.labels
    # Beyond the shadow of the cuffs, which falls on the soft edges too.
    far = cv2.dilate((scene.drape.alpha > 0).astype(np.uint8), np.ones((25, 25), np.uint8)) == 0
    beside = (
        (labels == Label.BACKGROUND)
        & (cv2.dilate((labels == Label.ARMS).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0)
        & far
    )
    assert beside.sum() > 100
    assert np.abs(picture - scene.photo)[beside].max() < 0.05


@pytest.mark.parametrize(("tucked", "shaded"), [(False, False), (True, True)])
def test_trousers_throw_no_shadow_on_the_top_that_hangs_over_them(*, tucked: bool, shaded: bool) -> None:
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels
    scene = scene_of(mannequin, (0.8, 0.8, 0.8), labels == Label.LOWER)
    piece = replace(scene.drape.pieces[0], name="skirt")
    waist = replace(scene.body.waist, tucked=tucked)
    worn = Drape((piece,), {})
    picture = compose(
        replace(scene, body=replace(scene.body, waist=waist), old=labels == Label.LOWER, drape=worn), seed=0
    )
    hem = (labels == Label.UPPER) & (cv2.dilate((labels == Label.LOWER).astype(np.uint8), np.ones((9, 1))) > 0)
    hem &= cv2.dilate((labels == Label.LOWER).astype(np.uint8), np.ones((3, 3))) == 0
    assert (picture[hem].mean() < 0.97 * scene.photo[hem].mean()) == shaded


def test_two_shadows_are_as_dark_as_the_darker_one() -> None:
    mannequin = draw_mannequin(960, 760, arms="out", sleeves="none")
    body = measure_body(mannequin.person_map)
    share = body.arm_places[RIGHT][1]
    arms = mannequin.person_map.labels == Label.ARMS
    cuff = (arms & (share > 0) & (share < 0.6)).astype(np.float32)
    piece = Piece("right_sleeve", np.float32([0.2, 0.2, 0.2]) * cuff[..., None], cuff, np.zeros_like(cuff))
    scene = scene_of(mannequin, (0.2, 0.2, 0.9), np.zeros(SHAPE, bool))
    picture = compose(replace(scene, drape=Drape((*scene.drape.pieces, piece), {"right_sleeve_end": 0.6})), seed=0)
    below = arms & (share > 0.62) & (share < 0.66)
    factor = picture[below].mean(axis=1) / scene.photo[below].mean(axis=1)
    unit = body.shoulder_width
    garment = contact_shadow(cuff, GARMENT_REACH * unit, GARMENT_SHADOW)[below]
    sleeve = contact_shadow(cuff, SLEEVE_REACH * unit, SLEEVE_SHADOW)[below]
    assert np.median(factor) < 0.95
    assert np.median(factor / np.minimum(garment, sleeve)) > 0.96


def test_a_shadow_parts_a_sleeve_from_the_torso_below_the_armpit() -> None:
    mannequin = draw_mannequin(960, 760, arms="out", sleeves="none")
    body = measure_body(mannequin.person_map)
    torso = mannequin.person_map.labels == Label.UPPER
    grey = np.float32([0.5, 0.5, 0.5])
    before = ((body.laterals > 0.2) & (body.heights > 0) & (body.heights < 0.8)).astype(np.float32)
    seam = body.point(np.float32([0.0, 0.3]), np.float32([0.2, 0.2]) * body.shoulder_width)
    sleeve = Piece("right_sleeve", grey * before[..., None], before, np.zeros_like(before), np.stack([seam, seam]))
    scene = scene_of(mannequin, (0.5, 0.5, 0.5), torso)
    picture = compose(replace(scene, drape=Drape((*scene.drape.pieces, sleeve), {"right_sleeve_end": 1.0})), seed=0)
    beside = (body.laterals < 0.195) & (body.laterals > 0.185)
    away = (body.laterals < 0.08) & (body.laterals > 0.05)
    along, above = (body.heights > 0.45) & (body.heights < 0.75), (body.heights > 0.05) & (body.heights < 0.2)
    assert picture[beside & along].mean() < 0.78 * picture[away & along].mean()
    assert picture[beside & above].mean() > 0.9 * picture[away & above].mean()


def test_cloth_behind_the_neck_throws_no_shadow_on_it_and_a_neckline_does() -> None:
    mannequin = draw_mannequin(*SHAPE)
    middle, foot = SHAPE[1] // 2, int(mannequin.point(Landmark.LEFT_SHOULDER)[1])
    cover = everywhere(mannequin)
    cover[:foot, middle - 30 : middle + 31] = False
    scene = scene_of(mannequin, (0.1, 0.3, 0.7), cover)
    piece = scene.drape.pieces[0]
    behind = np.where(np.arange(SHAPE[0])[:, None] < foot, cover, False).astype(np.float32)
    hooded = replace(scene, drape=Drape((replace(piece, behind=behind),), {}))
    skin = np.s_[foot - 40 : foot - 25, middle - 27 : middle - 23]
    without, plain = compose(hooded, seed=0)[skin], compose(scene, seed=0)[skin]
    assert np.abs(without / scene.photo[skin] - 1).mean() < 0.03
    assert 0.03 < 1 - float((plain / scene.photo[skin]).mean()) < 0.3 * GARMENT_SHADOW
