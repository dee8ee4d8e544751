"""The GPU worker as a process of its own: what it cannot do it says in one sentence, before it polls."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.stack.command_line import WORKER_GPU, run_program
from tests.stack.stack import environment


def refusal(data_dir: Path, **variables: str) -> str:
    """What the worker says before it ends; nobody listens where it would poll."""
    done = run_program(WORKER_GPU, [], environment(data_dir, TRYON_LOG_FORMAT="text", **variables))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count("engine cannot be set up") == 1
    return done.stderr


def test_without_model_files(tmp_path: Path) -> None:
    assert "tryon engines fetch warp" in refusal(tmp_path, TRYON_MODELS_DIR=str(tmp_path / "none"))


def test_engine_that_does_not_exist(tmp_path: Path) -> None:
    assert "'flux' is no route: name one of auto, fashn, klein, warp" in refusal(tmp_path, TRYON_ENGINE="flux")


@pytest.mark.parametrize("name", ["klein", "fashn"])
def test_without_weights(tmp_path: Path, name: str) -> None:
    said = refusal(tmp_path, TRYON_ENGINE=name, TRYON_WEIGHTS_DIR=str(tmp_path), TRYON_DEVICE="cpu")
    assert f"tryon engines fetch {name}" in said


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA GPU")
def test_without_a_gpu(tmp_path: Path) -> None:
    variables = {"TRYON_ENGINE": "klein", "TRYON_KLEIN_MODEL": str(tmp_path), "TRYON_LICENCE_ACKNOWLEDGED": "klein"}
    variables["TRYON_DEVICE"] = "cuda"
    assert "needs a CUDA GPU" in refusal(tmp_path, **variables)


def test_weights_of_which_nobody_knows_the_licence(tmp_path: Path) -> None:
    said = refusal(tmp_path, TRYON_ENGINE="klein", TRYON_KLEIN_MODEL=str(tmp_path), TRYON_DEVICE="cpu")
    assert "not known to allow commercial use" in said
    assert "TRYON_LICENCE_ACKNOWLEDGED=klein" in said
