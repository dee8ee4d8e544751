"""What goes over the wire, from either client."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest

from api.products.schemas import CreateProduct, ProductBody
from api.tryon.schemas import GarmentFields
from domain import tables
from engines.base import Hints
from engines.hints import GarmentHints, ProductHints
from tests.pictures import encoded
from tests.tryon_client.conftest import KEY, FakeTime
from tests.tryon_client.replies import ACCEPTED, COMPLETED, FAILED, JOB, PICTURE, processing
from tests.tryon_client.scripted_server import Reply, ScriptedServer
from tryon_client import Finding, Garment, Job, JobFailed, PictureVerdict, Product, TryOnClient, Verdict, calls
from workflows import contracts
from workflows.backfills.contracts import ItemGarment
from workflows.products.contracts import ProductFields


def inline(data: bytes, kind: str = "jpeg") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


async def test_one_garment_is_a_single_try_on(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(ACCEPTED)
    job = await client.start(
        jpeg,
        "https://shop.example/shirt.jpg",
        category="upper_body",
        garment_category="shirt",
        size="M",
        customer_size="L",
        garment_state="open",
        tuck_state="untucked",
        view_angle="back",
        back_image=jpeg,
    )
    assert job == Job(JOB)
    sent = server.received[0]
    assert (sent.method, sent.path) == ("POST", "/api/v1/tryon")
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    assert sent.headers["Content-Type"] == "application/json"
    assert sent.body == {
        "customerPhotoBase64": inline(jpeg),
        "garmentImageUrl": "https://shop.example/shirt.jpg",
        "category": "upper_body",
        "garmentBackImageUrl": inline(jpeg),
        "garmentCategory": "shirt",
        "size": "M",
        "customerSize": "L",
        "garmentState": "open",
        "tuckState": "untucked",
        "viewAngle": "back",
    }


async def test_several_garments_are_a_combo(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(ACCEPTED)
    await client.start(jpeg, [Garment(jpeg, "upper_body"), Garment(product_id="prod_1", size="32")])
    assert server.received[0].path == "/api/v1/tryon/combo"
    assert server.received[0].body == {
        "customerPhotoBase64": inline(jpeg),
        "garments": [
            {"garmentImageUrl": inline(jpeg), "category": "upper_body"},
            {"productId": "prod_1", "size": "32"},
        ],
    }


async def test_a_list_of_one_garment_is_no_combo(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(ACCEPTED)
    await client.start(jpeg, [Garment(jpeg, "upper_body")])
    assert server.received[0].path == "/api/v1/tryon"


async def test_a_product_needs_no_picture(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(ACCEPTED)
    await client.start(jpeg, product_id="prod_1")
    assert server.received[0].body == {"customerPhotoBase64": inline(jpeg), "productId": "prod_1"}


async def test_pictures_may_be_paths_files_and_data_uris(
    client: Any, server: ScriptedServer, jpeg: bytes, tmp_path: Path
) -> None:
    png, webp = encoded(format="PNG"), encoded(format="WEBP")
    (tmp_path / "person.jpg").write_bytes(png)  # the bytes decide, not the name
    server.reply(ACCEPTED)
    shirt, trousers = Garment(io.BytesIO(webp), "upper_body"), Garment(inline(jpeg, "png"), "lower_body")
    await client.start(str(tmp_path / "person.jpg"), [shirt, trousers])
    body = server.received[0].body
    assert body["customerPhotoBase64"] == inline(png, "png")
    assert [garment["garmentImageUrl"] for garment in body["garments"]] == [inline(webp, "webp"), inline(jpeg)]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ((b"GIF89a...", "https://shop.example/a.jpg", {"category": "upper_body"}), "person: not a JPEG, PNG or WebP"),
        (("https://shop.example/me.jpg", "https://shop.example/a.jpg", {"category": "upper_body"}), "never an address"),
        ((encoded(), "http://shop.example/a.jpg", {"category": "upper_body"}), "must begin with https"),
        ((encoded(), "data:image/jpeg;base64,###", {"category": "upper_body"}), "base64 of the data: URI is broken"),
        ((encoded(), encoded(), {}), "give an image and its category"),
        ((encoded(), [], {}), "1 to 4 garments, not 0"),
        ((encoded(), [encoded()] * 5, {}), "1 to 4 garments, not 5"),
        ((encoded(), b"", {"category": "upper_body"}), "garment: image: the picture is empty"),
        ((encoded(), io.StringIO("text"), {"category": "upper_body"}), "binary mode"),
        ((encoded(), encoded(), {"category": "upper_body", "idempotency_key": "a\nb"}), "printable"),
    ],
)
async def test_what_cannot_be_used_is_said_before_any_request(
    client: Any, server: ScriptedServer, given: tuple[Any, Any, dict[str, Any]], complaint: str
) -> None:
    person, garments, hints = given
    with pytest.raises(ValueError, match=complaint):
        await client.start(person, garments, **hints)
    assert not server.received


async def test_hints_for_several_garments_are_a_mistake(client: Any, jpeg: bytes) -> None:
    with pytest.raises(TypeError, match="category"):
        await client.start(jpeg, [Garment(jpeg, "upper_body")] * 2, category="upper_body")


async def test_run_and_wait_brings_the_picture(
    client: Any, server: ScriptedServer, jpeg: bytes, tmp_path: Path
) -> None:
    server.reply(ACCEPTED, COMPLETED)
    result = await client.run_and_wait(jpeg, jpeg, category="upper_body")
    assert (result.job_id, result.image, result.generation_ms) == (JOB, PICTURE, 2300)
    assert result.save(tmp_path / "out.jpg").read_bytes() == PICTURE
    assert "picture" not in repr(result)


async def test_a_failed_job_is_an_error_with_the_shoppers_sentence(
    client: Any, server: ScriptedServer, jpeg: bytes
) -> None:
    server.reply(ACCEPTED, FAILED)
    with pytest.raises(JobFailed) as caught:
        await client.run_and_wait(jpeg, jpeg, category="upper_body")
    assert (caught.value.job_id, caught.value.sentence) == (JOB, "No person was found in the photo.")


async def test_get_tells_how_a_job_stands(client: Any, server: ScriptedServer) -> None:
    server.reply(processing(), COMPLETED, FAILED)
    status = await client.get(JOB)
    assert (status.status, status.finished, status.image) == ("processing", False, None)
    status = await client.get(JOB, wait=7)
    assert (status.status, status.finished, status.image, status.generation_ms) == ("completed", True, PICTURE, 2300)
    status = await client.get(JOB)
    assert (status.status, status.finished, status.error) == ("failed", True, "No person was found in the photo.")
    assert [sent.headers["Prefer"] for sent in server.received] == [None, "wait=7", None]
    assert {sent.path for sent in server.received} == {f"/api/v1/tryon/{JOB}"}


async def test_delete(client: Any, server: ScriptedServer) -> None:
    server.reply(Reply(204))
    assert await client.delete("a/../b") is None
    assert (server.received[0].method, server.received[0].path) == ("DELETE", "/api/v1/tryon/a%2F..%2Fb")


@pytest.mark.parametrize("job_id", ["", ".", ".."])
async def test_an_empty_id_is_a_mistake(client: Any, job_id: str) -> None:
    with pytest.raises(ValueError, match="identifies nothing"):
        await client.get(job_id)


async def test_usage(client: Any, server: ScriptedServer) -> None:
    period = {"start": "2026-11-01T00:00:00Z", "end": "2026-12-01T00:00:00+00:00"}
    counts = {"included": 250, "used": 3, "reserved": 1, "topUpRemaining": 50, "dailyCap": 50, "dailyUsed": 2}
    server.reply(Reply(200, {"plan": "starter", "period": period, **counts, "trialEndsAt": None}))
    usage = await client.usage()
    assert (usage.plan, usage.included, usage.top_up_remaining, usage.daily_used) == ("starter", 250, 50, 2)
    assert (usage.period_end - usage.period_start).days == 30
    assert usage.trial_ends_at is None


def test_address_and_key_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, server: ScriptedServer, time: FakeTime
) -> None:
    monkeypatch.setenv("VTO_BASE_URL", server.url + "/")
    monkeypatch.setenv("VTO_API_KEY", "vto_test_from-a-file\n")
    server.reply(processing())
    with TryOnClient() as client:
        client.get(JOB)
    assert server.received[0].headers["Authorization"] == "Bearer vto_test_from-a-file"
    assert "from-a-file" not in repr(vars(client._runner))


@pytest.mark.parametrize(("url", "key"), [(None, "k"), ("tryon.example", "k"), ("http://127.0.0.1", None)])
def test_without_address_or_key_there_is_no_client(
    monkeypatch: pytest.MonkeyPatch, url: str | None, key: str | None
) -> None:
    monkeypatch.delenv("VTO_BASE_URL", raising=False)
    monkeypatch.delenv("VTO_API_KEY", raising=False)
    with pytest.raises(ValueError, match="VTO_"):
        TryOnClient(url, key)


def test_no_proxy_is_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch, server: ScriptedServer) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.reply(processing())
    with TryOnClient(server.url, KEY) as client:
        assert client.get(JOB).status == "processing"


def test_every_hint_is_known_everywhere() -> None:
    """Most models inherit them; a column, an answer and the client, which knows nothing of the service, name them."""
    every, registered = GarmentHints.model_fields.keys(), ProductHints.model_fields.keys()
    for model in (GarmentFields, ItemGarment, contracts.GarmentHints, Hints):
        assert every <= model.model_fields.keys()
    for model in (CreateProduct, ProductFields, ProductBody):
        assert registered <= model.model_fields.keys()
    assert every <= Garment.__annotations__.keys() & calls.Hints.__annotations__.keys()
    assert registered <= Product.__annotations__.keys() & calls.ProductFields.__annotations__.keys()
    assert registered <= {column.key for column in tables.Product.__table__.columns}


async def test_a_check_sends_what_a_try_on_sends_and_reads_every_finding(
    client: Any, server: ScriptedServer, jpeg: bytes
) -> None:
    dark = {"code": "photo_dark", "severity": "advice", "message": "The photo is dark."}
    wrong = {"code": "garment_not_recognised", "severity": "problem", "message": "It looks like trousers."}
    answer = {
        "ok": False,
        "photo": {"ok": True, "findings": [dark]},
        "garments": [{"ok": False, "findings": [wrong]}, {"ok": True, "findings": []}],
    }
    server.reply(Reply(200, answer), Reply(200, answer))
    verdict = await client.check(jpeg, [Garment(jpeg, "upper_body"), Garment(product_id="SKU-1")])
    assert verdict == Verdict(
        ok=False,
        photo=PictureVerdict(ok=True, findings=(Finding(**dark),)),
        garments=(PictureVerdict(ok=False, findings=(Finding(**wrong),)), PictureVerdict(ok=True, findings=())),
    )
    await client.check(jpeg, jpeg, category="lower_body", size="M")
    several, one = server.received
    assert {(each.method, each.path) for each in (several, one)} == {("POST", "/api/v1/tryon/check")}
    assert several.body["garments"] == [
        {"garmentImageUrl": inline(jpeg), "category": "upper_body"},
        {"productId": "SKU-1"},
    ]
    assert one.body == {
        "customerPhotoBase64": inline(jpeg),
        "garmentImageUrl": inline(jpeg),
        "category": "lower_body",
        "size": "M",
    }
    assert "Idempotency-Key" not in one.headers
