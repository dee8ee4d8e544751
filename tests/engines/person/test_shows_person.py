from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engines.base import Label, PersonMap, Picture
from engines.person import MediaPipeSegmenter
from engines.person.detection import Detection, Detector
from engines.person.segmenter import shows_skin
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin


def wearer(segmenter: MediaPipeSegmenter, picture: Picture) -> PersonMap | None:
    return segmenter.segment_wearer(picture, lambda _step: None, lambda: False)


def test_somebody_in_the_picture_is_seen(segmenter: MediaPipeSegmenter, astronaut: Picture) -> None:
    found = wearer(segmenter, astronaut)
    assert found is not None
    whole = segmenter.segment(astronaut, lambda _step: None, lambda: False)
    assert np.array_equal(found.labels, whole.labels)


def test_a_picture_is_looked_through_once(
    segmenter: MediaPipeSegmenter, astronaut: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[float] = []
    find = Detector.find

    def counted(self: Detector, photo: Picture, lowest_score: float) -> list[Detection]:
        looked.append(lowest_score)
        return find(self, photo, lowest_score)

    monkeypatch.setattr(Detector, "find", counted)
    for picture in (astronaut, draw_garment("t-shirt").picture):
        looked.clear()
        wearer(segmenter, picture)
        assert len(looked) == 1


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve"])
def test_garment_alone_is_nobody(segmenter: MediaPipeSegmenter, kind: str) -> None:
    assert wearer(segmenter, draw_garment(kind).picture) is None


def test_garment_with_the_form_of_a_body_and_no_skin_is_nobody() -> None:
    somebody = draw_mannequin(sleeves="short").person_map
    labels = np.where(somebody.labels == Label.UPPER, Label.UPPER, Label.BACKGROUND).astype(np.uint8)
    assert shows_skin(somebody)
    assert not shows_skin(replace(somebody, labels=labels))


@pytest.mark.parametrize(("name", "chin"), [("model_4.png", 0.28), ("model_8.png", 0.32), ("00055_00.jpg", 0.24)])
def test_body_is_mapped_without_its_head(segmenter: MediaPipeSegmenter, samples: Path, name: str, chin: float) -> None:
    with Image.open(samples / "person" / name) as image:
        photo = np.asarray(image.convert("RGB"))
    whole = segmenter.segment(photo, lambda _step: None, lambda: False)
    row = round(chin * len(photo))
    found = wearer(segmenter, np.ascontiguousarray(photo[row:]))
    assert found is not None
    for label in (Label.UPPER, Label.LOWER):
        one, other = found.labels == label, whole.labels[row:] == label
        assert (one & other).sum() > 0.8 * (one | other).sum()


@pytest.mark.parametrize("folder", ["upper", "lower", "full"])
def test_product_photos_are_no_bodies(segmenter: MediaPipeSegmenter, samples: Path, folder: str) -> None:
    for path in sorted((samples / folder).iterdir()):
        with Image.open(path) as image:
            assert wearer(segmenter, np.asarray(image.convert("RGB"))) is None, path.name
