"""One loaded segmenter and the demonstration photo; everything here skips while the models are not fetched."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from skimage import data

from engines.base import PersonMap, Picture
from engines.models import models_present
from engines.person import MediaPipeSegmenter

MODELS = Path(__file__).parents[3] / ".models"

Segment = Callable[[Picture], PersonMap]


@pytest.fixture(scope="session")
def segmenter() -> MediaPipeSegmenter:
    if not models_present(MODELS):
        pytest.skip("the model files were not fetched")
    loaded = MediaPipeSegmenter(MODELS)
    loaded.setup()
    return loaded


@pytest.fixture(scope="session")
def segment(segmenter: MediaPipeSegmenter) -> Segment:
    return lambda photo: segmenter.segment(photo, lambda _step: None, lambda: False)


@pytest.fixture(scope="session")
def astronaut() -> Picture:
    """512 by 512: a woman in an orange suit, a flag on the left, a model of a shuttle on the right (NASA)."""
    return np.asarray(data.astronaut(), dtype=np.uint8)  # type: ignore[no-untyped-call]  # scikit-image has no types


@pytest.fixture(scope="session")
def astronaut_map(segment: Segment, astronaut: Picture) -> PersonMap:
    return segment(astronaut)
