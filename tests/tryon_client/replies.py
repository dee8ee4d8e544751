"""Answers of the service, as a scripted server gives them."""

from __future__ import annotations

import base64
from typing import Any

from tests.tryon_client.scripted_server import Reply

JOB = "0b5ffb46-5a0b-4d0c-9f0e-3c1a0f6d2b11"

ACCEPTED = Reply(202, {"jobId": JOB, "status": "processing"})
PICTURE = b"\xff\xd8\xff the picture"
COMPLETED = Reply(
    200,
    {
        "status": "completed",
        "resultImageBase64": f"data:image/jpeg;base64,{base64.b64encode(PICTURE).decode()}",
        "generationTimeMs": 2300,
    },
)
FAILED = Reply(
    200, {"status": "failed", "error": "No person was found in the photo."}, {"X-Error-Code": "person_not_found"}
)


def processing(**headers: str) -> Reply:
    """A poll's answer; ``Retry_After`` stands for ``Retry-After``."""
    return Reply(200, {"status": "processing"}, {name.replace("_", "-"): value for name, value in headers.items()})


def refusal(status: int, code: str | None = None, **headers: str) -> Reply:
    known = {"X-Error-Code": code} if code else {}
    return Reply(
        status, {"error": f"Refused with {status}."}, {**known, **{k.replace("_", "-"): v for k, v in headers.items()}}
    )


def product(**fields: Any) -> dict[str, Any]:
    return {
        "id": "prod_1",
        "externalId": "SKU-1",
        "name": "Shirt",
        "category": "upper_body",
        "garmentCategory": None,
        "garmentState": None,
        "tuckState": None,
        "size": None,
        "hasBackImage": False,
        "status": "active",
        "revision": 1,
        "createdAt": "2026-11-21T07:00:00Z",
        "updatedAt": "2026-11-21T07:00:00Z",
        **fields,
    }
