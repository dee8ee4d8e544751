"""What is written for whom, when it is tried again, and what follows from attempts."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import event, select

from api.webhooks.schemas import MESSAGES
from domain import erasure, products, webhooks
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms, block_account
from domain.errors import TryOnError
from domain.jobs import jobs
from domain.mails import Letter, Letterhead, write_mail
from domain.money.quota import add_topup
from domain.tables import Account, Mail, WebhookDelivery, WebhookEndpoint
from domain.webhooks import EVENTS, Attempt, EndpointTerms, Event, Outgoing, Standing
from runtime.database import Database
from tests.factories import PLANS, Caller, create_caller, create_job, new_job
from tests.meanwhile import outcome_beside

NOW = datetime.now(UTC)
HEAD = Letterhead("Fitting Room", "https://tryon.example")
URL = "https://shop.example/hook?token=s3cret"
SMALL_PACKS = PLANS.model_copy(update={"topup_packs": (1, 2)})
GOOD = Attempt(NOW.isoformat(), 12, 204)
BAD = Attempt(NOW.isoformat(), 12, 500, "The endpoint answered 500.", "oops")
GONE = Attempt(NOW.isoformat(), 5, 410, "The endpoint answered 410: it wants no more events.")


async def endpoint(database: Database, caller: Caller, *events: Event, **terms: Any) -> WebhookEndpoint:
    wanted = EndpointTerms(URL, events or list(EVENTS), **terms)
    return await database.write(webhooks.create_endpoint, account_id=caller.account_id, terms=wanted)


async def fail(database: Database, job_id: uuid.UUID, code: Any = "person_not_found") -> None:
    await database.write(jobs.fail_job, job_id=job_id, error_code=code, keep=timedelta(hours=1), now=NOW)


async def complete(database: Database, job_id: uuid.UUID) -> None:
    values: dict[str, Any] = {"result_key": "k", "engine": "warp", "report": {}, "keep": timedelta(hours=1)}
    await database.write(jobs.complete_job, job_id=job_id, now=datetime.now(UTC), **values)


def written(database: Database, caller: Caller) -> list[WebhookDelivery]:
    with database.reading() as session:
        own = select(WebhookDelivery).where(WebhookDelivery.account_id == caller.account_id)
        return list(session.scalars(own.order_by(WebhookDelivery.created_at, WebhookDelivery.event)))


def told(database: Database, caller: Caller) -> list[dict[str, Any]]:
    for each in written(database, caller):
        MESSAGES[each.event].model_validate_json(each.payload)  # type: ignore[index]  # what the OpenAPI document says
    return [json.loads(each.payload) for each in written(database, caller)]


async def attempted(database: Database, delivery: WebhookDelivery, attempt: Attempt, **more: Any) -> Standing | None:
    values = {"now": NOW, **more}
    return await database.write(webhooks.record_attempt, HEAD, delivery_id=delivery.id, attempt=attempt, **values)


async def test_the_end_of_a_job_is_told_to_endpoints_that_want_it_and_to_no_others(
    database: Database, digester: KeyDigester, caller: Caller
) -> None:
    wanting = [await endpoint(database, caller, "tryon.completed", "tryon.failed") for _ in range(2)]
    await endpoint(database, caller, "product.ready")
    await endpoint(database, caller, "tryon.failed", enabled=False)
    other = await create_caller(database, digester)
    await endpoint(database, other)
    done, failed = await create_job(database, caller), await create_job(database, caller)
    for _ in range(2):  # only the first ends it
        await complete(database, done)
        await fail(database, failed)
    found = written(database, caller)
    assert {each.endpoint_id for each in found} == {each.id for each in wanting}
    assert len(found) == 4
    assert len({each.message_id for each in found}) == 2
    bodies = {each["type"]: each["data"] for each in told(database, caller)}
    assert bodies["tryon.completed"].pop("generationTimeMs") >= 0
    assert bodies["tryon.completed"] == {"jobId": str(done), "status": "completed", "metadata": {}, "mode": "live"}
    assert bodies["tryon.failed"] == {
        "jobId": str(failed),
        "status": "failed",
        "errorCode": "person_not_found",
        "error": "No person was found in the photo. Use a photo that shows you from the front.",
        "metadata": {},
        "mode": "live",
    }
    assert written(database, other) == []


async def test_a_job_of_a_test_key_is_marked_and_has_its_metadata(database: Database, caller: Caller) -> None:
    await endpoint(database, caller)
    new = new_job(caller, test=True, metadata={"orderId": "4711"})
    await database.write(jobs.accept_job, PLANS, new, now=NOW)
    await complete(database, new.job_id)
    (body,) = told(database, caller)
    assert (body["data"]["mode"], body["data"]["metadata"]) == ("test", {"orderId": "4711"})


async def test_what_is_rolled_back_tells_nobody(database: Database, caller: Caller) -> None:
    await endpoint(database, caller)
    job_id = await create_job(database, caller)
    with pytest.raises(ZeroDivisionError), database.transaction() as session:
        jobs.fail_job(session, job_id=job_id, error_code="busy", keep=timedelta(hours=1), now=NOW)
        assert session.info[webhooks.WRITTEN]
        raise ZeroDivisionError
    assert written(database, caller) == []


async def test_an_account_without_endpoints_pays_for_none_with_a_statement(database: Database, caller: Caller) -> None:
    job_id, statements = await create_job(database, caller), list[str]()

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        await complete(database, job_id)
    finally:
        event.remove(database.engine, "before_cursor_execute", note)
    (asked,) = [each for each in statements if "webhook" in each]
    assert asked.startswith("SELECT account.result_ttl_seconds")  # which is asked for anyway


async def test_a_product_is_told_of_once_a_revision(database: Database, caller: Caller) -> None:
    await endpoint(database, caller, "product.ready")
    picture = {"bucket": "tryon", "key": "k", "sha256": "s", "size": 1}
    values = {"name": "Shirt", "category": "upper_body", "front": picture, "external_id": "SKU-1"}
    new_id, account_id = uuid.uuid4(), caller.account_id
    for _ in range(2):  # a step may be done again
        await database.write(products.register_product, account_id=account_id, new_id=new_id, values=values)
    change: dict[str, Any] = {"account_id": account_id, "product_id": new_id, "values": {"name": "Blouse"}}
    await database.write(products.change_product, **change)
    await database.write(products.archive_product, account_id=account_id, product_id=new_id)
    assert [each["data"] for each in told(database, caller)] == [
        {"productId": products.public_id(new_id), "externalId": "SKU-1", "revision": number, "mode": "live"}
        for number in (1, 2)
    ]


async def start(database: Database, caller: Caller, now: datetime = NOW) -> uuid.UUID:
    new = new_job(caller)
    await database.write(jobs.accept_job, PLANS, new, now=now)
    return new.job_id


async def test_low_volume_is_told_once_a_period_and_its_end_once_until_there_is_some_again(
    database: Database, digester: KeyDigester
) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=10, daily_cap=100), now=NOW)
    await endpoint(database, caller, "volume.low", "volume.exhausted")
    for _ in range(8):
        await start(database, caller)
    assert told(database, caller) == []  # two of ten are a fifth, which is not less than one
    ninth = await start(database, caller)
    assert [each["data"] for each in told(database, caller)] == [{"left": 1, "included": 10, "mode": "live"}]
    await fail(database, ninth)
    await start(database, caller)
    assert len(written(database, caller)) == 1  # once a period, even where a failure gave one back
    last = await start(database, caller)
    assert {each["type"] for each in told(database, caller)} == {"volume.low", "volume.exhausted"}
    await fail(database, last)
    await start(database, caller)
    assert len(written(database, caller)) == 2  # the one that came back is no volume to speak of
    with database.transaction() as session:
        add_topup(session, SMALL_PACKS, account_id=caller.account_id, generations=2, now=NOW)
    await start(database, caller)
    await start(database, caller)
    assert [each["type"] for each in told(database, caller)].count("volume.exhausted") == 2
    next_month = NOW + timedelta(days=32)
    for _ in range(9):
        await start(database, caller, next_month)
    assert [each["type"] for each in told(database, caller)].count("volume.low") == 2


async def test_packs_count_as_volume_that_is_left(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=2, daily_cap=100), now=NOW)
    await endpoint(database, caller)
    with database.transaction() as session:
        add_topup(session, SMALL_PACKS, account_id=caller.account_id, generations=1, now=NOW)
    await start(database, caller)
    await start(database, caller)
    assert told(database, caller) == []


async def test_an_attempt_that_failed_is_repeated_for_a_day_and_then_given_up(
    database: Database, caller: Caller
) -> None:
    await endpoint(database, caller)
    await fail(database, await create_job(database, caller))
    (delivery,) = written(database, caller)
    waited, pauses = timedelta(0), list[timedelta]()
    while standing := await attempted(database, delivery, BAD, now=NOW + waited):
        if standing.pause is None:
            break
        pauses.append(standing.pause)
        waited += standing.pause
        (row,) = written(database, caller)
        assert row.next_attempt_at == NOW + waited
    assert pauses == list(webhooks.PAUSES)
    assert timedelta(hours=23) < waited < timedelta(days=1)
    (row,) = written(database, caller)
    assert (row.status, row.next_attempt_at, len(row.attempts)) == ("failed", None, len(pauses) + 1)
    assert row.attempts[0]["answer"] == "oops"
    assert await attempted(database, delivery, GOOD) == Standing("failed", len(pauses) + 1)  # of another run


@pytest.mark.parametrize(
    ("asked", "pause"), [(1, 5), (600, 600), (10**6, 3600)], ids=["shorter", "longer", "beyond what is granted"]
)
async def test_a_receiver_may_ask_for_a_longer_pause(
    database: Database, caller: Caller, asked: int, pause: int
) -> None:
    await endpoint(database, caller)
    await fail(database, await create_job(database, caller))
    (delivery,) = written(database, caller)
    standing = await attempted(database, delivery, BAD, requested_pause=timedelta(seconds=asked))
    assert standing == Standing("waiting", 1, timedelta(seconds=pause))


async def test_an_endpoint_that_is_gone_is_switched_off_and_its_owner_told(database: Database, caller: Caller) -> None:
    made = await endpoint(database, caller)
    for _ in range(2):
        await fail(database, await create_job(database, caller))
    first, second = written(database, caller)
    assert await attempted(database, first, GONE) == Standing("failed", 1)
    waiting = await database.read(webhooks.next_attempt, delivery_id=second.id, now=NOW)
    assert waiting == Standing("waiting", 0)
    await database.write(webhooks.give_up, delivery_id=second.id)
    assert [each.status for each in written(database, caller)] == ["failed", "failed"]
    with database.reading() as session:
        (mail,) = session.scalars(select(Mail).where(Mail.account_id == caller.account_id))
        assert f"https://tryon.example/dashboard/webhooks/{made.id}" in mail.body
        assert "https://shop.example/hook\n" in mail.body
        assert "s3cret" not in mail.body
    await fail(database, await create_job(database, caller))
    assert len(written(database, caller)) == 2  # nothing more is written for it
    again = {"account_id": caller.account_id, "endpoint_id": made.id}
    with pytest.raises(TryOnError) as refused:
        await database.write(webhooks.send_again, account_id=caller.account_id, delivery_id=first.id)
    assert refused.value.code == "webhook_off"
    changed = await database.write(webhooks.change_endpoint, **again, changes={"enabled": True})
    assert (changed.enabled, changed.disabled_reason, changed.failing_since) == (True, None, None)


@pytest.mark.parametrize("between", [None, GOOD], ids=["nothing else", "one that arrives"])
async def test_an_endpoint_that_took_nothing_for_three_days_is_switched_off(
    database: Database, caller: Caller, between: Attempt | None
) -> None:
    made = await endpoint(database, caller)
    for _ in range(3):
        await fail(database, await create_job(database, caller))
    first, middle, last = written(database, caller)
    for _ in range(webhooks.MOST_ATTEMPTS):
        await attempted(database, first, BAD)
    if between:
        await attempted(database, middle, between)
    for _ in range(webhooks.MOST_ATTEMPTS):
        await attempted(database, last, BAD, now=NOW + webhooks.FAILING_FOR)
    with database.reading() as session:
        found = session.get_one(WebhookEndpoint, made.id)
        assert (found.disabled_reason, found.enabled) == ((None, True) if between else ("failing", False))


async def test_sending_again_is_a_new_delivery_of_the_same_message(database: Database, caller: Caller) -> None:
    made = await endpoint(database, caller)
    await fail(database, await create_job(database, caller))
    (old,) = written(database, caller)
    await attempted(database, old, GOOD)
    new = await database.write(
        webhooks.send_again, account_id=caller.account_id, endpoint_id=made.id, delivery_id=old.id
    )
    assert (new.message_id, new.payload, new.job_id) == (old.message_id, old.payload, old.job_id)
    assert (new.status, new.attempts) == ("waiting", [])


async def test_both_secrets_sign_for_a_day_after_a_rotation(database: Database, caller: Caller) -> None:
    made = await endpoint(database, caller)
    await fail(database, await create_job(database, caller))
    (delivery,) = written(database, caller)
    own = {"account_id": caller.account_id, "endpoint_id": made.id}
    rotated = await database.write(webhooks.rotate_secret, **own, now=NOW)
    for later, secrets in ((timedelta(0), [rotated.secret, made.secret]), (webhooks.OVERLAP, [rotated.secret])):
        found = await database.read(webhooks.next_attempt, delivery_id=delivery.id, now=NOW + later)
        assert isinstance(found, Outgoing)
        assert list(found.secrets) == secrets


async def test_an_account_has_so_many_endpoints_and_no_more(
    database: Database, digester: KeyDigester, caller: Caller
) -> None:
    for _ in range(webhooks.MOST_ENDPOINTS):
        last = await endpoint(database, caller)
    with pytest.raises(TryOnError) as refused:
        await endpoint(database, caller)
    assert refused.value.code == "webhooks_too_many"
    stranger = await create_caller(database, digester)
    for work in (webhooks.rotate_secret, webhooks.delete_endpoint, webhooks.send_example):
        with pytest.raises(TryOnError) as unknown:
            await database.write(work, account_id=stranger.account_id, endpoint_id=last.id)  # type: ignore[arg-type]
        assert unknown.value.code == "webhook_not_found"


async def test_deliveries_go_with_their_job_their_endpoint_and_their_time(database: Database, caller: Caller) -> None:
    made = await endpoint(database, caller)
    erased, kept = await create_job(database, caller), await create_job(database, caller)
    for job_id in (erased, kept):
        await fail(database, job_id)
    await database.write(jobs.end_access, job_id=erased, now=NOW)
    assert [each.job_id for each in written(database, caller)] == [kept]
    await database.write(webhooks.delete_old, now=NOW + webhooks.KEPT - timedelta(seconds=1), limit=1000)
    assert len(written(database, caller)) == 1
    assert await database.write(webhooks.delete_old, now=NOW + webhooks.KEPT, limit=1) == 1
    await database.write(webhooks.delete_old, now=NOW + webhooks.KEPT, limit=1000)
    assert written(database, caller) == []
    await fail(database, await create_job(database, caller))
    await database.write(webhooks.delete_endpoint, account_id=caller.account_id, endpoint_id=made.id)
    assert written(database, caller) == []


async def test_an_account_that_is_erased_is_told_of_nothing(database: Database, caller: Caller) -> None:
    made, job_id = await endpoint(database, caller), await create_job(database, caller)
    await database.write(erasure.begin_erasure, account_id=caller.account_id, now=NOW)
    await fail(database, job_id, "cancelled")
    assert written(database, caller) == []
    with database.reading() as session:
        assert not session.get_one(WebhookEndpoint, made.id).enabled
        assert session.get_one(Account, caller.account_id).erased_at is not None


async def test_what_is_late_was_left_behind(database: Database, caller: Caller) -> None:
    await endpoint(database, caller)
    await fail(database, await create_job(database, caller))
    (delivery,) = written(database, caller)
    mine = (delivery.id, caller.account_id)
    assert mine not in await database.read(webhooks.list_overdue, now=NOW, limit=1000)
    assert mine in await database.read(webhooks.list_overdue, now=NOW + webhooks.HEAD_START, limit=1000)
    await attempted(database, delivery, GOOD)
    assert mine not in await database.read(webhooks.list_overdue, now=NOW + timedelta(days=1), limit=1000)


async def test_an_attempt_that_begins_is_late_as_if_it_were_due_then(database: Database, caller: Caller) -> None:
    await endpoint(database, caller)
    await fail(database, await create_job(database, caller))
    (delivery,) = written(database, caller)
    mine, begun = (delivery.id, caller.account_id), NOW + timedelta(minutes=10)
    found = await database.write(webhooks.begin_attempt, delivery_id=delivery.id, now=begun)
    assert found == await database.read(webhooks.next_attempt, delivery_id=delivery.id, now=begun)
    assert isinstance(found, Outgoing)
    late = begun + webhooks.HEAD_START
    just_before = await database.read(webhooks.list_overdue, now=late - timedelta(seconds=1), limit=1000)
    assert mine not in just_before
    assert mine in await database.read(webhooks.list_overdue, now=late, limit=1000)
    (row,) = written(database, caller)
    assert (row.status, row.attempts) == ("waiting", [])
    await attempted(database, delivery, GOOD)
    assert await database.write(webhooks.begin_attempt, delivery_id=delivery.id, now=begun) == Standing("delivered", 1)
    (row,) = written(database, caller)
    assert row.next_attempt_at is None
    assert await database.write(webhooks.begin_attempt, delivery_id=uuid.uuid4(), now=begun) is None


async def test_what_was_left_behind_is_not_behind_all_that_waits_for_others(
    database: Database, digester: KeyDigester, caller: Caller
) -> None:
    busy = await create_caller(database, digester)
    made = await endpoint(database, busy)
    for _ in range(5):
        await database.write(webhooks.send_example, account_id=busy.account_id, endpoint_id=made.id)
    made = await endpoint(database, caller)
    late = await database.write(webhooks.send_example, account_id=caller.account_id, endpoint_id=made.id)
    mine, then = (late.id, caller.account_id), datetime.now(UTC) + timedelta(days=1)
    found = await database.read(webhooks.list_overdue, now=then, limit=1000)
    of_both = [each for each in found if each[1] in (busy.account_id, caller.account_id)]
    assert of_both.index(mine) == 1


@pytest.mark.databases("postgresql")
async def test_of_two_rotations_at_once_both_secrets_sign(database: Database, caller: Caller) -> None:
    made, answered = await endpoint(database, caller), list[str]()
    rotate = partial(webhooks.rotate_secret, account_id=caller.account_id, endpoint_id=made.id)
    second = await outcome_beside(database, lambda session: answered.append(rotate(session).secret), rotate)
    with database.reading() as session:
        kept = session.get_one(WebhookEndpoint, made.id)
    assert [kept.secret, kept.previous_secret] == [second.secret, *answered]


async def test_an_endpoint_of_a_blocked_account_is_not_switched_on(database: Database, caller: Caller) -> None:
    """A call that was let in before an erasure blocked its account and switched the endpoint off."""
    own = {"account_id": caller.account_id, "endpoint_id": (await endpoint(database, caller, enabled=False)).id}
    await database.write(block_account, account_id=caller.account_id, reason="erased", now=NOW)
    with pytest.raises(TryOnError) as refused:
        await database.write(webhooks.change_endpoint, changes={"enabled": True}, **own)
    assert refused.value.code == "account_blocked"


@pytest.mark.databases("postgresql")
async def test_an_endpoint_that_is_switched_on_while_an_attempt_switches_it_off_is_on(
    database: Database, caller: Caller
) -> None:
    made = await endpoint(database, caller)
    await fail(database, await create_job(database, caller))
    (delivery,) = written(database, caller)
    changed = await outcome_beside(
        database,
        partial(webhooks.record_attempt, head=HEAD, delivery_id=delivery.id, attempt=GONE, now=NOW),
        partial(webhooks.change_endpoint, account_id=caller.account_id, endpoint_id=made.id, changes={"enabled": True}),
    )
    with database.reading() as session:
        kept = session.get_one(WebhookEndpoint, made.id)
    assert changed.enabled
    assert (kept.enabled, kept.disabled_reason, kept.failing_since) == (True, None, None)


@pytest.mark.databases("postgresql")
@pytest.mark.parametrize(
    "work",
    [
        partial(webhooks.change_endpoint, changes={"description": "new"}),
        webhooks.rotate_secret,
        webhooks.send_example,
        webhooks.send_again,
    ],
    ids=["change", "rotate", "example", "resend"],
)
async def test_an_endpoint_that_is_being_deleted_is_not_found(
    database: Database, caller: Caller, work: Callable[..., object]
) -> None:
    made = await endpoint(database, caller)
    await fail(database, await create_job(database, caller))
    (delivery,) = written(database, caller)
    own: dict[str, Any] = {"account_id": caller.account_id, "endpoint_id": made.id}
    named = {"delivery_id": delivery.id} if work is webhooks.send_again else {}
    with pytest.raises(TryOnError) as refused:
        await outcome_beside(database, partial(webhooks.delete_endpoint, **own), partial(work, **own, **named))
    assert refused.value.code == "webhook_not_found"


@pytest.mark.databases("postgresql")
async def test_an_attempt_may_write_to_the_owner_while_an_erasure_waits_for_it(
    database: Database, caller: Caller
) -> None:
    made, own = await endpoint(database, caller), {"account_id": caller.account_id}
    letter = Letter("An endpoint was switched off", "Its owner is told.")
    assert await outcome_beside(
        database,
        partial(webhooks.find_endpoint, endpoint_id=made.id, lock="change", **own),
        partial(erasure.begin_erasure, now=NOW, **own),
        partial(write_mail, letter=letter, to="ann@example.com", now=NOW, **own),
    )
