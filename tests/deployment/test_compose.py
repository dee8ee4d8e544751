"""`docker-compose.temporal.yml` is a compose file, and keeps the rules; each rule is shown to find what breaks it."""

from __future__ import annotations

import copy
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime.embedded.servers import find_program
from tests.deployment.compose import (
    EXAMPLE,
    FILE,
    OURS,
    PROJECT,
    VARIABLE,
    Compose,
    environment_of,
    example_variables,
    filled_in,
    read,
)
from tests.deployment.rules import EXACT_TAG, OF_OTHERS, RULES, SECRET

Change = Callable[[dict[str, Any]], object]

BREAKS: dict[str, tuple[str, Change]] = {
    "a newest tag": ("images", lambda services: services["postgres"].update(image="postgres:latest")),
    "no tag": ("images", lambda services: services["valkey"].update(image="valkey/valkey")),
    "a major version": ("images", lambda services: services["postgres"].update(image="postgres:17")),
    "two Temporals": ("images", lambda services: services["temporal"].update(image="temporalio/server:1.31.0")),
    "an image of ours behind": ("images", lambda services: services["bucket"].update(image="tryon/tools:0.2.0")),
    "a published database": ("publishing", lambda services: services["postgres"].update(ports=["127.0.0.1:5432:5432"])),
    "an API for everybody": ("publishing", lambda services: services["api"].update(ports=["8000:8000"])),
    "a database with a way out": ("publishing", lambda services: services["postgres"]["networks"].append("outside")),
    "a short goodbye": ("stopping", lambda services: services["worker-gpu"].update(stop_grace_period="60s")),
    "no goodbye": ("stopping", lambda services: services["worker-cpu"].pop("stop_grace_period")),
    "held polls cut off": ("stopping", lambda services: services["api"].update(stop_grace_period="35s")),
    "data nowhere": (
        "volumes",
        lambda services: services["postgres"].update(volumes=["data:/var/lib/postgresql/data"]),
    ),
    "a folder that is not there": (
        "volumes",
        lambda services: services["temporal"].update(volumes=["./nowhere:/x:ro"]),
    ),
    "no health": ("health", lambda services: services["temporal-ui"].pop("healthcheck")),
    "left dead": ("health", lambda services: services["object-store"].pop("restart")),
    "a writable API": ("health", lambda services: services["api"].pop("read_only")),
    "a blind start": (
        "dependencies",
        lambda services: services["api"]["depends_on"].update(postgres={"condition": "service_started"}),
    ),
    "a dependency that a profile leaves out": (
        "dependencies",
        lambda services: services["api"]["depends_on"].update({"worker-gpu": {"condition": "service_healthy"}}),
    ),
    "a number": ("environments", lambda services: services["temporal"]["environment"].update(DB_PORT=5432)),
}


