"""What Stripe's messages do, signed and forged, once and twice, in order and out of it."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from api.stripe_webhook import MOST_AHEAD_SECONDS, STRIPE_PATH
from domain.billing import payments
from domain.money.ledger import check_ledger
from domain.money.quota import usage_of
from domain.tables import Payment
from runtime.database import Database
from tests.api.conftest import Api
from tests.api.payments.stand_in import event, signature
from tests.factories import PLANS

pytestmark = pytest.mark.databases("sqlite", "postgresql")

COMPLETED = "checkout.session.completed"
LATE = "checkout.session.async_payment_succeeded"
FAILED = "checkout.session.async_payment_failed"
EXPIRED = "checkout.session.expired"


async def order(api: Api, generations: int = 250) -> Payment:
    return await api.parts.database.write(
        payments.order_topup,
        PLANS,
        account_id=api.caller.account_id,
        generations=generations,
        provider="stripe",
        now=datetime.now(UTC),
    )


def page_of(payment: Payment, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"cs_{payment.id.hex}",
        "object": "checkout.session",
        "client_reference_id": str(payment.id),
        "metadata": {"payment_id": str(payment.id)},
        "amount_total": payment.price_cents,
        "currency": "usd",
        "payment_status": "paid",
        "status": "complete",
        "customer_details": {"email": "somebody@example.com"},
        **fields,
    }


async def deliver(api: Api, kind: str, page: dict[str, Any]) -> int:
    return (await send(api, event(kind, page))).status_code


async def send(api: Api, body: bytes, signed: str | None = None) -> httpx.Response:
    headers = {"Stripe-Signature": signature(body) if signed is None else signed, "Content-Type": "application/json"}
    return await api.client.post(STRIPE_PATH, content=body, headers=headers)


async def status_of(api: Api, payment: Payment) -> str:
    with api.parts.database.reading() as session:
        assert check_ledger(session) == []
        return session.get_one(Payment, payment.id).status


async def packs(api: Api) -> int:
    with api.parts.database.reading() as session:
        return usage_of(session, PLANS, account_id=api.caller.account_id, now=datetime.now(UTC)).topup_remaining


async def test_a_paid_pack_is_credited_once_whatever_is_delivered_twice(paid_api: Api) -> None:
    payment = await order(paid_api)
    body = event(COMPLETED, page_of(payment))
    answers = await asyncio.gather(*(send(paid_api, body) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert (await status_of(paid_api, payment), await packs(paid_api)) == ("paid", 250)
    with paid_api.parts.database.reading() as session:
        kept = session.get_one(Payment, payment.id)
    assert (kept.reference, kept.closed_by) == (f"cs_{payment.id.hex}", None)


@pytest.mark.parametrize("delivered", list(permutations([(COMPLETED, "unpaid"), (LATE, "paid"), (LATE, "paid")])))
async def test_a_slow_payment_is_credited_when_it_arrives_in_any_order(
    paid_api: Api, delivered: list[tuple[str, str]]
) -> None:
    payment = await order(paid_api)
    for kind, state in delivered:
        assert await deliver(paid_api, kind, page_of(payment, payment_status=state)) == 200
    assert (await status_of(paid_api, payment), await packs(paid_api)) == ("paid", 250)


async def test_a_payment_that_is_on_its_way_leaves_the_order_open(paid_api: Api) -> None:
    payment = await order(paid_api)
    assert await deliver(paid_api, COMPLETED, page_of(payment, payment_status="unpaid")) == 200
    assert (await status_of(paid_api, payment), await packs(paid_api)) == ("open", 0)


@pytest.mark.parametrize("kind", [FAILED, EXPIRED])
async def test_an_order_that_was_not_paid_is_closed_with_a_reason(paid_api: Api, kind: str) -> None:
    payment = await order(paid_api)
    assert await deliver(paid_api, kind, page_of(payment, payment_status="unpaid")) == 200
    assert await status_of(paid_api, payment) == "rejected"
    with paid_api.parts.database.reading() as session:
        assert session.get_one(Payment, payment.id).note


@pytest.mark.parametrize("kind", [FAILED, EXPIRED])
async def test_what_is_paid_stays_paid(paid_api: Api, kind: str) -> None:
    payment = await order(paid_api)
    await deliver(paid_api, COMPLETED, page_of(payment))
    assert await deliver(paid_api, kind, page_of(payment, payment_status="unpaid")) == 200
    assert (await status_of(paid_api, payment), await packs(paid_api)) == ("paid", 250)


async def test_money_for_an_order_that_was_given_up_is_credited(paid_api: Api) -> None:
    payment = await order(paid_api)
    await deliver(paid_api, EXPIRED, page_of(payment, payment_status="unpaid"))
    await deliver(paid_api, LATE, page_of(payment))
    assert (await status_of(paid_api, payment), await packs(paid_api)) == ("paid", 250)


@pytest.mark.parametrize(
    "changed",
    [
        {"amount_total": 1},
        {"amount_total": None},
        {"currency": "eur"},
        {"client_reference_id": str(uuid.uuid4())},
        {"client_reference_id": "an order of another shop"},
        {"client_reference_id": None},
        {"payment_status": "something new"},
    ],
)
async def test_a_message_that_does_not_fit_the_order_credits_nothing(paid_api: Api, changed: dict[str, Any]) -> None:
    payment = await order(paid_api)
    assert await deliver(paid_api, COMPLETED, page_of(payment, **changed)) == 200
    assert (await status_of(paid_api, payment), await packs(paid_api)) == ("open", 0)


async def test_an_order_that_waits_for_an_operator_is_not_stripes_to_close(paid_api: Api) -> None:
    payment = await paid_api.parts.database.write(
        payments.order_topup,
        PLANS,
        account_id=paid_api.caller.account_id,
        generations=50,
        provider="manual",
        now=datetime.now(UTC),
    )
    for kind in (COMPLETED, EXPIRED):
        assert await deliver(paid_api, kind, page_of(payment)) == 200
    assert await status_of(paid_api, payment) == "open"


@pytest.mark.parametrize("kind", ["customer.created", "checkout.session.something_new", "invoice.paid"])
async def test_other_messages_are_taken_and_ignored(paid_api: Api, kind: str) -> None:
    payment = await order(paid_api)
    assert await deliver(paid_api, kind, page_of(payment)) == 200
    assert await status_of(paid_api, payment) == "open"


async def test_a_forged_message_does_nothing(paid_api: Api) -> None:
    payment = await order(paid_api)
    body = event(COMPLETED, page_of(payment))
    forged = [
        "",
        "t=1,v1=00",
        "nonsense",
        signature(body, "whsec_another"),
        signature(body + b" "),
        signature(body, at=time.time() - 3600),
        signature(body, at=time.time() + 3600),
        signature(body, at=time.time() + MOST_AHEAD_SECONDS + 30),
        signature(body).replace("v1=", "v0="),
    ]
    for each in forged:
        answer = await send(paid_api, body, each)
        assert (answer.status_code, answer.headers["X-Error-Code"]) == (400, "field_invalid"), each
        assert set(answer.json()) == {"error"}
    bare = await paid_api.client.post(STRIPE_PATH, content=body)
    assert bare.status_code == 400
    assert (await status_of(paid_api, payment), await packs(paid_api)) == ("open", 0)


@pytest.mark.parametrize("skew", [-240, 0, MOST_AHEAD_SECONDS - 30])
async def test_a_message_from_a_clock_that_is_a_little_off_is_heard(paid_api: Api, skew: int) -> None:
    payment = await order(paid_api)
    body = event(COMPLETED, page_of(payment))
    assert (await send(paid_api, body, signature(body, at=time.time() + skew))).status_code == 200
    assert await status_of(paid_api, payment) == "paid"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        event(COMPLETED, {"id": 7}),
    ],
)
async def test_what_cannot_be_read_is_refused_though_it_is_signed(paid_api: Api, body: bytes) -> None:
    assert (await send(paid_api, body)).status_code == 400


async def test_a_body_has_a_cap(paid_api: Api) -> None:
    answer = await send(paid_api, b" " * (64 * 1024 + 1))
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (413, "body_too_large")


async def test_a_database_that_is_away_has_stripe_deliver_again(paid_api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    payment = await order(paid_api)

    def away(*_: object, **__: object) -> None:
        raise OperationalError("BEGIN", None, OSError("away"))

    with monkeypatch.context() as patch:
        patch.setattr(Database, "write", away)
        answer = await send(paid_api, event(COMPLETED, page_of(payment)))
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "storage_unavailable")
    assert await deliver(paid_api, COMPLETED, page_of(payment)) == 200
    assert (await status_of(paid_api, payment), await packs(paid_api)) == ("paid", 250)


async def test_an_operator_and_stripe_at_the_same_moment_credit_once(paid_api: Api) -> None:
    payment = await order(paid_api)

    async def approve() -> bool:
        return await paid_api.parts.database.write(
            payments.approve, PLANS, payment_id=payment.id, now=datetime.now(UTC)
        )

    await asyncio.gather(
        *(each for _ in range(4) for each in (approve(), deliver(paid_api, COMPLETED, page_of(payment))))
    )
    assert (await status_of(paid_api, payment), await packs(paid_api)) == ("paid", 250)


@pytest.mark.databases("sqlite")
async def test_money_that_gives_nothing_is_told_as_an_error(paid_api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything else that is only told twice is not."""
    by_hand, by_stripe = await order(paid_api), await order(paid_api)
    await paid_api.parts.database.write(payments.approve, PLANS, payment_id=by_hand.id, now=datetime.now(UTC))
    for payment in (by_stripe, by_stripe, by_hand):
        assert await deliver(paid_api, COMPLETED, page_of(payment)) == 200
    lines = [line for line in "".join(capsys.readouterr()).splitlines() if "fits no order" in line]
    assert [(str(by_hand.id) in line, "by other means" in line) for line in lines] == [(True, True)]
    assert await packs(paid_api) == 500


async def test_without_stripe_there_is_nothing_at_the_address(api: Api) -> None:
    answer = await send(api, b"{}")
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (404, "route_not_found")


async def test_neither_address_nor_secret_is_in_the_public_document(paid_api: Api) -> None:
    assert STRIPE_PATH not in paid_api.app.openapi()["paths"]
    assert "stripe" not in json.dumps(paid_api.app.openapi()).lower()


async def test_nothing_personal_of_a_message_is_logged(paid_api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    payment = await order(paid_api)
    await deliver(paid_api, COMPLETED, page_of(payment))
    await deliver(paid_api, COMPLETED, page_of(payment, amount_total=1))
    logged = "".join(capsys.readouterr())
    assert "somebody@example.com" not in logged
    assert "money came that fits no order" in logged
