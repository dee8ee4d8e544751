"""What lies on the machine itself: engine, licence, weights, pepper, machine."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr
from safetensors.numpy import save_file

from cli.diagnosis import engine, host
from cli.diagnosis.findings import Case
from engines.fashn.about import ENGINE as FASHN
from engines.klein.about import KLEIN, KleinOptions
from engines.models import MODELS, model_path
from engines.weights.fetch import MANIFEST
from runtime.settings import EngineSettings, SecuritySettings, Settings
from tests.cli.diagnosis.conftest import findings_of, levels_of, the

PROJECT = Path(__file__).parents[3]
MODELS_DIR = PROJECT / ".models"


def engine_settings(settings: Settings, **values: object) -> Case:
    settings.engine = EngineSettings(models_dir=MODELS_DIR).model_copy(update=values)
    return Case(settings)


@pytest.fixture
def fetched(tmp_path: Path) -> Path:
    """A folder as `tryon engines fetch fashn` fills it, with one small file."""
    folder = tmp_path / "fashn"
    folder.mkdir()
    save_file({"weight": np.zeros((3, 4), np.float32)}, folder / "model.safetensors")
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    sources = [
        {"repository": repository.name, "revision": repository.revision, "into": ".", "sha256": {}}
        for repository in FASHN.weights
    ]
    sources[0]["sha256"] = {"model.safetensors": digest}
    (folder / MANIFEST).write_text(json.dumps({"licence": "Apache-2.0", "sources": sources}))
    return folder


async def test_the_embedded_engine(settings: Settings) -> None:
    case = engine_settings(settings, engine="warp")
    assert await levels_of(engine.look, case) == {"engine": "ok", "licence": "ok"}
    assert await levels_of(engine.look_at_weights, case) == {"model files": "ok", "weights": "skipped"}


async def test_auto_without_weights_is_the_embedded_engine(settings: Settings, tmp_path: Path) -> None:
    found = await findings_of(engine.look, engine_settings(settings, engine="auto", weights_dir=tmp_path))
    assert the(found, "engine", "ok").sentence == "warp (auto)"


async def test_auto_draws_without_a_gpu_only_where_none_was_named(settings: Settings, tmp_path: Path) -> None:
    manifest = {"licence": KLEIN.weights_licence, "sources": [{"repository": KLEIN.source, "revision": KLEIN.revision}]}
    (tmp_path / "klein").mkdir()
    (tmp_path / "klein" / MANIFEST).write_text(json.dumps(manifest))
    for device, level in (("cpu", "ok"), ("cuda", "error")):
        case = engine_settings(settings, engine="auto", weights_dir=tmp_path, device=device)
        found = the(await findings_of(engine.look, case), "engine", level)
        assert ("warp (auto)" if level == "ok" else "CUDA") in found.sentence


@pytest.mark.parametrize("name", ["wrap", "upper_body=warp", "hat=warp,*=warp"])
async def test_an_engine_that_there_is_not(settings: Settings, name: str) -> None:
    case = engine_settings(settings, engine=name)
    assert "TRYON_ENGINE" in the(await findings_of(engine.look, case), "engine", "error").sentence
    assert (await levels_of(engine.look_at_weights, case))["weights"] == "skipped"


async def test_an_engine_whose_weights_were_never_fetched(settings: Settings, tmp_path: Path) -> None:
    case = engine_settings(settings, engine="klein", weights_dir=tmp_path)
    assert "tryon engines fetch klein" in the(await findings_of(engine.look, case), "engine", "error").sentence
    assert "tryon engines fetch klein" in (
        the(await findings_of(engine.look_at_weights, case), "weights", "error").remedy or ""
    )


async def test_an_engine_and_its_device(settings: Settings, fetched: Path) -> None:
    case = engine_settings(settings, engine="fashn", weights_dir=fetched.parent, device="cpu")
    assert await levels_of(engine.look, case) == {"engine": "ok", "licence": "ok"}
    case = engine_settings(settings, engine="fashn", weights_dir=fetched.parent, device="cuda:99")
    assert "GPU" in the(await findings_of(engine.look, case), "engine", "error").sentence


async def test_weights_in_the_hubs_cache_are_left_to_set_up(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KleinOptions, "has_weights", lambda *_: True)
    case = engine_settings(settings, engine="klein")
    settings.options["klein"] = KleinOptions(model="owner/name")
    assert "hub's cache" in the(await findings_of(engine.look_at_weights, case), "weights", "skipped").sentence


async def test_without_the_libraries_for_it_weights_are_missing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "engines.klein.repository", None)
    case = engine_settings(settings, engine="klein", weights_dir=tmp_path)
    missing = the(await findings_of(engine.look_at_weights, case), "weights", "error")
    assert "tryon engines fetch klein" in (missing.remedy or "")


async def test_weights_of_unknown_licence(settings: Settings, fetched: Path) -> None:
    manifest = json.loads((fetched / MANIFEST).read_text())
    manifest["sources"][0]["repository"] = "somebody/something"
    (fetched / MANIFEST).write_text(json.dumps(manifest))
    values = {"engine": "fashn", "weights_dir": fetched.parent, "device": "cpu"}
    found = the(await findings_of(engine.look, engine_settings(settings, **values)), "licence", "error")
    assert "TRYON_LICENCE_ACKNOWLEDGED=fashn" in (found.remedy or "")
    case = engine_settings(settings, **values, licence_acknowledged="fashn")
    assert (await levels_of(engine.look, case))["licence"] == "ok"


async def test_a_model_file_that_is_damaged_or_missing(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    shutil.copytree(MODELS_DIR, folder)
    case = engine_settings(settings, engine="warp", models_dir=folder)
    path = model_path(folder, next(iter(MODELS)))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert "damaged" in the(await findings_of(engine.look_at_weights, case), "model files", "error").sentence
    path.unlink()
    missing = the(await findings_of(engine.look_at_weights, case), "model files", "error")
    assert ("missing" in missing.sentence, "engines fetch warp" in (missing.remedy or "")) == (True, True)


async def test_weights_that_are_cut_short_changed_or_gone(settings: Settings, fetched: Path) -> None:
    case = engine_settings(settings, engine="fashn", weights_dir=fetched.parent, device="cpu")
    thorough = Case(settings, weights=True)
    for each in (case, thorough):
        assert (await levels_of(engine.look_at_weights, each))["weights"] == "ok"
    path = fetched / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b"\x01")
    assert (await levels_of(engine.look_at_weights, case))["weights"] == "ok"  # only its digest tells
    assert "SHA-256" in the(await findings_of(engine.look_at_weights, thorough), "weights", "error").sentence
    path.write_bytes(content[:-1])
    assert "corrupt" in the(await findings_of(engine.look_at_weights, case), "weights", "error").sentence
    path.unlink()
    assert "missing" in the(await findings_of(engine.look_at_weights, case), "weights", "error").sentence


async def test_the_pepper(settings: Settings) -> None:
    for value, level in (("", "error"), ("x" * 31, "error"), ("x" * 32, "ok")):
        settings.security = SecuritySettings(key_pepper=SecretStr(value))
        assert await levels_of(host.look_at_pepper, Case(settings)) == {"key pepper": level}


@pytest.mark.parametrize(("previous", "level"), [("short", "error"), ("y" * 32 + ",short", "error"), ("y" * 32, "ok")])
async def test_the_peppers_that_are_still_accepted(settings: Settings, previous: str, level: str) -> None:
    settings.security = SecuritySettings(key_pepper=SecretStr("x" * 32), key_pepper_previous=SecretStr(previous))
    assert await levels_of(host.look_at_pepper, Case(settings)) == {"key pepper": level}


@pytest.mark.parametrize(
    ("free_gib", "level"), [(400, "ok"), (150, "ok"), (149, "warning"), (10, "warning"), (9.9, "error"), (0.1, "error")]
)
def test_room_on_a_large_disk(free_gib: float, level: str) -> None:
    found = host.judged_disk(Path("/data"), total=1000 * host.GIB, free=round(free_gib * host.GIB))
    assert found.level == level


def test_room_on_a_small_disk() -> None:
    for free_gib, level in ((0.95, "warning"), (0.19, "error")):
        assert host.judged_disk(Path("/data"), total=4 * host.GIB, free=round(free_gib * host.GIB)).level == level


async def test_the_disk_of_a_folder_that_is_not_there_yet(case: Case) -> None:
    (found,) = await findings_of(host.look_at_disk, case)
    assert str(case.settings.stack.data_dir.parent) in found.sentence


def test_the_command_loads_no_network(tmp_path: Path) -> None:
    """Not even to see whether there is a GPU."""
    program = (
        "import sys, typer.testing; from cli.main import app\n"
        "arguments = ['doctor', '--skip', 'temporal', '--skip', 'object-store']\n"
        "said = typer.testing.CliRunner().invoke(app, arguments).output\n"
        "assert 'warp (auto)' in said, said\n"
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
