from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from diffusers import Flux2KleinPipeline

from engines.klein.painter import KleinPainter
from tests.engines.klein.tiny import save_tiny_pipeline
from tests.one_thread import one_thread  # noqa: F401  # a fixture


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiny weights; not to be changed."""
    folder = tmp_path_factory.mktemp("klein")
    save_tiny_pipeline(folder)
    return folder


@pytest.fixture
def own_weights(weights: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    return Path(shutil.copytree(weights, tmp_path / "klein"))


@pytest.fixture(scope="session")
def stock(weights: Path) -> Flux2KleinPipeline:
    """The pipeline as diffusers itself loads it."""
    pipeline = Flux2KleinPipeline.from_pretrained(weights, dtype=torch.float32, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


@pytest.fixture(scope="session")
def painter(weights: Path) -> KleinPainter:
    """Set up with the tiny weights; shared, so nothing may be said about its counts but by difference."""
    painter = KleinPainter(str(weights), device="cpu", dtype="float32")
    painter.setup()
    return painter
