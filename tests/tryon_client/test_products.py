"""The catalogue, from either client."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.tryon_client.replies import product, refusal
from tests.tryon_client.scripted_server import DROP, Reply, ScriptedServer
from tryon_client import Conflict, ConnectionFailed


async def test_a_product_is_created_with_the_wires_names(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(Reply(201, product(hasBackImage=True, revision=3)))
    created = await client.products.create(
        "Shirt", "upper_body", "https://shop.example/a.jpg", external_id="SKU-1", back_image=jpeg, tuck_state="tucked"
    )
    assert (created.id, created.external_id, created.has_back_image, created.revision) == ("prod_1", "SKU-1", True, 3)
    assert created.created_at.tzinfo is not None
    sent = server.received[0]
    assert (sent.method, sent.path) == ("POST", "/api/v1/products")
    assert sent.body == {
        "name": "Shirt",
        "category": "upper_body",
        "garmentImageUrl": "https://shop.example/a.jpg",
        "externalId": "SKU-1",
        "garmentBackImageUrl": f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}",
        "tuckState": "tucked",
    }


async def test_one_that_exists_is_changed(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(Reply(200, product(revision=2)))
    assert (await client.products.create("Shirt", "upper_body", jpeg, external_id="SKU-1")).revision == 2


async def test_with_an_external_id_a_lost_answer_does_no_harm(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(DROP, Reply(200, product()))
    await client.products.create("Shirt", "upper_body", jpeg, external_id="SKU-1")
    assert server.received[0].headers["Idempotency-Key"] == server.received[1].headers["Idempotency-Key"]


async def test_without_one_it_is_said(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(DROP)
    with pytest.raises(ConnectionFailed):
        await client.products.create("Shirt", "upper_body", jpeg)


async def test_a_rate_limit_is_waited_for_in_any_case(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(refusal(429, "rate_limited", Retry_After="2"), Reply(201, product()))
    await client.products.create("Shirt", "upper_body", jpeg)


async def test_the_list_goes_on_over_the_pages(client: Any, server: ScriptedServer) -> None:
    first = {"products": [product(id="prod_3"), product(id="prod_2")], "nextCursor": "a/b="}
    server.reply(Reply(200, first), Reply(200, {"products": [product(id="prod_1")], "nextCursor": None}))
    listed = [item.id async for item in client.products.list("archived", page_size=2)]
    assert listed == ["prod_3", "prod_2", "prod_1"]
    assert [sent.path for sent in server.received] == [
        "/api/v1/products?status=archived&limit=2",
        "/api/v1/products?status=archived&limit=2&cursor=a%2Fb%3D",
    ]


async def test_one_product(client: Any, server: ScriptedServer) -> None:
    server.reply(Reply(200, product(size="M")))
    assert (await client.products.get("prod_1")).size == "M"
    assert server.received[0].path == "/api/v1/products/prod_1"


async def test_only_what_is_given_is_changed_and_none_empties(client: Any, server: ScriptedServer) -> None:
    server.reply(Reply(200, product(revision=2)))
    changed = await client.products.update("prod_1", size=None, status="active")
    assert changed.revision == 2
    assert (server.received[0].method, server.received[0].body) == ("PATCH", {"size": None, "status": "active"})


async def test_an_external_id_that_is_taken_is_a_conflict(client: Any, server: ScriptedServer) -> None:
    server.reply(refusal(409, "external_id_taken"))
    with pytest.raises(Conflict):
        await client.products.update("prod_1", external_id="SKU-2")


async def test_a_field_that_there_is_not_is_a_mistake(client: Any) -> None:
    with pytest.raises(TypeError, match="colour"):
        await client.products.update("prod_1", colour="red")


async def test_archiving(client: Any, server: ScriptedServer) -> None:
    server.reply(Reply(204))
    await client.products.archive("prod_1")
    assert (server.received[0].method, server.received[0].path) == ("DELETE", "/api/v1/products/prod_1")
