"""The package as a whole, and the distribution that is built of it."""

from __future__ import annotations

import ast
import inspect
import json
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import tryon_client
from tests.tryon_client.replies import ACCEPTED, COMPLETED, PICTURE
from tests.tryon_client.scripted_server import running_server
from tryon_client import AsyncTryOnClient, TryOnClient
from tryon_client.clients import AsyncProducts, Products

FOLDER = Path(tryon_client.__file__).parent
ALLOWED = {*sys.stdlib_module_names, "httpx", "tryon_client"}


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: path.name)
def test_it_needs_httpx_and_python_alone(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert (node.module or "").partition(".")[0] in ALLOWED
        if isinstance(node, ast.Import):
            assert {name.name.partition(".")[0] for name in node.names} <= ALLOWED


def test_it_says_that_it_is_typed() -> None:
    assert (FOLDER / "py.typed").is_file()


def surface(kind: type) -> dict[str, str]:
    """Methods and what they take."""
    methods = inspect.getmembers(kind, inspect.isfunction)
    return {name: str(list(inspect.signature(method).parameters.values())) for name, method in methods}


@pytest.mark.parametrize(("blocking", "asyncio"), [(TryOnClient, AsyncTryOnClient), (Products, AsyncProducts)])
def test_both_clients_take_the_same(blocking: type, asyncio: type) -> None:
    def public(kind: type) -> dict[str, str]:
        return {name: taken for name, taken in surface(kind).items() if not name.startswith("_")}

    assert public(blocking) == public(asyncio)
    assert len(public(blocking)) >= 5


BUILD = """
import sys
from setuptools import build_meta
out = sys.argv[1]
build_meta.build_wheel(out)
build_meta.build_sdist(out)
"""

PROGRAM = """
import json, sys
import tryon_client
with tryon_client.TryOnClient() as client:
    client.run_and_wait("me.jpg", product_id="prod_1").save("out.jpg")
print(json.dumps([tryon_client.__file__, sorted(sys.modules)]))
"""


def needed(name: str) -> set[str]:
    """A distribution and all that it needs, extras left out."""
    found = {name}
    for requirement in map(Requirement, distribution(name).requires or []):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            found |= needed(requirement.name)
    return found


def build(source: Path, out: Path) -> Path:
    """The wheel of a folder of sources; the archive of its sources lies beside it."""
    run([sys.executable, "-c", BUILD, out], source)
    (wheel,) = out.glob("*.whl")
    return wheel


def run(command: list[str | Path], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_installed_and_works_where_nothing_of_the_service_is(tmp_path: Path, jpeg: bytes) -> None:
    """Built from the folder, then from the archive of that, and put beside httpx alone; nothing is downloaded."""
    shutil.copytree(FOLDER, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    first, second = tmp_path / "first", tmp_path / "second"
    build(tmp_path / "source", first)
    (archive,) = first.glob("*.tar.gz")
    with tarfile.open(archive) as sources:
        sources.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    wheel = build(unpacked, second)

    clean = tmp_path / "clean"
    run([sys.executable, "-m", "venv", "--without-pip", clean], tmp_path)
    python = clean / "bin" / "python"
    (packages,) = (clean / "lib").glob("python*/site-packages")
    for name in needed("httpx"):
        for file in distribution(name).files or []:
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.locate(), packages / file)
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    run([*pip, "install", "--no-index", wheel], tmp_path)  # refuses what needs more than is there
    run([*pip, "check"], tmp_path)

    (tmp_path / "me.jpg").write_bytes(jpeg)
    with running_server() as server:
        server.reply(ACCEPTED, COMPLETED)
        answer = run([python, "-I", "-c", PROGRAM], tmp_path, VTO_BASE_URL=server.url, VTO_API_KEY="vto_test_key")
    where, modules = json.loads(answer)
    assert (tmp_path / "out.jpg").read_bytes() == PICTURE
    assert Path(where).is_relative_to(clean)
    assert not {"pydantic", "fastapi", "numpy"} & set(modules)
    assert (packages / "tryon_client" / "py.typed").is_file()
