"""Invented skin has the hue of the person's own skin, in light and in shadow."""

import cv2
import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.skin.tone import FALLBACK, led_to_seen, skin_texture, skin_tone
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


def test_red_legs_do_not_redden_a_belly() -> None:
    photo, body = painted()
    photo[body.labels == Label.LOWER] = (0.42, 0.20, 0.15)
    body.labels[body.labels == Label.LOWER] = Label.LEGS
    ones = np.ones(body.shape, np.float32)
    belly = (body.heights > 0.6) & (body.heights < 0.9) & (np.abs(body.laterals) < 0.2)
    own = (Label.NECK, Label.TORSO_SKIN, Label.ARMS)
    colour = skin_tone(photo, body, ones, own).under(ones, whole(body))
    np.testing.assert_allclose(np.median(colour[belly], axis=0), BROWN, atol=0.02)


def test_without_skin_there_is_a_usual_one() -> None:
    photo, body = painted()
    body.labels[np.isin(body.labels, (Label.NECK, Label.ARMS, Label.HANDS, Label.FACE))] = Label.UPPER
    ones = np.ones(body.shape, np.float32)
    colour = skin_tone(photo, body, ones).under(ones, whole(body))
    np.testing.assert_allclose(colour, np.broadcast_to(FALLBACK, colour.shape), atol=0.01)


def test_texture_is_as_strong_as_that_of_seen_skin_within_bounds_and_the_same_every_time() -> None:
    def textured(strength: float) -> np.ndarray:
        noise = np.random.default_rng(5).normal(0.0, strength, (120, 120, 1)).astype(np.float32)
        return skin_texture(np.repeat(np.float32(0.5) * (1 + noise), 3, axis=2), np.ones((120, 120), bool), (200, 200))

    smooth, rough, wild, wilder = (textured(strength) for strength in (0.0, 0.01, 0.3, 0.9))
    assert np.diff(smooth, axis=1).std() < 0.5 * np.diff(rough, axis=1).std()
    assert smooth.mean() == pytest.approx(1.0, abs=0.01)
    np.testing.assert_array_equal(wild, wilder)
    # What is darker is redder.
    dark = rough[rough.mean(axis=2) < 0.995].mean(axis=0)
    assert dark[0] > dark[1] > dark[2]


def lacking(label: Label, part: int) -> np.ndarray:
    """Skin of a label in the upper half that is lighter by a tenth; one part of the body all over."""
    beyond = np.full((240, 160, 3), 0.1, np.float32)
    labels = np.full((240, 160), Label.UPPER, np.uint8)
    labels[:120] = label
    parts = [np.full(labels.shape, number == part) for number in range(3)]
    return led_to_seen(beyond, labels, labels == label, (parts[0], parts[1], parts[2]), 160.0)


def test_there_is_no_step_at_the_joint_and_none_further_on() -> None:
    added = lacking(Label.NECK, 0)[:, 80, 0]
    assert abs(added[122] - 0.1) < 0.015
    assert added[230] < 0.03
    assert np.abs(np.diff(added)).max() < 0.006


def test_a_limb_keeps_the_colour_of_what_is_seen_of_it_and_says_nothing_about_the_belly() -> None:
    assert lacking(Label.ARMS, 1)[160, 80, 0] > lacking(Label.NECK, 0)[160, 80, 0] + 0.01
    np.testing.assert_allclose(lacking(Label.ARMS, 0), 0.0, atol=1e-6)
