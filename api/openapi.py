"""The OpenAPI document, and the pages that show it.

FastAPI makes most of it from the routes. What it cannot know is added here: bodies that are parsed by hand, headers,
refusals and examples. Examples of requests are accepted as they are, and the tests send them. FastAPI drops fields that
are null from the document, so no example has any.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import deepcopy
from http import HTTPStatus
from typing import Any, TypeAlias

from fastapi import FastAPI
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from api.json_body import Answer
from api.products.schemas import CreateProduct, UpdateProduct
from api.tryon.schemas import ComboRequest, LinkRequest, SingleRequest
from api.webhooks.schemas import MESSAGES, ChangeWebhook, CreateWebhook, SendExample
from domain.access.idempotency import LONGEST_KEY
from domain.errors import CATALOGUE, with_limits
from domain.webhooks import EVENTS, EXAMPLES, Event
from imaging.errors import ImageErrorCode
from runtime.settings import Settings


def _header(description: str, **schema: Any) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string", **schema}}


HEADERS = {
    "X-Request-Id": _header(
        "What the service's log calls this request: the request's own `X-Request-Id` if that is 1 to 64 "
        "letters, digits, dots, dashes and underscores, else a new one.",
        pattern="^[A-Za-z0-9._-]{1,64}$",
    ),
    "Cache-Control": _header("No answer may be kept.", const="no-store"),
    "Retry-After": _header("Seconds after which the same call may be worth sending again.", type="integer", minimum=0),
    "RateLimit": _header(
        "How the key stands under the policy: `r` calls are left, and there are more in `t` seconds.",
        pattern='^"[a-z-]+";r=[0-9]+;t=[0-9]+$',
    ),
    "RateLimit-Policy": _header(
        "The policy that the call counts under: `q` calls in any `w` seconds.", pattern='^"[a-z-]+";q=[0-9]+;w=[0-9]+$'
    ),
    "X-Ignored-Fields": _header("Names of the request's fields that mean nothing to the service, separated by commas."),
    "Idempotent-Replayed": _header(
        "The answer was given before, to an earlier request with this `Idempotency-Key`.", const="true"
    ),
    "ETag": _header("Names this picture in this format and size; send it back as `If-None-Match`."),
    "Vary": _header("What of the request the answer goes by.", const="Accept"),
    "Location": _header("Path of what was made.", format="uri-reference"),
    "Preference-Applied": _header("The longest wait that was honoured, in seconds.", pattern="^wait=[0-9]+$"),
    "WWW-Authenticate": _header("How to say who calls.", const="Bearer"),
    "X-Error-Code": _header(
        "What is wrong, for programs: with every 4xx and 5xx answer, and with the poll of a failed job.",
        pattern="^[a-z_]+$",
    ),
    "Allow": _header("Methods that the address takes, separated by commas.", pattern="^[A-Z]+(, [A-Z]+)*$"),
}
"""Every header that an answer may carry."""

ALWAYS = ("X-Request-Id", "Cache-Control")
"""Come with every answer, whatever makes it."""

RATE = ("RateLimit-Policy", "RateLimit")
"""Come with every answer to a caller who was let in."""

_OPTIONAL = "Optional-"


def _ref(kind: str, name: str) -> str:
    return f"#/components/{kind}/{name}"


def headers_of(always: Iterable[str] = (), sometimes: Iterable[str] = ()) -> dict[str, Any]:
    """The ``headers`` of an answer that always comes with some, and may come with others."""
    names = {name: name for name in always} | {name: _OPTIONAL + name for name in sometimes}
    return {name: {"$ref": _ref("headers", known)} for name, known in names.items()}


IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Send the same value again with the same body, within a day, and no second job is started: the "
    "answer is the first one. Any printable ASCII characters, with or without quotes around them.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": LONGEST_KEY,
        "pattern": '^(?!""$)[!-~]([ -~]*[!-~])?$',
    },
}

PREFER: dict[str, Any] = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "`wait=N` holds the answer until the job has ended, but no longer than N seconds (RFC 7240); up to "
    "30 by default. What is not understood is ignored.",
    "schema": {"type": "string"},
    "example": "wait=30",
}

PICTURE = "data:image/webp;base64,UklGRiIAAABXRUJQVlA4TBYAAAAv/8A/AAcQEf0PACjS//8U0f/U//4D"
"""A plain square of 256 pixels in 42 bytes: a stand-in for a photo."""

SHIRT = "https://shop.example/pictures/shirt.jpg"

JEANS = "https://shop.example/pictures/jeans.jpg"

JOB_ID = "7d9f3c52-1f0e-4c5b-9a53-0b9a4f2f6c11"

PRODUCT_ID = "prod_3f0c1e6a5b7d4c2e9a8b7c6d5e4f3a2b"

SINGLE_REQUESTS: dict[str, Any] = {
    "shirt": {
        "customerPhotoBase64": PICTURE,
        "garmentImageUrl": PICTURE,
        "category": "upper_body",
        "garmentCategory": "t-shirt",
        "size": "M",
        "customerSize": "L",
        "tuckState": "untucked",
        "viewAngle": "front",
    },
    "picture in a shop": {"customerPhotoBase64": PICTURE, "garmentImageUrl": JEANS, "category": "lower_body"},
    "registered garment": {"customerPhotoBase64": PICTURE, "productId": "SHIRT-0815-M"},
}

COMBO_REQUESTS: dict[str, Any] = {
    "shirt and jeans": {
        "customerPhotoBase64": PICTURE,
        "garments": [
            {"garmentImageUrl": SHIRT, "category": "upper_body", "garmentCategory": "t-shirt", "tuckState": "tucked"},
            {"garmentImageUrl": JEANS, "category": "lower_body", "garmentCategory": "jeans", "size": "W32/L34"},
        ],
    },
}

CREATE_PRODUCTS: dict[str, Any] = {
    "shirt": {
        "name": "Linen shirt",
        "category": "upper_body",
        "garmentImageUrl": PICTURE,
        "externalId": "SHIRT-0815-M",
        "garmentCategory": "shirt",
        "size": "M",
    },
}

UPDATE_PRODUCTS: dict[str, Any] = {
    "another size": {"size": "L"},
    "brought back": {"status": "active"},
}

ACCEPTED: dict[str, Any] = {"accepted": {"jobId": JOB_ID, "status": "processing"}}

VERDICTS: dict[str, Any] = {
    "nothing to change": {
        "ok": True,
        "photo": {"ok": True, "findings": []},
        "garments": [{"ok": True, "findings": []}],
    },
    "another photo is needed": {
        "ok": False,
        "photo": {
            "ok": False,
            "findings": [
                {
                    "code": "pose_not_usable",
                    "severity": "problem",
                    "message": "The pose in the photo cannot be used. Show yourself from head to hips.",
                },
                {
                    "code": "photo_dark",
                    "severity": "advice",
                    "message": "The photo is dark. Take it by daylight, or with the light in front of the person.",
                },
            ],
        },
        "garments": [{"ok": True, "findings": []}],
    },
}

POLLS: dict[str, Any] = {
    "processing": {"status": "processing"},
    "completed": {
        "status": "completed",
        "resultImageBase64": "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/2wBD",
        "generationTimeMs": 11840,
    },
    "failed": {"status": "failed", "error": "No person was found in the photo. Use a photo that shows you."},
}

PRODUCT: dict[str, Any] = {
    "id": PRODUCT_ID,
    "externalId": "SHIRT-0815-M",
    "name": "Linen shirt",
    "category": "upper_body",
    "garmentCategory": "shirt",
    "garmentState": "closed",
    "tuckState": "untucked",
    "size": "M",
    "hasBackImage": False,
    "status": "active",
    "revision": 1,
    "createdAt": "2026-03-01T09:30:00.250000Z",
    "updatedAt": "2026-03-01T09:30:00.250000Z",
}

PRODUCTS: dict[str, Any] = {"product": PRODUCT}

PRODUCT_PAGES: dict[str, Any] = {
    "not the last page": {
        "products": [PRODUCT],
        "nextCursor": "MjAyNi0wMy0wMVQwOTozMDowMC4yNTAwMDArMDA6MDAgM2YwYzFlNmE1YjdkNGMyZTlhOGI3YzZkNWU0ZjNhMmI=",
    }
}

CREATE_WEBHOOKS: dict[str, Any] = {
    "ends of jobs": {
        "url": "https://shop.example/hooks/try-on",
        "events": ["tryon.completed", "tryon.failed"],
        "description": "Order pages",
    }
}

WEBHOOK: dict[str, Any] = {
    "id": "5b0d6f0e-8f0b-4d0c-9a55-7c1f2ab41d10",
    **CREATE_WEBHOOKS["ends of jobs"],
    "enabled": True,
    "createdAt": "2026-03-01T09:30:00.250000Z",
}

WEBHOOKS: dict[str, Any] = {"endpoint": WEBHOOK}

WEBHOOK_LISTS: dict[str, Any] = {"one endpoint": {"webhooks": [WEBHOOK]}}

SECRET_WEBHOOKS: dict[str, Any] = {"endpoint": {**WEBHOOK, "secret": "whsec_bm8gc2VjcmV0LCBvbmx5IGFuIGV4YW1wbGU="}}

DELIVERY: dict[str, Any] = {
    "id": "0a3c5a3e-52f0-4f0f-8a3f-2f2b6f3a9d77",
    "messageId": "msg_8c1f0a3d5e7b4c2f9a6d3b1e0f4a7c5d",
    "event": "tryon.completed",
    "status": "waiting",
    "createdAt": "2026-03-01T09:31:00.120000Z",
    "attempts": [],
}

DELIVERIES: dict[str, Any] = {"delivery": DELIVERY}

DELIVERY_PAGES: dict[str, Any] = {
    "the last page": {
        "deliveries": [
            {
                **DELIVERY,
                "nextAttemptAt": "2026-03-01T09:31:06.300000Z",
                "attempts": [
                    {
                        "at": "2026-03-01T09:31:01.200000Z",
                        "milliseconds": 85,
                        "status": 500,
                        "fault": "The endpoint answered 500.",
                        "answer": "Internal Server Error",
                    }
                ],
            }
        ]
    }
}

LINKS: dict[str, Any] = {
    "link": {
        "url": f"https://tryon.example/pictures/{JOB_ID}?until=1772357700&signature=8f2c",
        "expiresAt": "2026-03-01T09:35:00Z",
    }
}

JOB_PAGES: dict[str, Any] = {
    "not the last page": {
        "jobs": [
            {
                "jobId": JOB_ID,
                "status": "completed",
                "kind": "single",
                "mode": "live",
                "createdAt": "2026-03-01T09:30:00.250000Z",
                "finishedAt": "2026-03-01T09:30:12.090000Z",
                "pictureExpiresAt": "2026-03-01T10:30:12.090000Z",
                "erased": False,
                "generationTimeMs": 11840,
                "engine": "warp",
                "products": [{"index": 0, "id": PRODUCT_ID, "revision": 1}],
                "metadata": {"orderId": "4711"},
            }
        ],
        "nextCursor": "MjAyNi0wMy0wMVQwOTozMDowMC4yNTAwMDArMDA6MDAgN2Q5ZjNjNTIxZjBlNGM1YjlhNTMwYjlhNGYyZjZjMTE=",
    }
}

USAGE: dict[str, Any] = {
    "free trial": {
        "plan": "trial",
        "period": {"start": "2026-03-01T09:00:00Z", "end": "2026-03-08T09:00:00Z"},
        "included": 10,
        "used": 4,
        "reserved": 1,
        "topUpRemaining": 0,
        "dailyCap": 10,
        "dailyUsed": 2,
        "trialEndsAt": "2026-03-08T09:00:00Z",
    },
}


def read_by_hand(
    *models: type[BaseModel],
    examples: dict[str, Any] | None = None,
    headers: Sequence[dict[str, Any]] = (),
    required: bool = True,
) -> dict[str, Any]:
    """The ``openapi_extra`` of a route.

    Args:
        models: Of its JSON body, if it has one, which is any of them; the document has to know them, see `BODY_MODELS`.
        examples: Bodies, by what they show.
        headers: Parameters.
        required: Whether there has to be a body.
    """
    extra: dict[str, Any] = {}
    if headers:
        extra["parameters"] = list(headers)
    if models:
        schemas = [{"$ref": _ref("schemas", model.__name__)} for model in models]
        content = {
            "schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas},
            "examples": {name: {"value": value} for name, value in (examples or {}).items()},
        }
        extra["requestBody"] = {"required": required, "content": {"application/json": content}}
    return extra


Answers: TypeAlias = dict[int | str, dict[str, Any]]
"""The ``responses`` argument of a route."""

GATE = (
    "unauthorized",
    "account_blocked",
    "key_scope_missing",
    "key_publishable",
    "rate_limited",
    "busy",
    "storage_unavailable",
    "internal",
)
"""What any call under ``/api/`` may meet, whatever it asks for."""

PAGE_GATE = (*(code for code in GATE if code != "key_publishable"), "origin_not_allowed")
"""The same where web pages may call too."""

SENDING = ("body_incomplete", "body_too_large")
"""What a body may meet on its way, wanted or not."""

JSON_BODY = (*SENDING, "content_type_not_json", "json_invalid", "field_invalid")

PICTURES = tuple(code.value for code in ImageErrorCode if CATALOGUE[code].status is not None)
"""What is judged about pictures before the answer."""

IDEMPOTENCY = ("idempotency_key_invalid", "idempotency_in_progress", "idempotency_mismatch")

VOLUME = ("trial_ended", "volume_exhausted", "daily_cap_reached", "key_daily_cap_reached")

COME_WITH: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "WWW-Authenticate",
    HTTPStatus.METHOD_NOT_ALLOWED: "Allow",
    HTTPStatus.TOO_MANY_REQUESTS: "Retry-After",
    HTTPStatus.SERVICE_UNAVAILABLE: "Retry-After",
}
"""The header that a status always comes with."""


class ErrorBody(Answer):
    """Body of every 4xx and 5xx answer."""

    error: str = Field(
        description="A sentence that is safe to show to an end user. The code is in the header X-Error-Code.",
        min_length=1,
    )


def refusals(*codes: str) -> Answers:
    """Every refusal that an operation knows, by status; the codes are those of the catalogue.

    Raises:
        ValueError: A code is for jobs only and has no HTTP status.
    """
    by_status: defaultdict[int, list[str]] = defaultdict(list)
    for code in dict.fromkeys(codes):
        status = CATALOGUE[code].status
        if status is None:
            raise ValueError(f"{code} has no HTTP status")
        by_status[status].append(code)
    return {status: {"model": ErrorBody, **refusal(status, by_status[status])} for status in sorted(by_status)}


def refusal(status: int, codes: Iterable[str]) -> dict[str, Any]:
    """One error answer: the codes that come with it, each with its sentence."""
    codes = list(codes)
    headers = {
        "X-Error-Code": {
            "description": HEADERS["X-Error-Code"]["description"],
            "required": True,
            "schema": {"type": "string", "enum": codes},
        }
    }
    if status in COME_WITH:
        headers |= headers_of([COME_WITH[status]])
    elif any(CATALOGUE[code].retryable for code in codes) and status == HTTPStatus.CONFLICT:
        headers |= headers_of(sometimes=["Retry-After"])
    # With the limits only named: routes are described before the settings are known.
    said = {code: f"{CATALOGUE[code].problem} {CATALOGUE[code].advice}".rstrip() for code in codes}
    examples = {code: {"summary": code, "value": {"error": sentence}} for code, sentence in said.items()}
    return {
        "description": "\n".join(f"- `{code}`: {sentence}" for code, sentence in said.items()),
        "headers": headers,
        "content": {"application/json": {"examples": examples}},
    }


def success(
    *,
    always: Iterable[str] = (),
    sometimes: Iterable[str] = (),
    examples: dict[str, Any] | None = None,
    links: dict[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """What a route adds to its description of a success.

    Args:
        always: Headers that come with every such answer, by their names.
        sometimes: Headers that may come with it.
        examples: Bodies, by what they show.
        links: What its fields are good for in other operations.
        fields: Anything else of the answer, such as ``model`` and ``description``.
    """
    answer: dict[str, Any] = {**fields, "headers": headers_of(always, sometimes)}
    if examples:
        shown = {name: {"value": value} for name, value in examples.items()}
        answer["content"] = {"application/json": {"examples": shown}}
    if links:
        answer["links"] = links
    return answer


BODY_MODELS: tuple[type[BaseModel], ...] = (
    *(SingleRequest, ComboRequest, LinkRequest),
    *(CreateProduct, UpdateProduct),
    *(CreateWebhook, ChangeWebhook, SendExample),
    *MESSAGES.values(),
)

ALTERNATIVES = {
    "SingleRequest": ("TryOnByProduct", "TryOnByPicture"),
    "GarmentFields": ("GarmentByProduct", "GarmentByPicture"),
}
"""What may name a garment in two ways is one of two whole objects: generators of clients make a type of each, and none
of a condition on the fields of one object."""

DESCRIPTION = """\
A customer photo and one to four garment pictures in, a picture of that person wearing them out. \
A POST starts a job and answers at once; poll the job until it is completed or failed. A check says beforehand whether \
the pictures can be used.

