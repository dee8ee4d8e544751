from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from engines.fashn.checkpoint import load_network
from engines.fashn.network import FashnNetwork
from tests.engines.fashn.numbers import Numbers
from tests.engines.fashn.weights import write_checkpoint, write_pose_graphs
from tests.one_thread import one_thread  # noqa: F401  # a fixture


@pytest.fixture(scope="session")
def numbers() -> Numbers:
    return Numbers()


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory, numbers: Numbers) -> Path:
    """A whole folder; nobody writes into it."""
    folder = tmp_path_factory.mktemp("fashn")
    write_checkpoint(folder, numbers.weights, numbers.configuration)
    write_pose_graphs(folder)
    return folder


@pytest.fixture
def own_weights(weights: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    return Path(shutil.copytree(weights, tmp_path / "fashn"))


@pytest.fixture(scope="session")
def network(weights: Path) -> FashnNetwork:
    return load_network(weights, device=torch.device("cpu"), dtype=torch.float32)


@pytest.fixture
def own_network(weights: Path) -> FashnNetwork:
    """One that a test may change."""
    return load_network(weights, device=torch.device("cpu"), dtype=torch.float32)
