"""The whole document: FastAPI's, with the bodies that are parsed by hand and what all operations share."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from api.openapi.answers import refusal
from api.openapi.headers import ALWAYS, RATE, header_components, required_header
from api.products.schemas import CreateProduct, UpdateProduct
from api.tryon.schemas import ComboRequest, SingleRequest
from runtime.settings import Settings

REFERENCE = "#/components/schemas/{model}"
BODY_MODELS: tuple[type[BaseModel], ...] = (SingleRequest, ComboRequest, CreateProduct, UpdateProduct)

ALTERNATIVES = {
    "SingleRequest": ("TryOnByProduct", "TryOnByPicture"),
    "GarmentFields": ("GarmentByProduct", "GarmentByPicture"),
}
"""What may name a garment in two ways is one of two whole objects: generators of clients make a type of each, and none
of a condition on the fields of one object."""

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

ANYWHERE = {
    "RouteNotFound": (404, "route_not_found"),
    "MethodNotAllowed": (405, "method_not_allowed"),
    "RequestMalformed": (400, "request_malformed"),
    "HostRefused": (400, "host_refused"),
    "HeadersIncomplete": (408, "headers_incomplete"),
    "HeadersTooLarge": (431, "headers_too_large"),
    "TooManyConnections": (503, "too_many_connections"),
}
"""Answers that belong to no operation: they are given where there is none, or before it is known which."""

BEFORE_COUNTING = ("401", "403", "500", "503")
"""Statuses that a caller may get before the call was counted."""


def servers_of(settings: Settings) -> list[dict[str, Any]]:
    """Where the service is called: at its public address, or where the document was read if none is set."""
    here = [{"url": "/", "description": "The host that served this document."}]
    if settings.dashboard.public_url is None:
        return here
    return [{"url": settings.dashboard.base_url(settings.api), "description": "The address of this service."}, *here]


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
        servers=app.servers,
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
    for name, (by_product, by_picture) in ALTERNATIVES.items():
        components["schemas"] |= _alternatives(name, components["schemas"][name], by_product, by_picture)
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


def _alternatives(name: str, fields: dict[str, Any], by_product: str, by_picture: str) -> dict[str, Any]:
    """The two whole objects that a garment's fields may be, and the choice between them; null counts as not sent."""
    product = _requiring(fields, "productId")
    picture = _requiring(fields, "garmentImageUrl", "category")
    picture["properties"]["productId"] = {"type": "null", "description": "Not sent, or null."}
    return {
        by_product: {**product, "description": "With a registered garment."},
        by_picture: {**picture, "description": "With a picture of the garment."},
        name: {
            "description": fields["description"].partition("\n")[0],
            "oneOf": [{"$ref": REFERENCE.format(model=model)} for model in (by_product, by_picture)],
        },
    }


def _requiring(schema: dict[str, Any], *names: str) -> dict[str, Any]:
    """A copy of an object's schema in which these fields have to be there, and not null."""
    copy = deepcopy(schema)
    for name in names:
        field = copy["properties"][name]
        options = [option for option in field.pop("anyOf") if option.get("type") != "null"]
        field.pop("default", None)
        field.update({"anyOf": options} if len(options) > 1 else options[0])
    copy["required"] = [name for name in copy["properties"] if name in {*names, *schema.get("required", [])}]
    return copy


def _tidy(node: Any) -> None:
    """Drop what pydantic says of fields that nobody named: a title made of the name, and null for no default.

    That unknown fields are taken is said by nothing: said aloud, it makes generators give up on wrong names.
    """
    if isinstance(node, list):
        for item in node:
            _tidy(item)
    elif isinstance(node, dict):
        schema = "properties" in node or "type" in node or "anyOf" in node or "oneOf" in node or "$ref" in node
        if schema and isinstance(node.get("title"), str):
            del node["title"]
        if schema and node.get("additionalProperties") is True:
            del node["additionalProperties"]
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
