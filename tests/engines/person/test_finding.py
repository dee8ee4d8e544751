"""Who is found in a photo, who is refused, and the squares of photos that the networks look at."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from skimage import data

from engines.base import EngineError, Label, PersonMap, Picture
from engines.person import MediaPipeSegmenter
from engines.person.finding import Detection, PersonFinder
from engines.person.networks import Square
from engines.person.segmenter import shows_skin
from engines.settling import sigmoid
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin
from tests.engines.person.conftest import Segment


def refusal(segment: Segment, photo: Picture) -> str:
    with pytest.raises(EngineError) as caught:
        segment(np.ascontiguousarray(photo))
    return caught.value.code


def wearer(segmenter: MediaPipeSegmenter, picture: Picture) -> PersonMap | None:
    return segmenter.segment_wearer(picture, lambda _step: None, lambda: False)


def opened(path: Path) -> Picture:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def test_blank_pictures_and_noise_have_no_person(segment: Segment) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (512, 512, 3), dtype=np.uint8)
    for picture in (np.zeros((400, 300, 3), np.uint8), np.full((400, 300, 3), 255, np.uint8), noise):
        assert refusal(segment, picture) == "person_not_found"


@pytest.mark.parametrize("name", ["coffee", "chelsea", "rocket"])
def test_picture_of_something_else_has_no_person(segment: Segment, name: str) -> None:
    assert refusal(segment, getattr(data, name)()) == "person_not_found"


@pytest.mark.parametrize("name", ["full/052234_1.jpg", "upper/shirt-0012.jpg"])
def test_product_photo_has_no_person(segment: Segment, samples: Path, name: str) -> None:
    assert refusal(segment, opened(samples / name)) == "person_not_found"


def test_two_people_are_several(segment: Segment, astronaut: Picture) -> None:
    assert refusal(segment, np.hstack([astronaut, astronaut])) == "several_people"


def test_small_figure_in_the_background_is_let_pass(segment: Segment, astronaut: Picture) -> None:
    beside = np.full((512, 400, 3), 200, np.uint8)
    beside[-160:, 100:260] = cv2.resize(astronaut, (160, 160), interpolation=cv2.INTER_AREA)

    found: PersonMap = segment(np.hstack([astronaut, beside]))

    assert found.landmarks[0, 0] < 512


def test_head_without_shoulders_is_no_usable_pose(segment: Segment, astronaut: Picture) -> None:
    assert refusal(segment, astronaut[60:200, 150:300]) == "pose_not_usable"


def test_somebody_in_the_picture_is_seen(segmenter: MediaPipeSegmenter, astronaut: Picture) -> None:
    found = wearer(segmenter, astronaut)
    assert found is not None
    whole = segmenter.segment(astronaut, lambda _step: None, lambda: False)
    assert np.array_equal(found.labels, whole.labels)


def test_a_picture_is_looked_through_once(
    segmenter: MediaPipeSegmenter, astronaut: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[float] = []
    detect = PersonFinder.detect

    def counted(self: PersonFinder, photo: Picture, lowest_score: float) -> list[Detection]:
        looked.append(lowest_score)
        return detect(self, photo, lowest_score)

    monkeypatch.setattr(PersonFinder, "detect", counted)
    for picture in (astronaut, draw_garment("t-shirt").picture):
        looked.clear()
        wearer(segmenter, picture)
        assert len(looked) == 1


def test_garment_with_the_form_of_a_body_and_no_skin_is_nobody() -> None:
    somebody = draw_mannequin(sleeves="short").person_map
    labels = np.where(somebody.labels == Label.UPPER, Label.UPPER, Label.BACKGROUND).astype(np.uint8)
    assert shows_skin(somebody)
    assert not shows_skin(replace(somebody, labels=labels))


@pytest.mark.parametrize(("name", "chin"), [("model_4.png", 0.28), ("model_8.png", 0.32), ("00055_00.jpg", 0.24)])
def test_body_is_mapped_without_its_head(segmenter: MediaPipeSegmenter, samples: Path, name: str, chin: float) -> None:
    photo = opened(samples / "person" / name)
    whole = segmenter.segment(photo, lambda _step: None, lambda: False)
    row = round(chin * len(photo))
    found = wearer(segmenter, np.ascontiguousarray(photo[row:]))
    assert found is not None
    for label in (Label.UPPER, Label.LOWER):
        one, other = found.labels == label, whole.labels[row:] == label
        assert (one & other).sum() > 0.8 * (one | other).sum()


@pytest.mark.parametrize("folder", ["upper", "lower", "full"])
def test_garments_alone_are_nobody(segmenter: MediaPipeSegmenter, samples: Path, folder: str) -> None:
    for path in sorted((samples / folder).iterdir()):
        assert wearer(segmenter, opened(path)) is None, path.name


@pytest.mark.parametrize("angle", [0.0, 0.5, -2.0])
def test_points_come_back_to_the_photo(angle: float) -> None:
    square = Square(70.0, 40.0, 50.0, angle)
    points = np.array([[70.0, 40.0], [80.0, 30.0]], np.float32)
    matrix = square.matrix_to(256)

    drawn = (points @ matrix[:, :2].T + matrix[:, 2]).astype(np.float32)

    assert drawn[0] == pytest.approx((127.5, 127.5))
    assert square.to_photo(drawn + 0.5, 256) == pytest.approx(points, abs=1e-3)


def test_square_beyond_the_frame_is_black_there() -> None:
    photo = np.full((40, 40, 3), 200, np.uint8)

    drawn = Square(0.0, 0.0, 40.0).cut(photo, 64)

    assert (drawn[:28, :28] == 0).all()
    assert (drawn[36:, 36:] == 200).all()


def test_large_square_is_averaged_not_sampled() -> None:
    chequered = (np.indices((512, 512)).sum(axis=0) % 2 * 255).astype(np.uint8)

    drawn = Square(256.0, 256.0, 512.0).cut(np.dstack([chequered] * 3), 64)

    assert np.abs(drawn[4:-4, 4:-4].astype(int) - 127).max() <= 8


def test_cut_and_paste_return_the_map() -> None:
    ramp = np.tile(np.linspace(0, 255, 64).astype(np.uint8), (64, 1))
    square = Square(32.0, 32.0, 40.0)

    pasted = square.paste(square.cut(np.dstack([ramp] * 3), 80)[..., 0].astype(np.float32), 64, 64)

    assert np.abs(pasted[16:48, 16:48] - ramp[16:48, 16:48]).max() < 3
    assert (pasted[:8] == 0).all()


def test_sigmoid_does_not_overflow() -> None:
    assert sigmoid(np.array([-1e9, 0.0, 1e9], np.float32)) == pytest.approx([0, 0.5, 1])
