"""Between an arm and a bare waist there is either a gap that is seen as one, or none."""

import cv2
import numpy as np

from engines.base import Label
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.skin.bare_body import bare_body
from engines.warp.skin.bare_skin import bare_skin
from engines.warp.skin.crease import CREASE, POINT, SLIT, across_creases, gaps, slits
from tests.engines.mannequin import SKIN, draw_mannequin


def naked(half_gap: np.ndarray, body: BodyModel) -> np.ndarray:
    """Skin everywhere but in a gap beside the waist, of half widths in shoulder widths by the height."""
    return np.asarray(np.abs(body.laterals - 0.35) > np.interp(body.heights, np.linspace(0.55, 0.95, 9), half_gap))


def body_without_labels() -> BodyModel:
    body = measure_body(draw_mannequin().person_map)
    body.labels[:] = Label.UPPER
    return body


def test_a_narrow_gap_beside_the_waist_is_skin() -> None:
    body = body_without_labels()
    narrow = 0.5 * (CREASE + POINT)
    cover = naked(np.array([-1, narrow, narrow, narrow, narrow, narrow, narrow, narrow, -1]), body)
    assert (~cover).sum() > 100
    assert gaps(cover, body, np.zeros(body.shape, np.float32)).all()


def test_a_wide_gap_runs_on_to_a_point() -> None:
    body = body_without_labels()
    cover = naked(0.08 * np.array([-0.1, 0.2, 0.4, 0.7, 1.0, 0.7, 0.4, 0.2, -0.1]), body)
    open_ = ~gaps(cover, body, np.zeros(body.shape, np.float32))
    widths = open_.sum(axis=1)
    widths = widths[widths > 0]
    assert widths.max() > 0.13 * body.shoulder_width
    assert max(widths[0], widths[-1]) < 0.045 * body.shoulder_width
    # A dress beside it takes nothing of its points.
    dress = (body.laterals < 0.33).astype(np.float32)
    assert (~gaps(cover, body, dress)).sum() > 0.985 * open_.sum()
    # Under a hem nothing is left of it.
    cloth = np.ones(body.shape, np.float32)
    assert (~gaps(cover, body, cloth)).sum() < open_.sum()


def test_the_point_of_a_gap_lies_in_the_shade_of_both_its_edges() -> None:
    parts = np.ones((120, 120), bool)
    parts[:, 45:75] = False
    colour = np.full((120, 120, 3), 0.9, np.float32)
    colour[parts] = (0.5, 0.4, 0.3)
    mixed = across_creases(colour, np.ones_like(parts), parts, 300.0)
    np.testing.assert_allclose(mixed[60, 60], (0.5, 0.4, 0.3), atol=0.01)


def test_a_belly_is_not_as_dark_as_the_strip_of_it_under_the_old_hem() -> None:
    mannequin = draw_mannequin()
    photo, labels = mannequin.photo.astype(np.float32) / 255.0, mannequin.person_map.labels
    body = measure_body(mannequin.person_map)
    strip = (labels == Label.UPPER) & (body.heights > body.waist.height - 0.07)
    labels[strip] = Label.TORSO_SKIN
    photo[strip] = np.array(SKIN) / 255.0 * 0.5
    body = measure_body(mannequin.person_map, photo)
    from_old = cv2.distanceTransform((labels != Label.UPPER).astype(np.uint8), cv2.DIST_L2, 5)
    nothing = np.zeros(body.shape, np.float32)
    skin = bare_skin(
        photo,
        body,
        bare_body(photo, body),
        nothing,
        np.asarray(from_old, np.float32),
        torso=True,
        arms=True,
        legs=False,
    )
    x, y = body.point(0.7).round().astype(int)
    assert skin.colour[y - 3 : y + 4, x + 8 : x + 20].mean() > 0.95 * np.mean(SKIN) / 255.0


def test_a_slit_between_an_arm_and_a_garment_is_skin_and_an_open_gap_is_not() -> None:
    body = body_without_labels()
    within = (body.heights > 0.3) & (body.heights < 0.8)
    aside = body.laterals - 0.5
    arms, cloth = aside > 0.0, np.where((aside < -0.8 * SLIT) | ~within, np.float32(1.0), np.float32(0.0))
    cloth[arms] = 0.0
    nowhere, beside = np.zeros(body.shape, bool), np.zeros(body.shape, np.float32)
    slit = within & ~arms & (cloth < 0.5)
    assert slit.sum() > 100
    assert slits(nowhere, arms, body, cloth, beside)[slit].mean() > 0.95
    # Away from the old garment the photo shows what is there.
    assert not slits(nowhere, arms, body, cloth, beside + 100.0).any()
    opening = np.where((body.heights > 0.6) & within & (aside < 0.0) & (aside > -0.4), np.float32(0.0), cloth)
    assert slits(nowhere, arms, body, opening, beside).sum() < 0.1 * slit.sum()


def test_the_wall_between_two_fingers_is_not_closed_with_skin() -> None:
    body = body_without_labels()
    labels = np.full(body.shape, Label.BACKGROUND, np.uint8)
    x, y = body.point(0.9).round().astype(int)
    labels[y - 20 : y + 20, x - 20 : x - 1] = labels[y - 20 : y + 20, x + 1 : x + 20] = Label.HANDS
    labels[y + 20 : y + 24, x - 20 : x + 20] = Label.HANDS
    slit = np.s_[y - 10 : y + 19, x - 1 : x + 1]
    nothing, nowhere = np.zeros(body.shape, np.float32), np.zeros(body.shape, bool)
    assert not gaps(nowhere, body.relabelled(labels), nothing)[slit].any()
    labels[labels == Label.HANDS] = Label.LEGS
    assert gaps(nowhere, body.relabelled(labels), nothing)[slit].all()
