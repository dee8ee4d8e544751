"""The whole document: FastAPI's, with the bodies that are parsed by hand and what all operations share."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from api.openapi.answers import refusal
from api.openapi.headers import ALWAYS, RATE, header_components, required_header
from api.products.schemas import CreateProduct, UpdateProduct
from api.tryon.schemas import ComboRequest, SingleRequest

REFERENCE = "#/components/schemas/{model}"
BODY_MODELS: tuple[type[BaseModel], ...] = (SingleRequest, ComboRequest, CreateProduct, UpdateProduct)

DESCRIPTION = """\
A customer photo and one to four garment pictures in, a picture of that person wearing them out. \
Every POST starts a job and answers at once; poll the job until it is completed or failed.

Every 4xx and 5xx answer has the body `{"error": "…"}` and the header `X-Error-Code`. Any operation answers 405 to a \
method that its address does not take, and an address that is not listed here answers 404.
"""

TAGS = [
    {"name": "try-on", "description": "Jobs: starting them, polling for their pictures, and erasing them."},
    {"name": "products", "description": "The account's catalogue of garments, for use by `productId`."},
    {"name": "usage", "description": "How much of its volume the account has used."},
    {"name": "health", "description": "For load balancers and process managers; no key is needed."},
]

API_KEY = "apiKey"
SECURITY_SCHEMES = {
    API_KEY: {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key of the account: `Authorization: Bearer vto_live_…`. Keys that begin with "
        "`vto_test_` are never billed and need no model.",
    }
}

ANYWHERE = {"RouteNotFound": (404, "route_not_found"), "MethodNotAllowed": (405, "method_not_allowed")}
"""Answers that belong to no operation: they are given where there is none."""

BEFORE_COUNTING = ("401", "403", "500", "503")
"""Statuses that a caller may get before the call was counted."""


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """The document; made once."""
    if app.openapi_schema is None:
        app.openapi_schema = _document(app)
    return app.openapi_schema


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        routes=app.routes,
        tags=TAGS,
        servers=[{"url": "/", "description": "The host that served this document."}],
        contact={"name": "The operator of this service"},
        license_info={"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    )
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _complete(operation, under_api=path.startswith("/api/"))
    components = document["components"]
    for model in BODY_MODELS:
        schema = model.model_json_schema(ref_template=REFERENCE)
        components["schemas"].update(schema.pop("$defs", {}))
        components["schemas"][model.__name__] = schema
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    _tidy(document)
    components["securitySchemes"] = SECURITY_SCHEMES
    components["responses"] = {name: _anywhere(status, code) for name, (status, code) in ANYWHERE.items()}
    components["headers"] = header_components(json.dumps(document))
    return document


def _complete(operation: dict[str, Any], *, under_api: bool) -> None:
    """Add what every operation has in common, and drop the validation answer that never leaves this service."""
    operation["security"] = [{API_KEY: []}] if under_api else []
    if "HTTPValidationError" in str(operation["responses"].get("422", "")):
        del operation["responses"]["422"]
    operation["responses"] = dict(sorted(operation["responses"].items()))
    for status, answer in operation["responses"].items():
        names = (*ALWAYS, *(RATE if under_api and status not in BEFORE_COUNTING else ()))
        for name in names:
            answer.setdefault("headers", {}).update(required_header(name))


def _tidy(node: Any) -> None:
    """Drop what pydantic says of fields that nobody named: a title made of the name, and null for no default."""
    if isinstance(node, list):
        for item in node:
            _tidy(item)
    elif isinstance(node, dict):
        schema = "properties" in node or "type" in node or "anyOf" in node or "oneOf" in node or "$ref" in node
        if schema and isinstance(node.get("title"), str):
            del node["title"]
        if schema and "default" in node and node["default"] is None:
            del node["default"]
        for name, child in node.items():
            if name not in ("example", "examples"):
                _tidy(child)


def _anywhere(status: int, code: str) -> dict[str, Any]:
    answer = refusal(status, [code])
    for name in ALWAYS:
        answer["headers"].update(required_header(name))
    answer["content"]["application/json"]["schema"] = {"$ref": REFERENCE.format(model="ErrorBody")}
    return answer