Every 4xx and 5xx answer but that of `/readyz` has the body `{"error": "…"}` and the header `X-Error-Code`. Any \
operation answers 405 to a method that its address does not take, and an address that is not listed here answers 404.
"""

TAGS = [
    {
        "name": "try-on",
        "description": "Jobs: checking pictures first; starting, polling, finding and erasing jobs; their pictures.",
    },
    {"name": "products", "description": "The account's catalogue of garments, for use by `productId`."},
    {"name": "webhooks", "description": "Endpoints of your own that are told of events, and what was sent to them."},
    {"name": "usage", "description": "How much of its volume the account has used."},
    {"name": "health", "description": "For load balancers and process managers; no key is needed."},
]

API_KEY = "apiKey"

ABOUT: dict[str, Any] = {
    "description": DESCRIPTION,
    "openapi_tags": TAGS,
    "contact": {"name": "The operator of this service"},
    "license_info": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
}
"""What FastAPI is told about the whole."""

SECURITY_SCHEMES = {
    API_KEY: {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key of the account: `Authorization: Bearer vto_live_…`. Keys that begin with "
        "`vto_test_` or `vto_pub_test_` are never billed and need no model. Keys that begin with `vto_pub_` are for "
        "web pages: they start try-ons with registered products, poll those, and do nothing else.",
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


WEBHOOK_HEADERS = {
    "webhook-id": "The same whenever the message is sent: remember those that you have handled.",
    "webhook-timestamp": "Of the attempt, in seconds since 1970.",
    "webhook-signature": "By the endpoint's secret, as Standard Webhooks says; two while secrets are changed over.",
}


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """FastAPI's document, with all that it cannot read off the code."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _complete(operation, under_api=path.startswith("/api/"))
    components = document["components"]
    for model in BODY_MODELS:
        schema = model.model_json_schema(ref_template=_ref("schemas", "{model}"))
        components["schemas"].update(schema.pop("$defs", {}))
        components["schemas"][model.__name__] = schema
    for name, (by_product, by_picture) in ALTERNATIVES.items():
        components["schemas"] |= _alternatives(name, components["schemas"][name], by_product, by_picture)
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    _tidy(document)
    components["securitySchemes"] = SECURITY_SCHEMES
    document["webhooks"] = {event: {"post": _webhook(event)} for event in MESSAGES}
    components["responses"] = {name: _anywhere(status, code) for name, (status, code) in ANYWHERE.items()}
    known = {name: {**header, "required": True} for name, header in HEADERS.items()}
    known |= {_OPTIONAL + name: header for name, header in HEADERS.items()}
    text = json.dumps(document)
    components["headers"] = {name: each for name, each in known.items() if f'"{_ref("headers", name)}"' in text}
    filled: dict[str, Any] = json.loads(with_limits(json.dumps(document)))
    return filled


