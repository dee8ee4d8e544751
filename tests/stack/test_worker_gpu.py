"""The GPU worker as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.stack.stack import PROJECT, environment


def test_without_model_files_it_ends_with_one_sentence_before_it_polls(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "worker_gpu.main"],
        cwd=PROJECT,
        env=environment(tmp_path, TRYON_MODELS_DIR=str(tmp_path / "none"), TRYON_LOG_FORMAT="text"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "tryon engines fetch warp" in done.stderr
    assert "Traceback" not in done.stderr
