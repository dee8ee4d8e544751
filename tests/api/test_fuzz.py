"""No input breaks the API: whatever is sent is accepted or refused as the document says, and a refusal leaves nothing.

``FUZZ_EXAMPLES=1000`` looks longer than the suite does.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from domain.accounts import OwnTerms
from domain.errors import CATALOGUE
from domain.jobs import jobs
from domain.tables import Allowance, DailyUsage, IdempotencyKey, Job, LedgerEntry, Product
from tests.api import hostile
from tests.api.conftest import Api, OpenApi, combo, single
from tests.api.raw_call import Answer, Headers, call
from tests.pictures import data_uri

pytestmark = pytest.mark.databases("sqlite", "postgresql")
"""A text that one of them takes may be one that the other does not."""

TRYON, COMBO, PRODUCTS = "/api/v1/tryon", "/api/v1/tryon/combo", "/api/v1/products"
UNKNOWN_PRODUCT = f"{PRODUCTS}/prod_{'0' * 32}"
JSON = (b"content-type", b"application/json")
SENDERS = [("POST", TRYON), ("POST", COMBO), ("POST", PRODUCTS), ("PATCH", UNKNOWN_PRODUCT)]
INTERNALS = (
    "traceback",
    "sqlalchemy",
    "psycopg",
    "sqlite",
    "pydantic",
    "exception",
    "constrained",
    "literal[",
    "temporal",
    ".py",
    "/work",
    "bucket",
)
LONGEST_SENTENCE = 300
LAVISH = OwnTerms(included=1_000_000, daily_cap=1_000_000)

examples = settings(
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "40")),
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    database=None,
    deadline=None,
    # One service for all examples of a test, as it would be for all calls of an attacker; pictures are slow to draw.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Target:
    """The service under fire, and a look behind it."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.key: Headers = [(name.lower().encode(), value.encode()) for name, value in api.caller.headers.items()]
        self._documented = documented(api.app.openapi())

    async def send(self, method: str, path: str, headers: Headers | None = None, **request: Any) -> Answer:
        """Call, and check what holds for every answer."""
        before = await self.standing()
        answer = await call(
            self.api.app, method, path, headers=[*self.key, JSON] if headers is None else headers, **request
        )
        assert answer.headers["x-request-id"]
        assert answer.headers["cache-control"] == "no-store"
        if answer.status >= 400:
            check_refusal(answer)
            assert await self.standing() == before, "a refusal left something behind"
        return answer

    async def check_kept(self) -> None:
        """What was accepted can be read by all who look at every job."""
        await self.api.parts.database.read(jobs.list_all_open, accepted_before=datetime.now(UTC) + timedelta(days=1))

    def check_documented(self, operation: str, answer: Answer) -> None:
        assert (answer.status, answer.code) in self._documented[operation], (answer.status, answer.code)

    async def standing(self) -> tuple[Any, ...]:
        """Everything that a request may leave of an account."""
        owner = self.api.caller.account_id
        with self.api.parts.database.reading() as session:
            counts = [
                session.scalar(select(func.count()).select_from(table).where(table.account_id == owner))
                for table in (Job, LedgerEntry, IdempotencyKey, Product)
            ]
            sums = [
                session.execute(
                    select(func.sum(table.reserved), func.sum(table.settled)).where(table.account_id == owner)
                ).one()
                for table in (Allowance, DailyUsage)
            ]
        return (*counts, *map(tuple, sums), len(self.api.store.objects))


def documented(document: dict[str, Any]) -> dict[str, set[tuple[int, str | None]]]:
    """Statuses and codes that every operation may answer with."""
    allowed: dict[str, set[tuple[int, str | None]]] = {}
    for item in document["paths"].values():
        for operation in item.values():
            answers = allowed.setdefault(operation["operationId"], set())
            for status, answer in operation["responses"].items():
                codes = answer["headers"].get("X-Error-Code", {}).get("schema", {}).get("enum", [None])
                answers |= {(int(status), code) for code in codes}
    return allowed


def check_refusal(answer: Answer) -> None:
    """What the contract says of every 4xx answer; nothing is away or busy here, so there is no reason for a 5xx."""
    assert answer.status < 500, answer
    body = json.loads(answer.body)
    assert body.keys() == {"error"}
    assert answer.code is not None
    assert CATALOGUE[answer.code].status == answer.status
    assert 0 < len(body["error"]) <= LONGEST_SENTENCE
    assert not [word for word in INTERNALS if word in body["error"].lower()]
    assert answer.headers["content-type"] == "application/json"


@pytest.fixture
async def target(open_api: OpenApi) -> AsyncIterator[Target]:
    async with open_api(own_terms=LAVISH) as api:
        yield Target(api)


OPERATIONS = dict(zip(SENDERS, ("createTryOn", "createComboTryOn", "createProduct", "updateProduct"), strict=True))


@examples
@given(sender=st.sampled_from(SENDERS), body=hostile.BODIES, breaks_off=st.booleans())
async def test_any_bytes_as_a_body(target: Target, sender: tuple[str, str], body: bytes, breaks_off: bool) -> None:
    answer = await target.send(*sender, body=body, breaks_off=breaks_off)
    target.check_documented(OPERATIONS[sender], answer)
    assert answer.status in ((400,) if breaks_off else (400, 404))


