from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engines.base import Label, PersonMap, Picture
from engines.person import MediaPipeSegmenter
from tests.engines.drawings import draw_garment


def headless(segmenter: MediaPipeSegmenter, picture: Picture) -> PersonMap | None:
    return segmenter.segment_headless(picture, lambda _step: None, lambda: False)


def test_somebody_in_the_picture_is_seen(segmenter: MediaPipeSegmenter, astronaut: Picture) -> None:
    assert segmenter.shows_person(astronaut)


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve"])
def test_garment_alone_is_nobody(segmenter: MediaPipeSegmenter, kind: str) -> None:
    assert not segmenter.shows_person(draw_garment(kind).picture)


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve"])
def test_garment_alone_is_no_body_without_a_head(segmenter: MediaPipeSegmenter, kind: str) -> None:
    assert headless(segmenter, draw_garment(kind).picture) is None


@pytest.mark.parametrize(("name", "chin"), [("model_4.png", 0.28), ("model_8.png", 0.32), ("00055_00.jpg", 0.24)])
def test_body_is_mapped_without_its_head(segmenter: MediaPipeSegmenter, samples: Path, name: str, chin: float) -> None:
    with Image.open(samples / "person" / name) as image:
        photo = np.asarray(image.convert("RGB"))
    whole = segmenter.segment(photo, lambda _step: None, lambda: False)
    row = round(chin * len(photo))
    assert not segmenter.shows_person(photo[row:])
    found = headless(segmenter, np.ascontiguousarray(photo[row:]))
    assert found is not None
    for label in (Label.UPPER, Label.LOWER):
        one, other = found.labels == label, whole.labels[row:] == label
        assert (one & other).sum() > 0.8 * (one | other).sum()


@pytest.mark.parametrize("folder", ["upper", "lower", "full"])
def test_product_photos_are_no_bodies(segmenter: MediaPipeSegmenter, samples: Path, folder: str) -> None:
    for path in sorted((samples / folder).iterdir()):
        with Image.open(path) as image:
            assert headless(segmenter, np.asarray(image.convert("RGB"))) is None, path.name
