"""What OpenAPI cannot read off the code, since bodies are parsed by hand."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from api.products.schemas import CreateProduct, UpdateProduct
from api.tryon.schemas import ComboRequest, ErrorBody, SingleRequest

REFERENCE = "#/components/schemas/{model}"
BODY_MODELS: tuple[type[BaseModel], ...] = (SingleRequest, ComboRequest, CreateProduct, UpdateProduct)

_MEANING = {
    400: "Malformed request.",
    401: "Missing, invalid or revoked API key.",
    402: "The trial is over, or the included volume and all top-ups are used up.",
    403: "The account is blocked.",
    404: "No such job, or no such product.",
    409: "The same Idempotency-Key is being accepted at this moment, or another product has the externalId.",
    413: "The body, or one picture in it, is too large.",
    422: "A picture could not be used, or the Idempotency-Key was used with another body.",
    429: "Too many requests, or the daily cap is reached; see Retry-After.",
    500: "Server-side failure; nothing was billed.",
    503: "Busy or not available; see Retry-After.",
}


def error_answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` argument of a route."""
    return {
        status: {
            "model": ErrorBody,
            "description": _MEANING[status],
            "headers": {
                "X-Error-Code": {
                    "description": "Machine-readable code; see the list of errors.",
                    "schema": {"type": "string"},
                },
            },
        }
        for status in statuses
    }


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """The ``openapi_extra`` of a route that parses its own body."""
    content = {"application/json": {"schema": {"$ref": REFERENCE.format(model=model.__name__)}}}
    return {"requestBody": {"required": True, "content": content}}


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """The whole document, with the bearer scheme and the models of hand-parsed bodies."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        components = document.setdefault("components", {})
        for model in BODY_MODELS:
            schema = model.model_json_schema(ref_template=REFERENCE)
            components["schemas"].update(schema.pop("$defs", {}))
            components["schemas"][model.__name__] = schema
        components["securitySchemes"] = {"apiKey": {"type": "http", "scheme": "bearer"}}
        for path, operations in document["paths"].items():
            for operation in operations.values():
                if path.startswith("/api/"):
                    operation["security"] = [{"apiKey": []}]
                    # FastAPI adds its own validation answer, which never leaves this service.
                    if "HTTPValidationError" in str(operation["responses"].get("422", "")):
                        del operation["responses"]["422"]
        for name in ("HTTPValidationError", "ValidationError"):
            components["schemas"].pop(name, None)
        app.openapi_schema = document
    return app.openapi_schema
