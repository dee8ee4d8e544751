"""No contract can grow beyond what a history should hold, and every step's signature is the registered one."""

from __future__ import annotations

import inspect
import json
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import annotated_types
import pytest
from pydantic import AwareDatetime
from pydantic.fields import FieldInfo
from temporalio import activity
from temporalio.contrib.pydantic import pydantic_data_converter

from activities.backfills import BackfillActivities
from activities.bookkeeping import BookkeepingActivities
from activities.erasing import ErasingActivities
from activities.garments import GarmentActivities
from activities.inference import InferenceActivities
from activities.mail import MailActivities
from activities.purging import PurgingActivities
from activities.reconciling import ReconcilingActivities
from activities.rehearsal import RehearsalActivities
from activities.watermark import WatermarkActivities
from activities.webhooks import WebhookActivities
from tests.workflows.recording.contract_schemas import models
from workflows import steps
from workflows.backfills.contracts import LargestJson
from workflows.contracts import CleanUpInput, Contract
from workflows.steps import Step

LARGEST = 64 * 1024
PATTERN_LENGTHS = {r"^[0-9a-f]{64}$": 64}

CONTRACTS = list(models().values())
ACTIVITY_CLASSES = (
    BookkeepingActivities,
    GarmentActivities,
    InferenceActivities,
    RehearsalActivities,
    ReconcilingActivities,
    PurgingActivities,
    WatermarkActivities,
    BackfillActivities,
    ErasingActivities,
    MailActivities,
    WebhookActivities,
)


def largest(annotation: Any, metadata: list[Any]) -> int:
    """Characters that a value of this type may take as JSON, roughly; raises for one without a bound."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *more = get_args(annotation)
        return largest(inner, [*metadata, *(item for one in more for item in flattened(one))])
    if origin in (Union, types.UnionType):
        return max(largest(option, metadata) for option in get_args(annotation))
    if origin is Literal:
        return max(len(str(option)) for option in get_args(annotation)) + 2
    if annotation is type(None) or annotation in (int, float, bool, AwareDatetime):
        return 24
    if annotation is str:
        return bound(metadata, "text") + 2
    if origin is list:
        as_json = [item.func.bytes for item in metadata if isinstance(getattr(item, "func", None), LargestJson)]
        if as_json:
            return min(as_json)
        return bound(metadata, "a list") * (largest(get_args(annotation)[0], []) + 1)
    if origin is dict:
        key, value = get_args(annotation)
        return bound(metadata, "a mapping") * (largest(key, []) + largest(value, []) + 2)
    if isinstance(annotation, type) and issubclass(annotation, Contract):
        return sum(
            len(name) + 4 + largest(field.annotation, field.metadata) for name, field in annotation.model_fields.items()
        )
    raise AssertionError(f"{annotation} may not cross Temporal")


def flattened(item: Any) -> list[Any]:
    return list(item.metadata) if isinstance(item, FieldInfo) else [item]


def bound(metadata: list[Any], what: str) -> int:
    for item in metadata:
        if isinstance(item, annotated_types.MaxLen):
            return item.max_length
        pattern = getattr(item, "pattern", None)
        if pattern in PATTERN_LENGTHS:
            return PATTERN_LENGTHS[pattern]
    raise AssertionError(f"{what} without a bound: {metadata}")


@pytest.mark.parametrize("model", CONTRACTS, ids=lambda model: model.__name__)
def test_a_contract_stays_small(model: type[Contract]) -> None:
    assert largest(model, []) <= LARGEST


@pytest.mark.parametrize("annotation", [bytes, Any, str, list[int], dict[str, int]])
def test_the_walk_catches_what_has_no_bound(annotation: Any) -> None:
    with pytest.raises(AssertionError):
        largest(annotation, [])


def all_steps() -> dict[str, Step[Any, Any]]:
    return {step.name: step for step in vars(steps).values() if isinstance(step, Step)}


def implementations() -> dict[str, Any]:
    found = {}
    for owner in ACTIVITY_CLASSES:
        for _, method in inspect.getmembers(owner, inspect.isfunction):
            definition = activity._Definition.from_callable(method)
            if definition is not None and definition.name is not None:
                found[definition.name] = method
    return found


def test_every_step_has_an_activity_and_every_activity_a_step() -> None:
    assert implementations().keys() == all_steps().keys()


@pytest.mark.parametrize("name", all_steps())
def test_a_step_and_its_activity_agree(name: str) -> None:
    step, hints = all_steps()[name], get_type_hints(implementations()[name])
    assert hints.pop("return") is step.output_type
    assert list(hints.values()) == [step.input_type]


async def test_what_crosses_temporal_has_the_names_of_the_documents() -> None:
    """Engineers read and write these in the Temporal UI, and programs in other languages may start runs."""
    (payload,) = await pydantic_data_converter.encode([CleanUpInput(job_id="a-job")])
    assert json.loads(payload.data) == {"jobId": "a-job"}
