"""Any valid picture ends in a picture or in a refusal with a code and a sentence, never in a fault of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from skimage import data

from engines.base import Category, EngineError, Garment, Label, PersonMap, Picture, RenderRequest
from engines.models import models_present
from engines.person import MediaPipeSegmenter
from engines.warp.engine import WarpEngine
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import dress, photographed, trousers
from tests.engines.mannequin import Mannequin, draw_mannequin

MODELS = Path(__file__).parents[2] / ".models"
CODES = {"person_not_found", "several_people", "pose_not_usable", "garment_not_recognised"}

GARMENTS = {
    "top": Garment(draw_garment().picture, Category.UPPER_BODY),
    "trousers": Garment(photographed(trousers()), Category.LOWER_BODY),
    "dress": Garment(photographed(dress(sleeves=True)), Category.FULL_BODY),
}

Change = Callable[[Picture], Picture]


def astronaut() -> Picture:
    return np.asarray(data.astronaut(), dtype=np.uint8)  # type: ignore[no-untyped-call]  # scikit-image has no types


def resized(picture: Picture, width: int, height: int) -> Picture:
    return np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def grey(picture: Picture) -> Picture:
    return np.repeat(np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), np.uint8)[..., None], 3, axis=2)


NOBODY: dict[str, Picture] = {
    "noise": np.random.default_rng(1).integers(0, 256, (300, 220, 3), dtype=np.uint8),
    "black": np.zeros((200, 150, 3), np.uint8),
    "white": np.full((150, 200, 3), 255, np.uint8),
    "one pixel": np.full((1, 1, 3), 90, np.uint8),
    "one row": np.random.default_rng(2).integers(0, 256, (1, 300, 3), dtype=np.uint8),
    "one column": np.random.default_rng(3).integers(0, 256, (300, 1, 3), dtype=np.uint8),
    "sliver": np.random.default_rng(4).integers(0, 256, (2000, 9, 3), dtype=np.uint8),
    "garment": GARMENTS["dress"].picture,
    "stripes": np.tile(np.repeat(np.array([0, 255], np.uint8), 8)[:, None, None], (20, 200, 3)),
}

SOMEBODY: dict[str, Change] = {
    "as she is": lambda photo: photo,
    "upside down": lambda photo: photo[::-1],
    "lying": lambda photo: photo.transpose(1, 0, 2),
    "grey": grey,
    "dark": lambda photo: photo // 8,
    "blown out": lambda photo: np.where(photo > 60, np.uint8(255), photo),
    "64 pixels": lambda photo: resized(photo, 64, 64),
    "16 pixels": lambda photo: resized(photo, 16, 16),
    "squeezed": lambda photo: resized(photo, 80, 512),
    "flat": lambda photo: resized(photo, 512, 90),
    "head alone": lambda photo: photo[20:230, 130:320],
    "without a head": lambda photo: photo[210:],
    "left half": lambda photo: photo[:, :230],
    "one shoulder": lambda photo: photo[150:, 240:],
    "twice": lambda photo: np.hstack([photo, photo[:, ::-1]]),
    "small in a corner": lambda photo: np.pad(resized(photo, 150, 150), ((500, 0), (0, 450), (0, 0))),
}


FOUND: dict[str, PersonMap | EngineError] = {}


@pytest.fixture(scope="module")
def segmenter() -> MediaPipeSegmenter:
    if not models_present(MODELS):
        pytest.skip("the model files were not fetched")
    loaded = MediaPipeSegmenter(MODELS)
    loaded.setup()
    return loaded


def dressed(photo: Picture, person_map: PersonMap, garment: Garment) -> str:
    """The code of the refusal; empty when a picture of the photo's size came out."""
    try:
        result = WarpEngine().render(RenderRequest(photo, person_map, [garment]), lambda _step: None, lambda: False)
    except EngineError as refusal:
        return checked(refusal)
    assert result.picture.shape == photo.shape
    assert result.picture.dtype == np.uint8
    assert all(np.isfinite(figure) for figure in result.checks.values())
    return ""


def checked(refusal: EngineError) -> str:
    """The code, once it is sure that it comes with a sentence."""
    assert refusal.code in CODES
    assert str(refusal).endswith(".")
    assert str(refusal)[0].isupper()
    return refusal.code