def _complete(operation: dict[str, Any], *, under_api: bool) -> None:
    """Add what every operation has in common, and drop the validation answer that never leaves this service."""
    operation["security"] = [{API_KEY: []}] if under_api else []
    if "HTTPValidationError" in str(operation["responses"].get("422", "")):
        del operation["responses"]["422"]
    operation["responses"] = dict(sorted(operation["responses"].items()))
    for status, answer in operation["responses"].items():
        rate = RATE if under_api and status not in BEFORE_COUNTING else ()
        answer.setdefault("headers", {}).update(headers_of((*ALWAYS, *rate)))


def _webhook(event: Event) -> dict[str, Any]:
    """The call that an endpoint gets for an event."""
    example = {"type": event, "timestamp": "2026-03-01T09:30:12.090Z", "data": {**EXAMPLES[event], "mode": "test"}}
    headers = [
        {"name": name, "in": "header", "required": True, "description": text, "schema": {"type": "string"}}
        for name, text in WEBHOOK_HEADERS.items()
    ]
    return {
        "tags": ["webhooks"],
        "operationId": f"on{MESSAGES[event].__name__}",
        "summary": EVENTS[event],
        "security": [],
        **read_by_hand(MESSAGES[event], examples={"example": example}, headers=headers),
        "responses": {
            "2XX": {"description": "Delivered."},
            "410": {"description": "The endpoint wants no more events and is switched off."},
            "default": {"description": "Not delivered; it is tried again for a day."},
        },
    }


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
            "oneOf": [{"$ref": _ref("schemas", model)} for model in (by_product, by_picture)],
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
    answer["headers"].update(headers_of(ALWAYS))
    answer["content"]["application/json"]["schema"] = {"$ref": _ref("schemas", "ErrorBody")}
    return answer


