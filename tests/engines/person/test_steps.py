"""Progress, stopping, and models that are not there."""

from pathlib import Path

import pytest

from engines.base import Picture, RenderStopped
from engines.models import ModelsMissing
from engines.person import MediaPipeSegmenter


def test_each_stage_is_announced_once(segmenter: MediaPipeSegmenter, astronaut: Picture) -> None:
    steps: list[str] = []

    segmenter.segment(astronaut, steps.append, lambda: False)

    assert steps == ["pose", "matte", "parsing", "enlarge"]


def test_stop_before_the_start_does_nothing(segmenter: MediaPipeSegmenter, astronaut: Picture) -> None:
    steps: list[str] = []

    with pytest.raises(RenderStopped):
        segmenter.segment(astronaut, steps.append, lambda: True)

    assert steps == []


def test_stop_takes_effect_between_stages(segmenter: MediaPipeSegmenter, astronaut: Picture) -> None:
    steps: list[str] = []

    with pytest.raises(RenderStopped):
        segmenter.segment(astronaut, steps.append, lambda: bool(steps))

    assert steps == ["pose"]


def test_setup_without_models_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ModelsMissing, match="tryon engines fetch warp"):
        MediaPipeSegmenter(tmp_path).setup()
