"""Programs of ours as processes of their own, forked from one that has imported them: that takes seconds for each.

Whatever a program may find in a process of its own it has here too: its environment, its two streams, its umask and
its end. ``tryon up`` is started as a person would, by `tests.stack.stack.Stack`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from runpy import run_module

from cli.main import PLACES

TRYON, API, WORKER_CPU, WORKER_GPU = "cli.main", "api.main", "worker_cpu.main", "worker_gpu.main"
PROJECT = Path(__file__).parents[2]
PATIENCE = 120.0
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(
    [__name__, TRYON, API, WORKER_CPU, WORKER_GPU, *{f"cli.{place.partition(':')[0]}" for place in PLACES.values()}]
)


def run_program(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path = PROJECT
) -> subprocess.CompletedProcess[str]:
    """Run a module to its end, as ``python -m`` does, in a folder."""
    with tempfile.TemporaryDirectory() as streams:
        said, complained = files = Path(streams) / "stdout", Path(streams) / "stderr"
        for file in files:
            file.touch()
        process = FORKS.Process(target=_run, args=(module, list(arguments), dict(environment), folder, files))
        process.start()
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired([module, *arguments], PATIENCE, said.read_text(), complained.read_text())
        return subprocess.CompletedProcess(arguments, process.exitcode, said.read_text(), complained.read_text())


def _run(
    module: str, arguments: list[str], environment: dict[str, str], folder: Path, files: tuple[Path, Path]
) -> None:
    for stream, file in zip((sys.stdout, sys.stderr), files, strict=True):
        descriptor = os.open(file, os.O_WRONLY)
        os.dup2(descriptor, stream.fileno())
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    sys.modules.pop(module, None)  # runpy warns of one that is there
    run_module(module, run_name="__main__", alter_sys=True)
