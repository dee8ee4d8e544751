"""Real pairs and the demonstration photo, end to end; skipped where pictures or models are absent."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from skimage import data

from engines.base import Category, Garment, Label, PersonMap, Picture, RenderRequest, RenderResult
from engines.models import models_present
from engines.person.segmenter import MediaPipeSegmenter
from engines.warp.engine import WarpEngine
from tests.engines.drawings import draw_garment

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT.parent / "shared" / "samples"
MODELS = ROOT / ".models"

PAIRS = [
    ("00055_00.jpg", "00126_00.jpg"),
    ("00121_00.jpg", "00470_00.jpg"),
    ("model_7.png", "050191_1.jpg"),
    ("model_1.png", "hoodie.jpg"),
    ("man-shorts.jpg", "049805_1.jpg"),
    ("seated-outdoors.webp", "00055_00.jpg"),
]

pytestmark = pytest.mark.skipif(not models_present(MODELS), reason="the pose models were not fetched")


@pytest.fixture(scope="module")
def segmenter() -> MediaPipeSegmenter:
    found = MediaPipeSegmenter(MODELS)
    found.setup()
    return found


def dress(segmenter: MediaPipeSegmenter, person: Picture, garment: Picture) -> tuple[RenderResult, PersonMap]:
    person_map = segmenter.segment(person, lambda _: None, lambda: False)
    engine = WarpEngine()
    engine.setup()
    request = RenderRequest(person, person_map, [Garment(garment, Category.UPPER_BODY)])
    return engine.render(request, lambda _: None, lambda: False), person_map


def opened(path: Path) -> Picture:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.uint8)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample pictures are not there")
@pytest.mark.parametrize(("person", "garment"), PAIRS)
def test_pair_is_dressed_and_the_rest_left_alone(segmenter: MediaPipeSegmenter, person: str, garment: str) -> None:
    photo = opened(SAMPLES / "person" / person)
    result, person_map = dress(segmenter, photo, opened(SAMPLES / "upper" / garment))
    assert result.picture.shape == photo.shape
    assert result.checks["chest_cover"] > 0.9
    assert result.checks["garment_symmetry"] > 0.85
    assert 0.05 < result.checks["changed_share"] < 0.5
    face = person_map.labels == Label.FACE
    assert np.abs(result.picture[face].astype(int) - photo[face]).mean() < 3


def test_demonstration_person_wears_the_drawn_garment(segmenter: MediaPipeSegmenter) -> None:
    photo = np.asarray(data.astronaut(), dtype=np.uint8)
    result, person_map = dress(segmenter, photo, draw_garment("long sleeve").picture)
    orange = (photo[..., 0] > 180) & (photo[..., 1] < 130) & (photo[..., 2] < 90) & (person_map.labels == Label.UPPER)
    blue = (result.picture[..., 2].astype(int) - result.picture[..., 0]) > 40
    assert orange.sum() > 20000
    assert blue[orange].mean() > 0.85
    assert result.checks["chest_cover"] > 0.95
