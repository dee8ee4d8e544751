"""Invented skin has the hue of the person's own skin, in light and in shadow."""

import cv2
import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import LEFT, BodyModel, measure_body
from engines.warp.skin.tone import FALLBACK, skin_tone
from tests.engines.mannequin import draw_mannequin

BROWN = (0.52, 0.36, 0.26)


def painted(light: np.ndarray | None = None) -> tuple[np.ndarray, BodyModel]:
    """A mannequin with brown arms and neck, brightened by factors of the size of the picture."""
    mannequin = draw_mannequin(sleeves="none", arms="out")
    photo = mannequin.photo.astype(np.float32) / 255.0
    body = measure_body(mannequin.person_map)
    skin = np.isin(body.labels, (Label.NECK, Label.ARMS, Label.HANDS, Label.FACE))
    photo[skin] = BROWN if light is None else np.array(BROWN) * light[skin][:, None]
    return photo, body


def hue_of(colour: np.ndarray) -> float:
    lab = cv2.cvtColor(np.asarray(colour, np.float32).reshape(-1, 1, 3), cv2.COLOR_RGB2LAB).reshape(-1, 3).mean(axis=0)
    return float(np.degrees(np.arctan2(lab[2], lab[1])))


def whole(body: BodyModel) -> tuple[slice, slice]:
    return np.s_[: body.shape[0], : body.shape[1]]


@pytest.mark.parametrize("shade", [1.0, 0.7])
def test_hidden_skin_has_the_hue_of_the_seen_one(shade: float) -> None:
    photo, body = painted()
    ones = np.ones(body.shape, np.float32)
    colour = skin_tone(photo, body, ones).under(shade * ones, whole(body))
    thigh = colour[body.labels == Label.LOWER]
    assert hue_of(thigh) == pytest.approx(hue_of(np.array(BROWN)), abs=3.0)
    assert thigh.mean() == pytest.approx(shade * np.mean(BROWN), rel=0.06)


def test_red_hands_do_not_redden_the_limbs() -> None:
    photo, body = painted()
    photo[body.labels == Label.HANDS] = (0.62, 0.34, 0.28)
    ones = np.ones(body.shape, np.float32)
    colour = skin_tone(photo, body, ones).under(ones, whole(body))
    assert hue_of(colour[body.labels == Label.LOWER]) == pytest.approx(hue_of(np.array(BROWN)), abs=3.0)


def test_an_arm_beside_a_red_hand_takes_half_of_its_redness() -> None:
    photo, body = painted()
    red = (0.62, 0.34, 0.28)
    photo[body.labels == Label.HANDS] = red
    # Nothing of the arms is seen.
    body.labels[body.labels == Label.ARMS] = Label.UPPER
    ones = np.ones(body.shape, np.float32)
    colour = skin_tone(photo, body, ones).under(ones, whole(body))
    x, y = body.arms[LEFT].points(np.array([0.97], np.float32))[0].round().astype(int)
    hue = hue_of(colour[y - 2 : y + 3, x - 2 : x + 3])
    assert hue_of(np.array(red)) + 1.0 < hue < hue_of(np.array(BROWN)) - 1.0


def test_red_legs_do_not_redden_a_belly() -> None:
    photo, body = painted()
    photo[body.labels == Label.LOWER] = (0.42, 0.20, 0.15)
    body.labels[body.labels == Label.LOWER] = Label.LEGS
    ones = np.ones(body.shape, np.float32)
    belly = (body.heights > 0.6) & (body.heights < 0.9) & (np.abs(body.laterals) < 0.2)
    own = (Label.NECK, Label.TORSO_SKIN, Label.ARMS)
    colour = skin_tone(photo, body, ones, own).under(ones, whole(body))
    np.testing.assert_allclose(np.median(colour[belly], axis=0), BROWN, atol=0.02)


def test_a_belly_in_the_shade_has_the_colour_of_arms_in_the_same_shade() -> None:
    photo, body = painted()
    arms = np.isin(body.labels, (Label.ARMS, Label.HANDS))
    shade = np.where(np.abs(body.heights - 0.6) < 0.5, np.float32(0.7), np.float32(1.0))
    # What is dark is redder.
    photo[arms] = np.array(BROWN) * np.where(shade[arms] < 1.0, 0.7, 1.0)[:, None]
    photo[arms & (shade < 1.0), 1:] *= 0.88
    belly = (body.heights > 0.5) & (body.heights < 0.8) & (np.abs(body.laterals) < 0.2)
    colour = skin_tone(photo, body, shade).under(shade, whole(body))
    dark = photo[arms & (shade < 1.0)]
    assert hue_of(np.median(colour[belly], axis=0)) == pytest.approx(hue_of(np.median(dark, axis=0)), abs=0.4)


def test_highlights_are_as_pale_as_those_that_are_seen() -> None:
    shape = draw_mannequin().person_map.labels.shape
    light = (1.0 + 0.3 * np.sin(np.indices(shape)[0] / 12.0)).astype(np.float32)
    photo, body = painted(light)
    skin = np.isin(body.labels, (Label.NECK, Label.ARMS, Label.HANDS, Label.FACE))
    pale = np.clip(light - 0.7, 0.0, None)[..., None] * 0.4
    photo = np.where(skin[..., None], photo + (photo.mean(axis=2, keepdims=True) - photo) * pale, photo)
    ones = np.ones(body.shape, np.float32)
    tone = skin_tone(photo, body, ones)
    thigh = body.labels == Label.LOWER
    dark, lit = (tone.under(np.float32(shade) * ones, whole(body))[thigh] for shade in (0.8, 1.2))

    def colourfulness(pixels: np.ndarray) -> float:
        return float(((pixels[:, 0] - pixels[:, 2]) / pixels[:, 0]).mean())

    assert colourfulness(lit) < 0.93 * colourfulness(dark)


def test_without_skin_there_is_a_usual_one() -> None:
    photo, body = painted()
    body.labels[np.isin(body.labels, (Label.NECK, Label.ARMS, Label.HANDS, Label.FACE))] = Label.UPPER
    ones = np.ones(body.shape, np.float32)
    colour = skin_tone(photo, body, ones).under(ones, whole(body))
    np.testing.assert_allclose(colour, np.broadcast_to(FALLBACK, colour.shape), atol=0.01)
