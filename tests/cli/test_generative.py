"""``tryon demo --engine`` and ``tryon engines check``, with a tiny network of FASHN's from a local hub."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import huggingface_hub.constants
import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from typer.testing import CliRunner, Result

import cli.engine_demo
import cli.engines
from api.dashboard.samples import PORTRAIT, pixels_of
from cli.main import app
from engines.base import EngineUnavailable
from engines.catalogue import OFFERED
from engines.fashn.about import MODEL, POSES
from engines.models import models_present
from tests.engines.fashn.numbers import Numbers
from tests.engines.fashn.weights import write_checkpoint, write_pose_graphs
from tests.one_thread import one_thread  # noqa: F401  # a fixture
from tests.servers.hub import COMMIT, FakeHub, running_hub

MODELS = Path(__file__).parents[2] / ".models"
WIDE_OPEN = {
    "CONTRAST": "0", "CHANGED": "0", "OUTSIDE": "1", "SHIFT": "1", "CAST": "200", "FACE": "-1", "PEOPLE_OFF_BY": "1",
    "POSE": "99", "COLOURS": "0",
}  # fmt: skip
"""A network of random weights draws noise."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """Files of both repositories."""
    folder = tmp_path_factory.mktemp("published")
    numbers = Numbers()
    write_checkpoint(folder, numbers.weights, numbers.configuration)
    write_pose_graphs(folder)
    return {
        MODEL: {"model.safetensors": (folder / "model.safetensors").read_bytes()},
        POSES: {path.name: path.read_bytes() for path in (folder / "dwpose").iterdir()},
    }


@pytest.fixture
def hub(published: dict[str, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    with running_hub(FakeHub({}, published)) as running:
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", running.address)
        files = f"{running.address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", files)
        yield running


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in; the device is the CPU, and three steps are enough."""
    if not models_present(MODELS):
        pytest.skip("the pose models were not fetched")
    monkeypatch.chdir(tmp_path)
    variables = {"MODELS_DIR": str(MODELS), "WEIGHTS_DIR": "weights", "DEVICE": "cpu", "PRECISION": "float32"}
    variables |= {"FASHN_STEPS": "3"} | {f"CHECK_{name}": value for name, value in WIDE_OPEN.items()}
    for name, value in variables.items():
        monkeypatch.setenv(f"TRYON_{name}", value)
    return tmp_path


