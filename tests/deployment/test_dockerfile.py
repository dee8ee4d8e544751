"""The images: what goes in, who runs in them, and that what they start is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

from api.dashboard.docs import FOLDER
from runtime.settings import Settings
from tests.deployment.compose import OURS, PROJECT, Compose
from tests.deployment.dockerfile import FILE, Dockerfile, read

BENCHES = "bench"
"""The one package that no process of a deployment needs."""

TARGETS = ("tools", "api", "worker-cpu", "worker-warp", "worker-gpu")


@pytest.fixture(scope="module")
def dockerfile() -> Dockerfile:
    return read(FILE.read_text())


def sent_to_the_builder() -> set[str]:
    lines = (PROJECT / ".dockerignore").read_text().splitlines()
    assert next(line for line in lines if not line.startswith("#")) == "*", "everything else has to stay out"
    return {line[1:] for line in lines if line.startswith("!")}


def test_the_builder_is_sent_every_package_and_little_else() -> None:
    found = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = {name.removesuffix("*") for name in found} - {BENCHES}
    client = "tryon_client"  # a distribution of its own, which `tryon demo` uses
    assert {name for name in sent_to_the_builder() if (PROJECT / name).is_dir()} == packages | {client}
    assert all(any(PROJECT.glob(name)) for name in sent_to_the_builder())


def test_the_texts_that_the_dashboard_shows_are_in_an_image() -> None:
    assert "docs/*.md" in sent_to_the_builder()
    assert FOLDER == PROJECT / "docs", "beside the packages, as a checkout has them"


@pytest.mark.parametrize("service", OURS)
def test_a_service_is_built_from_a_target_of_its_name(service: str, compose: Compose, dockerfile: Dockerfile) -> None:
    image = compose.services[service]["image"].rpartition(":")[0]
    builders = [
        other for other in compose.services.values() if other["image"].startswith(f"{image}:") and "build" in other
    ]
    assert [other["build"] for other in builders] == [{"context": ".", "target": image.removeprefix("tryon/")}]
    assert image.removeprefix("tryon/") in dockerfile.stages


def test_what_is_copied_exists(dockerfile: Dockerfile) -> None:
    for stage in dockerfile.stages.values():
        for name, value in stage.instructions:
            if name != "COPY":
                continue
            *options, rest = re.split(r"(?<=\S) (?!--)", value, maxsplit=1) if value.startswith("--") else [value]
            if options:
                assert options[0].removeprefix("--from=") in dockerfile.stages, value
                continue
            for source in rest.split()[:-1]:
                assert (PROJECT / source).exists(), value
                top = source.split("/")[0]
                assert source == "." or {source, top} & sent_to_the_builder(), f"{source} is kept from the builder"


@pytest.mark.parametrize("target", [target for target in TARGETS if target != "tools"])
def test_a_process_and_its_health_check_are_there(target: str, dockerfile: Dockerfile) -> None:
    python, option, module = dockerfile.command(target)
    assert (python, option) == ("python", "-m")
    assert find_spec(module) is not None
    script = dockerfile.health_command(target)[2]
    assert script in sent_to_the_builder()


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_sets_settings_that_exist(
    target: str, dockerfile: Dockerfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {
        (concern.model_config.get("env_prefix", "") + name).upper()
        for concern in Settings.concerns().values()
        for name in concern.model_fields
    }
    given = {name: value for name, value in dockerfile.environment(target).items() if name.startswith("TRYON_")}
    assert set(given) <= known
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    Settings()


def test_ports_are_those_of_the_settings(dockerfile: Dockerfile) -> None:
    ports = {
        "api": ["TRYON_API_PORT", "TRYON_METRICS_API_ADDRESS"],
        "worker-cpu": ["TRYON_METRICS_WORKER_CPU_ADDRESS"],
        "worker-warp": ["TRYON_METRICS_WORKER_GPU_ADDRESS"],
        "worker-gpu": ["TRYON_METRICS_WORKER_GPU_ADDRESS"],
    }
    for target, names in ports.items():
        environment = dockerfile.environment(target)
        own = [environment[name].rpartition(":")[2] for name in names]
        exposed = dockerfile.every(target, "EXPOSE")[-1].split()
        assert set(own) <= set(exposed), target
        assert f"127.0.0.1:{own[0]}/" in dockerfile.health_command(target)[3]


def test_the_image_without_a_gpu_draws_with_warp_and_has_its_models(dockerfile: Dockerfile) -> None:
    environment = dockerfile.environment("worker-warp")
    assert environment["TRYON_ENGINE"] == "warp"
    for target in ("worker-warp", "worker-gpu"):
        copied = [value.split()[-1] for value in dockerfile.every(target, "COPY")]
        assert dockerfile.environment(target)["TRYON_MODELS_DIR"] in copied


@pytest.fixture
def copied(dockerfile: Dockerfile, tmp_path: Path) -> Path:
    """A few files as the stage of the sources leaves them, from a checkout under umask 077."""
    instructions = dockerfile.stages["source"].instructions
    (position,) = (index for index, (name, value) in enumerate(instructions) if (name, value) == ("COPY", ". ."))
    folder = tmp_path / "copied"
    (folder / "api").mkdir(parents=True)
    (folder / "api" / "main.py").write_text("")
    (folder / "tryon").write_text("")
    for path in sent_to_the_builder():
        if (PROJECT / path).is_file() and "/" not in path:
            shutil.copy(PROJECT / path, folder)
    for path, mode in (("api/main.py", 0o600), ("tryon", 0o700), ("api", 0o700), (".", 0o700)):
        (folder / path).chmod(mode)
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.defpath}"}
    for name, command in instructions[position + 1 :]:
        assert name == "RUN"
        subprocess.run(["sh", "-ec", command], cwd=folder, env=environment, umask=0o077, check=True)
    return folder


def test_an_image_knows_the_version_of_what_is_in_it(copied: Path) -> None:
    """Signed pictures, the page of the system and backups name it, and ask Python for it."""
    (found,) = metadata.distributions(name="tryon-service", path=[str(copied)])
    assert found.version == tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    assert any('extra == "gpu"' in each for each in found.requires or ()), "from which `tryon engines setup` installs"


def test_the_command_is_the_one_that_an_installation_has() -> None:
    module, name = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["scripts"]["tryon"].split(":")
    script = (PROJECT / "deployment" / "tryon").read_text()
    assert f"from {module} import {name}\n\n{name}()\n" in script


def test_the_sources_can_be_read_by_another_user_however_they_were_checked_out(copied: Path) -> None:
    """COPY keeps modes, and a checkout under umask 077 lets nobody but its owner read it."""
    modes = {path.name: path.stat().st_mode & 0o777 for path in (copied, *copied.rglob("*"))}
    assert (modes["copied"], modes["api"], modes["main.py"], modes["tryon"]) == (0o755, 0o755, 0o644, 0o755)
    assert all(mode & 0o044 == 0o044 for mode in modes.values())


def test_what_is_written_lies_where_a_volume_is(dockerfile: Dockerfile, compose: Compose) -> None:
    mounted = compose.services["worker-gpu"]["volumes"][0].split(":")[1]
    environment = dockerfile.environment("worker-gpu")
    assert environment["TRYON_WEIGHTS_DIR"] == mounted
    assert environment["HF_HOME"].startswith(mounted), "the hub's cache is larger than /tmp"
    made = " ".join(dockerfile.every("worker-gpu", "RUN"))
    assert f"install -d -o tryon -g tryon /var/lib/tryon {mounted}" in made, "else the volume would belong to root"