def outcome(segmenter: MediaPipeSegmenter, name: str, garment: Garment) -> str:
    photo = np.ascontiguousarray(NOBODY[name] if name in NOBODY else SOMEBODY[name](astronaut()))
    person_map = seen(segmenter, name, photo)
    return dressed(photo, person_map, garment) if isinstance(person_map, PersonMap) else checked(person_map)


def seen(segmenter: MediaPipeSegmenter, name: str, photo: Picture) -> PersonMap | EngineError:
    """What is found in a picture, once for all garments."""
    if name not in FOUND:
        try:
            FOUND[name] = segmenter.segment(photo, lambda _step: None, lambda: False)
        except EngineError as refusal:
            FOUND[name] = refusal
    return FOUND[name]


@pytest.mark.parametrize("name", NOBODY)
def test_a_picture_without_a_person_is_refused(segmenter: MediaPipeSegmenter, name: str) -> None:
    assert outcome(segmenter, name, GARMENTS["top"]) == "person_not_found"


@pytest.mark.parametrize("garment", GARMENTS)
@pytest.mark.parametrize("name", SOMEBODY)
def test_a_person_in_any_picture_is_dressed_or_refused(segmenter: MediaPipeSegmenter, name: str, garment: str) -> None:
    code = outcome(segmenter, name, GARMENTS[garment])

    if name == "as she is":  # a bust: the photo ends at the waist
        assert code == ("pose_not_usable" if garment == "trousers" else "")
    if name in {"head alone", "twice", "16 pixels"}:
        assert code in CODES


def cut(mannequin: Mannequin, top: float, bottom: float, left: float, right: float) -> Mannequin:
    """A part of the photo with the map that a perfect segmenter gives of it; sides as shares."""
    height, width = mannequin.person_map.labels.shape
    box = np.s_[int(top * height) : int(bottom * height), int(left * width) : int(right * width)]
    before = mannequin.person_map
    landmarks = before.landmarks - np.array([int(left * width), int(top * height), 0, 0], np.float32)
    labels, matte, photo = (np.ascontiguousarray(part[box]) for part in (before.labels, before.matte, mannequin.photo))
    return Mannequin(photo, PersonMap(labels, matte, landmarks, before.score))


PARTS = {
    "head": (0.0, 0.19, 0.3, 0.7),
    "bust": (0.0, 0.33, 0.1, 0.9),
    "to the hips": (0.0, 0.55, 0.0, 1.0),
    "torso": (0.2, 0.5, 0.3, 0.7),
    "legs": (0.55, 1.0, 0.2, 0.8),
    "left half": (0.0, 1.0, 0.0, 0.45),
    "a strip": (0.0, 1.0, 0.49, 0.51),
}


@pytest.mark.parametrize("garment", GARMENTS)
@pytest.mark.parametrize("part", PARTS)
def test_a_perfect_map_of_a_part_is_dressed_or_refused(part: str, garment: str) -> None:
    whole = draw_mannequin()
    piece = cut(whole, *PARTS[part])

    code = dressed(piece.photo, piece.person_map, GARMENTS[garment])

    if part in {"bust", "legs"}:
        assert code == "pose_not_usable"
    if part == "to the hips":
        assert code == ("pose_not_usable" if garment == "trousers" else "")


@pytest.mark.parametrize("garment", GARMENTS)
@pytest.mark.parametrize("labels", ["all cloth", "all skin", "nobody", "noise"])
def test_a_wrong_map_is_survived(labels: str, garment: str) -> None:
    mannequin = draw_mannequin()
    shape = mannequin.person_map.labels.shape
    drawn: dict[str, NDArray[np.uint8]] = {
        "all cloth": np.full(shape, Label.UPPER, np.uint8),
        "all skin": np.full(shape, Label.TORSO_SKIN, np.uint8),
        "nobody": np.zeros(shape, np.uint8),
        "noise": np.random.default_rng(0).integers(0, len(Label), shape, dtype=np.uint8),
    }
    matte = np.where(drawn[labels] > 0, np.uint8(255), np.uint8(0))
    person_map = PersonMap(drawn[labels], matte, mannequin.person_map.landmarks, 0.9)

    dressed(mannequin.photo, person_map, GARMENTS[garment])