STATIC = "/static-offline-docs"
"""Where fastapi-offline serves the scripts and styles of Swagger UI and Redoc."""

POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""For the browser: nothing is loaded from another host, whatever their scripts ask for."""

# What the two pages lack for people who use a screen reader or a keyboard is put in where it can be from the outside.
STYLE = """<style>
  a[href^="https://redocly.com/redoc"] { display: none }
  .swagger-ui .info .title small pre.version, .swagger-ui .info .title small { background: #42505c; color: #fff }
  .swagger-ui .info .title small.version-stamp { background: #3c6306 }
  .swagger-ui .opblock .opblock-summary-method { color: #000; text-shadow: none }
  .swagger-ui .info .url, .swagger-ui .info a { color: #1f5fb0 }
  .swagger-ui .btn.authorize { color: #1b6e46; border-color: #1b6e46 }
  .swagger-ui .btn.authorize svg { fill: #1b6e46 }
  .swagger-ui .json-schema-2020-12-expand-deep-button { color: #505050 }
</style>"""

LABELS = """<script>
  new MutationObserver(() => {
    for (const field of document.querySelectorAll("select:not([aria-label]), input:not([aria-label])")) {
      const row = field.closest("tr, label, .content-type-wrapper, .examples-select, .scheme-container");
      field.ariaLabel = field.id === "servers" ? "Server" : row?.innerText.trim().split("\\n")[0] || "Media type";
    }
    for (const heading of document.querySelectorAll("h3.opblock-tag")) heading.ariaLevel = 2;
    for (const heading of document.querySelectorAll(".swagger-ui h4")) heading.ariaLevel = 3;
  }).observe(document.body, { childList: true, subtree: true });
</script>"""


def add_reference_pages(app: FastAPI) -> None:
    """Serve ``/docs``, which sends calls too, and ``/redoc``; they load nothing from any other host."""
    about: dict[str, Any] = {"openapi_url": "openapi.json", "title": app.title}
    icon = f"{STATIC}/favicon.png"

    @app.get("/docs", include_in_schema=False)
    def swagger_ui() -> HTMLResponse:
        script, style = f"{STATIC}/swagger-ui-bundle.js", f"{STATIC}/swagger-ui.css"
        return _page(
            get_swagger_ui_html(**about, swagger_js_url=script, swagger_css_url=style, swagger_favicon_url=icon)
        )

    @app.get("/redoc", include_in_schema=False)
    def redoc() -> HTMLResponse:
        script = f"{STATIC}/redoc.standalone.js"
        return _page(get_redoc_html(**about, redoc_js_url=script, redoc_favicon_url=icon, with_google_fonts=False))


def _page(made: HTMLResponse) -> HTMLResponse:
    text = bytes(made.body).decode()
    for old, new in (
        ("<html>", '<html lang="en">'),
        ("</head>", f"{STYLE}</head>"),
        ('<div id="swagger-ui">\n    </div>', f'<main id="swagger-ui"></main>{LABELS}'),
    ):
        text = text.replace(old, new)
    return HTMLResponse(text, headers={"Content-Security-Policy": POLICY})
