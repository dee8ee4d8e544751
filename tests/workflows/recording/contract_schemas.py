"""What crosses Temporal, as JSON schemas, and whether what was written under an older one can still be read."""

from __future__ import annotations

import importlib
import json
import pkgutil
from typing import Any

import workflows
from tests.workflows.recording.saved import FOLDER
from workflows.contracts import Contract

FILE = FOLDER / "contracts.json"
Schema = dict[str, Any]

_UPPER = ("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum")
_LOWER = ("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum")
_INNER = ("items", "additionalProperties", "propertyNames")
_WORDS = {"title", "description", "$defs", "default"}


def models() -> dict[str, type[Contract]]:
    """Every contract by its name."""
    found: dict[str, type[Contract]] = {}
    for module in pkgutil.walk_packages(workflows.__path__, "workflows."):
        if not module.name.endswith("contracts"):
            continue
        for model in vars(importlib.import_module(module.name)).values():
            is_ours = isinstance(model, type) and issubclass(model, Contract) and model is not Contract
            if is_ours and model.__module__ == module.name:
                found[model.__name__] = model
    return dict(sorted(found.items()))


def schemas() -> dict[str, Schema]:
    """What `models` look like as JSON, less what is only for people."""
    return {name: _bare(model.model_json_schema()) for name, model in models().items()}


def _bare(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            # Fields may be called like one of the words.
            name: {field: _bare(inner) for field, inner in value.items()} if name == "properties" else _bare(value)
            for name, value in schema.items()
            if name not in _WORDS
        }
    return [_bare(item) for item in schema] if isinstance(schema, list) else schema


def saved_schemas() -> tuple[str, dict[str, Schema]]:
    """The release that they were saved for, and the schemas."""
    saved = json.loads(FILE.read_text())
    return saved["release"], saved["models"]


def save_schemas(release: str, models: dict[str, Schema]) -> None:
    FILE.write_text(json.dumps({"release": release, "models": models}, indent=1) + "\n")


def breaks(old: dict[str, Schema], new: dict[str, Schema]) -> list[str]:
    """What of the older contracts the newer ones cannot read, a sentence each."""
    complaints = []
    for name, model in old.items():
        if name not in new:
            complaints.append(f"{name} is gone")
            continue
        fields, now = model.get("properties", {}), new[name].get("properties", {})
        complaints += [f"{name}.{field} is gone" for field in fields.keys() - now.keys()]
        complaints += [
            f"{name}.{field} has no default"
            for field in set(new[name].get("required", [])) - set(model.get("required", []))
        ]
        for field in fields.keys() & now.keys():
            complaints += [f"{name}.{field}: {why}" for why in _narrower(fields[field], now[field])]
    return sorted(complaints)


def _narrower(old: Schema, new: Schema) -> list[str]:
    """Why not every value of the one is a value of the other."""
    complaints = []
    for option in old.get("anyOf", [old]):
        refusals = [_refusals(option, other) for other in new.get("anyOf", [new])]
        if all(refusals):
            complaints += min(refusals, key=len)
    return complaints


def _refusals(old: Schema, new: Schema) -> list[str]:
    if old.get("$ref") != new.get("$ref"):
        was, now = (schema.get("$ref") or schema.get("type") for schema in (old, new))
        return [f"{was} became {now}"]
    refusals = []
    if "type" in new and old.get("type") != new["type"] and (old.get("type"), new["type"]) != ("integer", "number"):
        refusals.append(f"type {old.get('type')} became {new['type']}")
    allowed = _values(new)
    if allowed is not None and not ((had := _values(old)) is not None and had <= allowed):
        refusals.append(f"values {sorted(had or [], key=str) or 'of any kind'} became {sorted(allowed, key=str)}")
    if new.get("pattern") not in (None, old.get("pattern")):
        refusals.append(f"pattern {old.get('pattern')} became {new['pattern']}")
    for bounds, wider in ((_UPPER, lambda was, now: now >= was), (_LOWER, lambda was, now: now <= was)):
        refusals += [
            f"{bound} {old.get(bound)} became {new[bound]}"
            for bound in bounds
            if bound in new and not (bound in old and wider(old[bound], new[bound]))
        ]
    for inner in _INNER:
        if isinstance(new.get(inner), dict):
            refusals += [f"{inner}: {why}" for why in _narrower(old.get(inner, {}), new[inner])]
    return refusals


def _values(schema: Schema) -> set[Any] | None:
    """The values that are listed; None where they are not."""
    if "const" in schema:
        return {schema["const"]}
    return set(schema["enum"]) if "enum" in schema else None