def tryon(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


@pytest.fixture
def weights(hub: FakeHub, here: Path) -> Path:
    assert tryon("engines", "fetch", "fashn").exit_code == 0
    return here / "weights" / "fashn"


def levels(answer: Result) -> dict[str, str]:
    return {finding["subject"]: finding["level"] for finding in json.loads(answer.stdout)["findings"]}


def test_demo_tells_what_comes_fetches_it_and_draws_beside_the_embedded_engine(
    hub: FakeHub, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = tryon("demo", "--engine", "fashn", "--yes")
    assert answer.exit_code == 0, answer.output
    told, _, done = answer.output.partition("Ctrl-C stops it at any time")
    for part in (
        MODEL,
        POSES,
        "Apache-2.0",
        "model.safetensors",
        "yolox_l.onnx",
        "into       weights/fashn",
        " GB are",
    ):
        assert part in told
    assert "on cpu in float32 (computed; measured once it is loaded)" in told
    assert "SHA-256 verified" in done
    assert len(hub.downloads) == 3
    with Image.open(here / "out" / "demo-fashn.png") as drawn, Image.open(here / "out" / "demo-warp.png") as embedded:
        assert drawn.size == embedded.size == (1024, 1024)
    with Image.open(here / "out" / "demo-fashn-sheet.jpg") as sheet:
        assert sheet.width > 3 * 1024
    hub.downloads.clear()
    monkeypatch.setattr(cli.engine_demo, "draw_with", lambda *_given: {"error": "seen"})
    assert tryon("demo", "--engine", "fashn").stdout == "Drawing with warp …\nDrawing with fashn …\n"
    assert hub.downloads == [], "what is here is not asked for again"


def test_demo_fetches_nothing_unless_somebody_says_yes(hub: FakeHub, here: Path) -> None:
    answer = tryon("demo", "--engine", "fashn")
    assert answer.exit_code == 1
    assert answer.stderr == "Nothing was fetched, since nobody can be asked here: say YES=1 to make, or --yes.\n"
    assert hub.downloads == []
    assert not any(here.iterdir())


def test_demo_without_a_network_is_one_sentence_and_leaves_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    answer = tryon("demo", "--engine", "fashn", "--yes")
    assert answer.exit_code == 1
    assert answer.output.count("\n") == 1
    assert answer.stderr.startswith(
        "The engine fashn cannot be had here, and `make demo` draws without it: The hub does"
    )
    assert not any(here.iterdir())


def test_libraries_are_told_and_installed_first(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:  # what pip does with them is shown below
    asked: list[str] = []
    installed: list[str] = []

    def find(name: str) -> object:
        return None if name == "diffusers" and not installed else find_spec(name)

    monkeypatch.setattr(cli.engine_demo, "find_spec", find)
    monkeypatch.setattr(cli.engine_demo, "ask_registry", asked.append)
    monkeypatch.setattr(cli.engine_demo, "install_libraries", installed.extend)
    monkeypatch.setattr(cli.engine_demo, "draw_with", lambda *_given: {"error": "not drawn here"})
    answer = tryon("demo", "--engine", "fashn", "--yes")
    assert answer.exit_code == 1
    assert "SHA-256 verified" in answer.output
    assert "libraries  diffusers, from the registry that pip is set to" in answer.output
    assert f"{MODEL} (main), licence Apache-2.0: about 1.94 GB" in answer.output
    assert asked == ["diffusers"]
    assert any(wanted.startswith("torch>=") for wanted in installed)
    assert not any("fastapi" in wanted or ";" in wanted for wanted in installed)


def test_without_a_registry_and_libraries_is_one_sentence_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setattr(cli.engine_demo, "find_spec", lambda _name: None)
    answer = tryon("demo", "--engine", "fashn", "--yes")
    assert answer.exit_code == 1
    assert answer.output.count("\n") == 1
    assert answer.stderr.endswith("gives no torch; is this machine connected to a network?\n")
    assert not any(here.iterdir())
    with pytest.raises(EngineUnavailable, match=r"pip cannot install its libraries \(No matching distribution"):
        cli.engine_demo.install_libraries(["tryon-is-no-library==1"])


def test_check_proves_an_engine_from_its_files_to_a_picture(weights: Path, here: Path) -> None:
    answer = tryon("engines", "check", "fashn", "--json")
    assert answer.exit_code == 0, answer.output
    report = json.loads(answer.stdout)
    assert set(levels(answer).values()) == {"ok"}
    assert levels(answer).keys() == {"libraries", "files", "tensors", "set-up", "picture"}
    held = load_file(weights / "model.safetensors")
    assert report["tensors"]["count"] == len(held)
    assert report["tensors"]["values"] == sum(tensor.numel() for tensor in held.values())
    assert (report["device"], report["precision"], report["steps"]) == ("cpu", "float32", 3)
    assert report["checks"].keys() >= {"contrast", "changed", "outside", "face", "colours"}
    assert report["timingsMs"].keys() >= {"segment", "paint", "checks"}
    with Image.open(here / "out" / "check-fashn.jpg") as picture:
        assert picture.size == (512, 512)
    line = report["line"]
    for part in (
        f"{MODEL}@{COMMIT[:12]}",
        "cpu float32",
        f"torch {torch.__version__}",
        "diffusers",
        "step ",
        "picture",
    ):
        assert part in line
    assert "/" not in line.replace(MODEL, "").replace(POSES, "")


def test_check_finds_a_damaged_file(weights: Path) -> None:
    path = weights / "dwpose" / "yolox_l.onnx"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert_found("files", "yolox_l.onnx is damaged: it has another SHA-256 than when it was fetched.")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("another", "model.safetensors holds another, which is no part of this network."),
        ("y_embedder.weight", "model.safetensors: y_embedder.weight holds what are no finite numbers."),
    ],
)
def test_check_finds_tensors_that_are_not_the_networks(
    here: Path, monkeypatch: pytest.MonkeyPatch, name: str, sentence: str
) -> None:
    """In a folder of the operator's own, of which nobody has digests."""
    numbers = Numbers()
    nothing = torch.full_like(numbers.weights["y_embedder.weight"], torch.nan)
    (here / "own").mkdir()
    write_checkpoint(here / "own", numbers.weights | {name: nothing}, numbers.configuration)
    write_pose_graphs(here / "own")
    monkeypatch.setenv("TRYON_FASHN_WEIGHTS", "own")
    findings = assert_found("tensors", sentence)
    assert findings["files"]["level"] == "skipped"


def assert_found(subject: str, sentence: str) -> dict[str, dict[str, str]]:
    """That the check ends with this error, and that the line for a bug report names no folder."""
    answer = tryon("engines", "check", "fashn", "--json")
    assert answer.exit_code == 1
    report = json.loads(answer.stdout)
    findings = {finding["subject"]: finding for finding in report["findings"]}
    assert findings[subject]["level"] == "error"
    assert findings[subject]["sentence"].endswith(sentence)
    assert {findings["set-up"]["level"], findings["picture"]["level"]} == {"skipped"}
    assert "/" not in report["line"].replace(MODEL, "").replace(POSES, "")
    return findings


def test_check_of_a_picture_out_of_bounds_fails(weights: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_CHECK_FACE", "1")
    answer = tryon("engines", "check", "fashn")
    assert answer.exit_code == 1
    assert "error    picture    result_not_usable: " in answer.output
    assert not (here / "out").exists()


def test_check_can_leave_the_drawing_out(weights: Path, here: Path) -> None:
    answer = tryon("engines", "check", "fashn", "--no-picture")
    assert answer.exit_code == 0
    assert "skipped  picture    as asked by --no-picture" in answer.output
    assert not (here / "out").exists()


def test_check_of_the_embedded_engine(here: Path) -> None:
    answer = tryon("engines", "check", "warp")
    assert answer.exit_code == 0, answer.output
    assert "4 in " in answer.output
    assert "All is well." in answer.output
    line = answer.output.splitlines()[-1]
    assert f"engine warp (built in, revision {OFFERED['warp'].info.revision}); cpu; Python" in line
    assert line.endswith("libraries ok, files ok, tensors skipped, set-up ok, picture ok")
    with Image.open(here / "out" / "check-warp.jpg") as picture:
        assert picture.size == (512, 512)


def test_a_comparison_says_what_fewer_steps_change(weights: Path, here: Path) -> None:
    Image.fromarray(pixels_of(PORTRAIT)).resize((320, 320)).save(here / "person.png")
    Image.fromarray(pixels_of("striped_sweater")).save(here / "sweater.png")
    files = ("--person", "person.png", "--garment", "sweater.png", "--category", "upper_body", "--out", "sheet.jpg")
    steps = ("--steps", "2", "--steps", "4", "--steps", "3")
    answer = tryon("engines", "compare", *files, "--engine", "fashn", "--engine", "warp", *steps, "--json")
    assert answer.exit_code == 0, answer.output
    reports = json.loads(answer.stdout)
    assert list(reports) == ["fashn-4-steps", "fashn-3-steps", "fashn-2-steps", "warp"]
    most, fewer, fewest, warp = reports.values()
    assert "differsFromMost" not in most.keys() | warp.keys()
    pictures = [np.asarray(Image.open(report["out"]), int) for report in (most, fewer, fewest)]
    for report, picture in zip((fewer, fewest), pictures[1:], strict=True):
        apart = np.abs(picture - pictures[0])
        assert report["differsFromMost"] == pytest.approx(apart[apart.any(axis=2)].mean(), abs=0.01)
    assert fewest["differsFromMost"] > 0
