"""Webhook endpoints over HTTP."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from domain import webhooks
from tests.api.conftest import Api
from tests.factories import create_caller

WEBHOOKS = "/api/v1/webhooks"
URL = "https://shop.example/hook"


async def call(api: Api, method: str, path: str = "", body: Any = None, **options: Any) -> httpx.Response:
    content = {} if body is None else {"json": body}
    return await api.client.request(method, WEBHOOKS + path, **content, **options)


async def created(api: Api, **fields: Any) -> dict[str, Any]:
    answer = await call(api, "POST", body={"url": URL, "events": ["tryon.completed"], **fields})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    assert answer.headers["Location"] == f"{WEBHOOKS}/{made['id']}"
    return made


async def test_the_secret_is_told_when_it_is_made_and_nowhere_else(api: Api) -> None:
    made = await created(api, description="Orders")
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert made.pop("previousSecretUntil") is None
    path = f"/{made['id']}"
    assert (await call(api, "GET", path)).json() == made
    assert (await call(api, "GET")).json() == {"webhooks": [made]}
    rotated = (await call(api, "POST", f"{path}/rotate")).json()
    assert rotated["secret"] not in {secret, None}
    assert rotated["previousSecretUntil"] is not None
    assert secret not in (await call(api, "GET", path)).text


async def test_an_endpoint_is_changed_field_by_field_and_deleted(api: Api) -> None:
    made = await created(api)
    path = f"/{made['id']}"
    answer = await call(api, "PATCH", path, {"events": ["volume.low", "tryon.failed"], "colour": "red"})
    assert answer.headers["X-Ignored-Fields"] == "colour"
    changed = answer.json()
    assert changed["events"] == ["tryon.failed", "volume.low"]
    assert (changed["url"], changed["enabled"]) == (URL, True)
    off = (await call(api, "PATCH", path, {"enabled": False})).json()
    assert (off["enabled"], off["disabledReason"]) == (False, "owner")
    refused = await call(api, "POST", f"{path}/example")
    assert (refused.status_code, refused.headers["X-Error-Code"]) == (409, "webhook_off")
    assert (await call(api, "PATCH", path, {"enabled": True})).json()["disabledReason"] is None
    assert (await call(api, "PATCH", path, {"url": None})).status_code == 400
    assert (await call(api, "DELETE", path)).status_code == 204
    assert (await call(api, "GET", path)).headers["X-Error-Code"] == "webhook_not_found"


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.example/",
        "https://10.0.0.1/",
        "https://localhost/",
        "https://a:b@shop.example/",
        "https://x.example:8443/",
    ],
)
async def test_an_address_has_to_be_a_public_one(api: Api, url: str) -> None:
    answer = await call(api, "POST", body={"url": url, "events": ["tryon.completed"]})
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (422, "webhook_url_refused")
    made = await created(api)
    assert (await call(api, "PATCH", f"/{made['id']}", {"url": url})).status_code == 422


@pytest.mark.parametrize("events", [[], ["tryon.started"], None, "tryon.failed"])
async def test_events_are_those_that_there_are(api: Api, events: Any) -> None:
    answer = await call(api, "POST", body={"url": URL, "events": events})
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (400, "field_invalid")


async def test_an_example_is_sent_and_sent_again(api: Api) -> None:
    made = await created(api, events=["product.ready", "tryon.failed"])
    path = f"/{made['id']}"
    first = (await call(api, "POST", f"{path}/example")).json()
    assert (first["event"], first["status"], first["attempts"]) == ("tryon.failed", "waiting", [])
    chosen = (await call(api, "POST", f"{path}/example", {"event": "volume.low"})).json()
    assert chosen["event"] == "volume.low"
    again = await call(api, "POST", f"{path}/deliveries/{first['id']}/resend")
    assert again.status_code == 202
    assert again.json()["messageId"] == first["messageId"]
    assert again.json()["id"] != first["id"]
    page = (await call(api, "GET", f"{path}/deliveries?limit=2")).json()
    rest = (await call(api, "GET", f"{path}/deliveries?limit=2&cursor={page['nextCursor']}")).json()
    assert [each["id"] for each in page["deliveries"] + rest["deliveries"]] == [
        again.json()["id"],
        chosen["id"],
        first["id"],
    ]
    assert rest["nextCursor"] is None


async def test_what_is_anothers_is_unknown(api: Api) -> None:
    made = await created(api)
    path = f"/{made['id']}"
    delivery = (await call(api, "POST", f"{path}/example")).json()["id"]
    stranger = await create_caller(api.parts.database, api.parts.digester)
    for method, where in (
        ("GET", path),
        ("PATCH", path),
        ("DELETE", path),
        ("POST", f"{path}/rotate"),
        ("POST", f"{path}/example"),
        ("GET", f"{path}/deliveries"),
        ("POST", f"{path}/deliveries/{delivery}/resend"),
    ):
        body = {} if method == "PATCH" else None
        answer = await call(api, method, where, body, headers=stranger.headers)
        assert (answer.status_code, answer.headers["X-Error-Code"]) == (404, "webhook_not_found"), (method, where)
    other = await created(api)
    crossed = await call(api, "POST", f"/{other['id']}/deliveries/{delivery}/resend")
    assert crossed.headers["X-Error-Code"] == "webhook_delivery_not_found"
    assert (await call(api, "GET", f"/{uuid.uuid4()}")).status_code == 404
    assert (await call(api, "GET", "/nonsense")).status_code == 404


async def test_there_are_only_so_many(api: Api) -> None:
    for _ in range(webhooks.MOST_ENDPOINTS):
        await created(api)
    answer = await call(api, "POST", body={"url": URL, "events": ["tryon.completed"]})
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (409, "webhooks_too_many")
