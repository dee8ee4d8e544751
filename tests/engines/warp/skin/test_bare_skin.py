"""Between an arm and a bare waist there is either a gap that is seen as one, or none."""

import cv2
import numpy as np

from engines.base import Label
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.skin.bare_skin import bare_body, bare_skin
from tests.engines.mannequin import SKIN, draw_mannequin


def naked(half_gap: np.ndarray, body: BodyModel) -> np.ndarray:
    """Skin everywhere but in a gap beside the waist, of half widths in shoulder widths by the height."""
    return np.asarray(np.abs(body.laterals - 0.35) > np.interp(body.heights, np.linspace(0.55, 0.95, 9), half_gap))


def body_without_labels() -> BodyModel:
    body = measure_body(draw_mannequin().person_map)
    body.labels[:] = Label.UPPER
    return body


def test_a_belly_is_not_as_dark_as_the_strip_of_it_under_the_old_hem() -> None:
    mannequin = draw_mannequin()
    photo, labels = mannequin.photo.astype(np.float32) / 255.0, mannequin.person_map.labels
    body = measure_body(mannequin.person_map)
    strip = (labels == Label.UPPER) & (body.heights > body.waist.height - 0.07)
    labels[strip] = Label.TORSO_SKIN
    photo[strip] = np.array(SKIN) / 255.0 * 0.5
    body = measure_body(mannequin.person_map)
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