def check_specification(file: Path) -> subprocess.CompletedProcess[str]:
    """Against the schema of the compose specification (Apache-2.0) that the package check-jsonschema carries."""
    command = [find_program("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_follows_the_specification() -> None:
    checked = check_specification(FILE)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_specification_is_really_asked(tmp_path: Path) -> None:
    broken = tmp_path / "docker-compose.yml"
    broken.write_text(FILE.read_text().replace("stop_grace_period", "stop_gracefully_period", 1))
    checked = check_specification(broken)
    assert checked.returncode == 1
    assert "stop_gracefully_period" in checked.stdout


def test_the_other_object_store_follows_it_too_and_takes_the_same_keys(compose: Compose) -> None:
    file = PROJECT / "deployment" / "seaweedfs.yml"
    checked = check_specification(file)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    (other,) = read(file.read_text(), filled_in()).services.values()
    replaced = compose.services["object-store"]
    assert EXACT_TAG.search(other["image"] + ".0"), "SeaweedFS has versions of two numbers"
    assert list(other["environment"].values()) == list(replaced["environment"].values())[:2]
    assert "-s3.port=9000" in other["command"]
    assert "-dir=" + replaced["volumes"][0].split(":")[1] in other["command"]


def test_with_a_store_outside_all_who_need_it_have_a_way_there(compose: Compose) -> None:
    file = PROJECT / "deployment" / "outside.yml"
    checked = check_specification(file)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    networks = {name: each.get("networks", []) for name, each in compose.services.items()}
    networks |= {name: each["networks"] for name, each in read(file.read_text(), filled_in()).services.items()}
    users = [name for name, each in compose.services.items() if "TRYON_S3_ENDPOINT" in environment_of(each)]
    assert {"api", "worker-cpu", "worker-warp", "bucket"} <= set(users)
    assert [name for name in users if "outside" not in networks[name]] == ["migrations"], "these ask the database alone"


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_kept(rule: str, compose: Compose) -> None:
    assert RULES[rule](compose) == []


@pytest.mark.parametrize("break_", BREAKS)
def test_a_rule_finds_what_breaks_it(break_: str, compose: Compose) -> None:
    rule, change = BREAKS[break_]
    broken = copy.deepcopy(compose.document)
    change(broken["services"])
    assert RULES[rule](Compose(compose.text, broken)) != []


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("${KEY_PEPPER:?set KEY_PEPPER in .env, at least 32 characters}", "${KEY_PEPPER:-pepper}"),
        (
            "POSTGRES_PWD: ${TEMPORAL_POSTGRES_PASSWORD:?set TEMPORAL_POSTGRES_PASSWORD in .env}",
            "POSTGRES_PWD: temporal",
        ),
        ("${VALKEY_PASSWORD:?set VALKEY_PASSWORD in .env}@", "${VALKEY_PASSWORD}@"),
        ("${MAIL_PASSWORD:-}", "${MAIL_PASSWORD:-sesame}"),
        ('"${STRIPE_SECRET_KEY:-}"', '"sk_test_0"'),
    ],
)
def test_a_secret_with_a_default_is_found(written: str, instead: str) -> None:
    assert written in FILE.read_text()
    assert RULES["secrets"](read(FILE.read_text().replace(written, instead), filled_in())) != []


def test_without_a_secret_it_says_which_one_is_missing() -> None:
    for name in (name for name in example_variables() if SECRET.search(name) and name not in OF_OTHERS):
        with pytest.raises(KeyError, match=f"set {name} in .env"):
            read(FILE.read_text(), filled_in() | {name: ""})


def test_the_example_names_every_variable_and_no_other() -> None:
    read_by_compose = {"COMPOSE_FILE", "COMPOSE_PROFILES"}
    assert set(example_variables()) - read_by_compose == {
        found["name"] for found in VARIABLE.finditer(FILE.read_text())
    }
    assert (PROJECT / example_variables()["COMPOSE_FILE"]) == FILE


def test_the_example_holds_no_secret_and_no_other_default() -> None:
    for found in VARIABLE.finditer(FILE.read_text()):
        given = example_variables()[found["name"]]
        assert given == ("" if found["kind"] == ":?" else found["rest"]), found["name"]


def test_a_profile_can_be_chosen_for_either_way_of_drawing(compose: Compose) -> None:
    profiles = {name: service["profiles"] for name, service in compose.services.items() if "profiles" in service}
    assert profiles.pop("worker-warp") == ["cpu"]
    assert profiles.pop("worker-gpu") == ["gpu"]
    assert all(names == ["observability"] for names in profiles.values())
    assert example_variables()["COMPOSE_PROFILES"] == "cpu"


def test_the_gpu_worker_alone_reserves_a_gpu(compose: Compose) -> None:
    for name, service in compose.services.items():
        devices = service.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices", [])
        assert [device["capabilities"] for device in devices] == ([["gpu"]] if name == "worker-gpu" else []), name


def test_our_images_are_of_this_version(compose: Compose) -> None:
    version = re.search(r'^version = "(.+)"$', (PROJECT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    for name in OURS:
        assert compose.services[name]["image"].endswith(f":{version[1]}"), name


def test_secrets_are_made_once(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path / ".env.example")
    script = PROJECT / "deployment" / "make_secrets.py"
    subprocess.run([sys.executable, script], cwd=tmp_path, check=True)
    made = (tmp_path / ".env").read_text()
    values = dict(line.split("=", 1) for line in made.splitlines() if "=" in line and not line.startswith("#"))
    found = {name: value for name, value in values.items() if value != example_variables()[name]}
    assert set(found) == {name for name in example_variables() if SECRET.search(name)} - OF_OTHERS
    assert len(set(found.values())) == len(found)
    assert all(len(value) >= 32 and value.isalnum() for value in found.values())
    assert (tmp_path / ".env").stat().st_mode & 0o077 == 0
    assert subprocess.run([sys.executable, script], cwd=tmp_path, check=False).returncode == 1
    assert (tmp_path / ".env").read_text() == made