@examples
@example(changes={"productId": "\0"}, item=False)  # a text that PostgreSQL does not even take in a question
@example(changes={"size": "\0", "garmentCategory": "\0"}, item=True)
@given(
    changes=st.dictionaries(st.sampled_from(hostile.FIELDS), hostile.VALUES, min_size=1, max_size=3), item=st.booleans()
)
async def test_a_good_body_with_some_fields_changed(target: Target, changes: dict[str, Any], item: bool) -> None:
    path, body = (
        (COMBO, combo({**single(customerPhotoBase64=...), **changes}, single())) if item else (TRYON, single(**changes))
    )
    answer = await target.send("POST", path, body=json.dumps(body).encode())
    target.check_documented("createComboTryOn" if item else "createTryOn", answer)
    await target.check_kept()
    if answer.code in ("field_invalid", "malformed_data_uri", "garment_url_refused", "image_not_readable"):
        assert any(field in answer.error for field in changes), answer.error


@examples
@given(changes=st.dictionaries(st.sampled_from(hostile.FIELDS), hostile.VALUES, min_size=1, max_size=3))
async def test_a_good_product_with_some_fields_changed(target: Target, changes: dict[str, Any]) -> None:
    """The picture is none, so that nothing is registered: nobody works on registrations here."""
    body = {"name": "Shirt", "category": "upper_body", **changes, "garmentImageUrl": data_uri(b"no picture")}
    answer = await target.send("POST", PRODUCTS, body=json.dumps(body).encode())
    target.check_documented("createProduct", answer)
    assert answer.status in (400, 422)
    if answer.code == "field_invalid":
        assert any(field in answer.error for field in changes), answer.error


@examples
@given(
    field=st.sampled_from(["customerPhotoBase64", "garmentImageUrl", "garmentBackImageUrl"]), picture=hostile.PICTURES
)
async def test_any_bytes_as_a_picture(target: Target, field: str, picture: bytes) -> None:
    answer = await target.send("POST", TRYON, body=json.dumps(single(**{field: data_uri(picture)})).encode())
    target.check_documented("createTryOn", answer)
    assert answer.status in (202, 422)
    if answer.status == 422:
        assert answer.error.startswith(f"{field}: ")


@examples
@given(field=st.sampled_from(["customerPhotoBase64", "garmentImageUrl"]), text=hostile.DATA_URIS | hostile.ADDRESSES)
async def test_any_text_for_a_picture(target: Target, field: str, text: str) -> None:
    answer = await target.send("POST", TRYON, body=json.dumps(single(**{field: text})).encode())
    target.check_documented("createTryOn", answer)
    assert answer.status == 400 or (answer.status, field) == (202, "garmentImageUrl") or answer.status == 422
    if answer.status >= 400 and answer.code != "json_invalid":
        assert field in answer.error


@examples
@example(extra=[(b"content-length", b"9" * 5000)], replace=True)  # more digits than Python makes a number of
@given(extra=st.lists(st.tuples(hostile.HEADER_NAMES, hostile.HEADER_VALUES), max_size=4), replace=st.booleans())
async def test_any_headers(target: Target, extra: Sequence[tuple[bytes, bytes]], replace: bool) -> None:
    good = [*target.key, JSON]
    named = {name for name, _ in extra} if replace else set()
    headers = [*extra, *(header for header in good if header[0] not in named)]
    answer = await target.send("POST", TRYON, headers, body=json.dumps(single()).encode())
    if answer.code == "host_refused":
        assert any(name == b"host" for name, _ in extra)
    else:
        target.check_documented("createTryOn", answer)


@examples
@given(
    method=st.sampled_from(["GET", "DELETE", "PATCH", "POST", "PUT", "HEAD", "OPTIONS", "TRACE", "get", "\N{SNOWMAN}"]),
    prefix=st.sampled_from([TRYON, COMBO, PRODUCTS, "/api/v1/usage", "/api", "/healthz", ""]),
    name=hostile.NAMES,
    query=hostile.QUERIES,
    prefer=hostile.HEADER_VALUES,
)
async def test_any_address(target: Target, *, method: str, prefix: str, name: str, query: bytes, prefer: bytes) -> None:
    headers = [*target.key, JSON, (b"prefer", prefer)]
    answer = await target.send(method, f"{prefix}/{name}", headers, query=query, body=b"{}")
    assert answer.status in (400, 404, 405) or prefix == "", (answer.status, answer.code)
    if answer.status == 405:
        assert answer.headers["allow"]


@examples
@example(path=PRODUCTS, query=b"cursor=MjAyNi0wMS0wMVQwMDowMDowMCswMDowMCAA")  # a cursor with a null character in it
@example(path=PRODUCTS, query=b"limit=" + b"9" * 5000)
@example(path=TRYON, query=b"productId=%00")
@given(path=st.sampled_from([PRODUCTS, TRYON]), query=hostile.QUERIES)
async def test_any_query_of_a_list(target: Target, path: str, query: bytes) -> None:
    answer = await target.send("GET", path, query=query)
    target.check_documented({PRODUCTS: "listProducts", TRYON: "listTryOns"}[path], answer)
    assert answer.status in (200, 400)
    if answer.status == 400:
        assert answer.error.startswith(("limit", "cursor", "status", "mode", "created", "productId", "metadata"))
