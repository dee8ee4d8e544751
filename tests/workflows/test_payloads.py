"""Processes of the last release and of this one read each other's payloads."""

from __future__ import annotations

import base64
import json
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from pydantic import TypeAdapter

from tests.workflows.recording.cases import released
from tests.workflows.recording.contract_schemas import breaks, saved_schemas, schemas
from tests.workflows.recording.saved import Saved, all_saved
from workflows import steps
from workflows.contracts import Contract, TryOnInput
from workflows.steps import Step

STEPS = {step.name: step for step in vars(steps).values() if isinstance(step, Step)}
PROJECT = Path(__file__).parents[2]


def payloads_of(history: dict[str, Any], workflow_name: str) -> list[tuple[Any, Any]]:
    """Every payload of a history: the type that today's code reads it as, and what it holds."""
    hints = get_type_hints(vars(released()[workflow_name])["run"])
    taken, given = next(hint for name, hint in hints.items() if name != "return"), hints["return"]
    scheduled: dict[str, Step[Any, Any]] = {}
    found: list[tuple[Any, Any]] = []
    for event in history["events"]:
        kind = event["eventType"].removeprefix("EVENT_TYPE_")
        attributes = next((value for name, value in event.items() if name.endswith("EventAttributes")), {})
        if kind == "WORKFLOW_EXECUTION_STARTED":
            found += [(taken, payload) for payload in attributes["input"]["payloads"]]
        elif kind == "WORKFLOW_EXECUTION_COMPLETED":
            found += [(given, payload) for payload in attributes["result"]["payloads"]]
        elif kind == "ACTIVITY_TASK_SCHEDULED":
            step = scheduled[event["eventId"]] = STEPS[attributes["activityType"]["name"]]
            found += [(step.input_type, payload) for payload in attributes["input"]["payloads"]]
        elif kind == "ACTIVITY_TASK_COMPLETED":
            step = scheduled[attributes["scheduledEventId"]]
            found += [(step.output_type, payload) for payload in attributes["result"]["payloads"]]
    return [(model, json.loads(base64.b64decode(payload["data"]))) for model, payload in found]


def lost(old: Any, new: Any, where: str = "") -> list[str]:
    """What of an older payload is not in a newer one."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            missing
            for name, value in old.items()
            for missing in (lost(value, new[name], f"{where}.{name}") if name in new else [f"{where}.{name}"])
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [missing for index, pair in pairs for missing in lost(*pair, f"{where}[{index}]")]
    return [] if old == new else [where]


@pytest.mark.parametrize("saved", all_saved(), ids=lambda saved: f"{saved.workflow}/{saved.name}")
def test_payloads_of_older_versions_are_read_and_written_as_they_were(saved: Saved) -> None:
    payloads = payloads_of(saved.read(), saved.workflow)
    assert len(payloads) >= 2
    for model, value in payloads:
        adapter: TypeAdapter[Any] = TypeAdapter(model)
        again = json.loads(adapter.dump_json(adapter.validate_python(value), by_alias=True))
        assert lost(value, again) == [], model


def test_a_payload_that_lost_something_is_noticed() -> None:
    assert lost({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}) == []
    assert lost({"a": [{"b": 1}]}, {"a": [{"c": 2}]}) == [".a[0].b"]


@pytest.mark.parametrize("model", [name for name, schema in schemas().items() if "additionalProperties" not in schema])
def test_what_a_newer_process_adds_is_no_obstacle(model: str) -> None:
    """Only what people type by hand (``extra="forbid"``) is refused for a name that is not known."""
    found = next(found for found in all_contracts(Contract) if found.__name__ == model)
    assert found.model_config.get("extra", "ignore") == "ignore"


def all_contracts(base: type[Contract]) -> list[type[Contract]]:
    return [found for direct in base.__subclasses__() for found in (direct, *all_contracts(direct))]


def test_contracts_read_what_the_last_release_wrote() -> None:
    assert breaks(saved_schemas()[1], schemas()) == [], "give a new field a default, and keep what there was"


def test_the_contracts_of_every_release_are_saved() -> None:
    release = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    assert saved_schemas()[0] == release, "python -m tests.workflows.recording --contracts"


JOB = TryOnInput.__name__


def field_of(models: dict[str, Any], name: str) -> dict[str, Any]:
    field: dict[str, Any] = models[JOB]["properties"][name]
    return field


def add(models: dict[str, Any], *, required: bool) -> None:
    models[JOB]["properties"]["mood"] = {"type": "string"}
    models[JOB]["required"] += ["mood"] if required else []


@pytest.mark.parametrize(
    ("change", "complaints"),
    [
        pytest.param(lambda models: add(models, required=False), [], id="a field more"),
        pytest.param(lambda models: add(models, required=True), ["TryOnInput.mood has no default"], id="required"),
        pytest.param(lambda models: models.pop(JOB), ["TryOnInput is gone"], id="a model gone"),
        pytest.param(lambda models: models[JOB]["properties"].pop("seed"), ["TryOnInput.seed is gone"], id="gone"),
        pytest.param(
            lambda models: models[JOB]["required"].append("seed"), ["TryOnInput.seed has no default"], id="default gone"
        ),
        pytest.param(
            lambda models: field_of(models, "seed").update(type="string"),
            ["TryOnInput.seed: type integer became string"],
            id="another type",
        ),
        pytest.param(lambda models: field_of(models, "seed").update(type="number"), [], id="a wider type"),
        pytest.param(
            lambda models: field_of(models, "jobId").update(maxLength=32),
            ["TryOnInput.jobId: maxLength 64 became 32"],
            id="shorter",
        ),
        pytest.param(lambda models: field_of(models, "jobId").update(maxLength=99), [], id="longer"),
        pytest.param(
            lambda models: field_of(models, "seed").update(minimum=0),
            ["TryOnInput.seed: minimum None became 0"],
            id="a new bound",
        ),
        pytest.param(
            lambda models: field_of(models, "kind").update(enum=["single"]),
            ["TryOnInput.kind: values ['combo', 'single'] became ['single']"],
            id="a value less",
        ),
        pytest.param(lambda models: field_of(models, "kind")["enum"].append("set"), [], id="a value more"),
        pytest.param(
            lambda models: field_of(models, "rehearsal")["anyOf"].pop(),
            ["TryOnInput.rehearsal: null became #/$defs/RehearsalScript"],
            id="no longer empty",
        ),
        pytest.param(
            lambda models: field_of(models, "garments")["items"].update({"$ref": "#/$defs/ProductRef"}),
            ["TryOnInput.garments: items: #/$defs/GarmentSource became #/$defs/ProductRef"],
            id="lists of something else",
        ),
    ],
)
def test_only_additions_are_no_break(change: Any, complaints: list[str]) -> None:
    models = deepcopy(saved_schemas()[1])
    change(models)
    assert breaks(saved_schemas()[1], models) == complaints
