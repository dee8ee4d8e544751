"""An account with something in every table and every folder of the object store, all of it marked by one word."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from domain.access import keys
from domain.access.keys import KeyDigester, KeyTerms, PublishableTerms
from domain.authentication import email_addresses, throttles
from domain.authentication.email_addresses import mailbox_of
from domain.authentication.throttles import SignInTries, sign_in_wait
from domain.jobs import jobs
from domain.object_keys import (
    PROGRESS,
    backfill_key,
    backfill_picture_key,
    backfill_result_key,
    check_prefix,
    input_key,
    logo_key,
    own_backfills_prefix,
    product_picture_key,
    result_key,
)
from domain.operation import audit
from domain.operation.audit import Act
from domain.tables import (
    Account,
    BackfillItem,
    EmailToken,
    IdempotencyKey,
    Job,
    Login,
    LoginSession,
    Mail,
    Payment,
    Product,
    RateWindow,
    Table,
    Watermark,
)
from domain.webhooks import EndpointTerms, create_endpoint, send_example
from runtime.database import Database
from runtime.object_store import ObjectStore
from tests.factories import Caller, create_caller, create_job

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class FullAccount:
    """An account that has used everything.

    Attributes:
        word: In every text of its own and every object.
        job_ids: One completed, one in progress.
        backfill_id: Whose folder is the account's.
        shared_backfill_id: Whose folder another account has pictures in too.
    """

    caller: Caller
    word: str
    job_ids: tuple[uuid.UUID, uuid.UUID]
    backfill_id: str
    shared_backfill_id: str

    @property
    def email(self) -> str:
        """Its address until it is erased."""
        return f"{self.word}@example.com"

    def names(self, digester: KeyDigester) -> list[str]:
        """All that a row can name it by: its id, its keys', its owner's address as digests, and its own words."""
        ids = (self.caller.account_id, self.caller.key_id)
        digests = [
            each[:32]
            for what in (throttles.SIGN_IN, throttles.MAIL)
            for each in digester.accepted(f"throttle {what} address {self.email}")
        ]
        trial = digester.accepted(f"trial of {mailbox_of(self.email)}")
        return [*(text for each in ids for text in (str(each), each.hex)), self.word, *digests, *trial]


async def full_account(database: Database, digester: KeyDigester, store: ObjectStore, other: Caller) -> FullAccount:
    """Make one; ``other`` is an account that shares a backfill's name with it."""
    caller, word, now = await create_caller(database, digester), f"w{uuid.uuid4().hex}", datetime.now(UTC)
    done, running = await create_job(database, caller), await create_job(database, caller)
    full = FullAccount(caller, word, (done, running), f"backfill-{word}", f"shared-{word[:20]}")
    with database.transaction() as session:
        report = {"engine": "warp", "hintsNotApplied": {"size": word}}
        jobs.complete_job(
            session,
            job_id=done,
            result_key=result_key(str(done)),
            engine="warp",
            report=report,
            keep=HOUR,
            now=now,
        )
        _rows(session, digester, full, other, now)
    await _objects(store, full)
    return full


def _rows(session: Session, digester: KeyDigester, full: FullAccount, other: Caller, now: datetime) -> None:
    owner, word, (done, _running) = full.caller.account_id, full.word, full.job_ids
    bounds = PublishableTerms([f"https://{word}.example"])
    keys.create_key(session, digester, account_id=owner, terms=KeyTerms(word), publishable=bounds)
    account = session.get_one(Account, owner)
    account.email = email = full.email
    email_addresses.take_trial(session, digester, email=email, now=now)
    for tries in (SignInTries.of(digester, email=email, address=address) for address in ("192.0.2.7", "198.51.100.7")):
        sign_in_wait(session, tries, known_network=False, now=now)
    mailed = throttles.address_subject(digester, throttles.MAIL, throttles.MAIL_PER_ADDRESS, email=email)
    throttles.seconds_to_wait(session, (mailed,), now=now)
    for job_id in full.job_ids:
        job = session.get_one(Job, job_id)
        job.workflow_input, job.products = {"url": f"https://shop.example/{word}"}, [{"id": word, "revision": 1}]
    picture = {"key": f"products/{owner}/{word}/front.png", "sha256": "0" * 64}
    session.add_all(
        [
            Login(account_id=owner, password_hash=word, verified_at=now, operator=False, created_at=now),
            LoginSession(
                id=uuid.uuid4(),
                account_id=owner,
                digest=word,
                created_at=now,
                seen_at=now,
                address="192.0.2.7",
                user_agent=word,
            ),
            EmailToken(
                digest=word,
                account_id=owner,
                purpose="reset",
                email=f"{word}@example.com",
                created_at=now,
                expires_at=now + HOUR,
            ),
            Mail(
                id=uuid.uuid4(),
                account_id=owner,
                to_address=f"{word}@example.com",
                subject=word,
                body=word,
                created_at=now,
            ),
            Watermark(
                account_id=owner, enabled=True, logo_url=f"https://{word}.example/", logo=picture, fetched_at=now
            ),
            IdempotencyKey(
                account_id=owner, key=word, fingerprint=word, claim=uuid.uuid4(), claimed_at=now, job_id=done
            ),
            RateWindow(caller_id=full.caller.key_id, policy="requests", stamps=[now.timestamp()]),
            RateWindow(caller_id=owner, policy="playground", stamps=[now.timestamp()]),
            Product(
                id=uuid.uuid4(),
                account_id=owner,
                external_id=word,
                name=word,
                category="upper_body",
                front=picture,
                status="archived",
                revision=1,
                created_at=now,
                updated_at=now,
            ),
            _item(owner, f"a-{word}", done, full.backfill_id, now),
            _item(owner, f"b-{word}", done, full.shared_backfill_id, now),
            _item(other.account_id, f"c-{word[:10]}", uuid.uuid4(), full.shared_backfill_id, now),
            _payment(owner, "open", word, now),
            _payment(owner, "paid", word, now),
        ]
    )
    terms = EndpointTerms(f"https://{word}.example/", ["product.ready"], word)
    hook = create_endpoint(session, account_id=owner, terms=terms)
    send_example(session, account_id=owner, endpoint_id=hook.id)
    audit.add_entry(
        session, action=Act.TOPPED_UP, operator_id=None, account_id=owner, details={"generations": 50}, now=now
    )


def _item(owner: uuid.UUID, key: str, job_id: uuid.UUID, backfill_id: str, now: datetime) -> BackfillItem:
    kept = backfill_result_key(backfill_id, key)
    return BackfillItem(
        account_id=owner, key=key, job_id=job_id, backfill_id=backfill_id, result_key=kept, touched_at=now
    )


def _payment(owner: uuid.UUID, status: str, note: str, now: datetime) -> Payment:
    return Payment(
        id=uuid.uuid4(),
        account_id=owner,
        kind="topup",
        generations=50,
        price_cents=1000,
        provider="manual",
        status=status,
        created_at=now,
        closed_at=None if status == "open" else now,
        note=note,
    )


async def _objects(store: ObjectStore, full: FullAccount) -> None:
    owner, word, (done, running) = str(full.caller.account_id), full.word, map(str, full.job_ids)
    progress = json.dumps({"progress": {"accountId": owner}}).encode()
    for key in (
        result_key(done),
        input_key(running, "0"),
        f"{check_prefix(owner, running)}input-0",
        logo_key(owner, "0" * 64),
        product_picture_key(owner, "20260101T000000Z-" + "0" * 32, "front"),
        backfill_picture_key(full.backfill_id, word),
        backfill_result_key(full.backfill_id, f"a-{word}"),
        backfill_result_key(full.shared_backfill_id, f"b-{word}"),
        # Those of the other account stay, the one whose name begins alike too.
        backfill_result_key(full.shared_backfill_id, f"c-{word[:10]}"),
        backfill_result_key(full.shared_backfill_id, f"b-{word}.jpg-too"),
    ):
        await store.put(key, word.encode(), "image/jpeg")
    for backfill_id in (f"unnamed-{word}", full.backfill_id):
        await store.put(f"{own_backfills_prefix(owner)}{backfill_id}", b"", "application/json")
    await store.put(backfill_key(f"unnamed-{word}", PROGRESS), progress, "application/json")
    await store.put(backfill_picture_key(f"unnamed-{word}", word), word.encode(), "image/jpeg")


async def rows_that_hold(database: Database, *needles: str) -> dict[str, list[dict[str, Any]]]:
    """Table to those of its rows of which any column holds one of the texts."""
    found: dict[str, list[dict[str, Any]]] = {}
    with database.reading() as session:
        for table in Table.metadata.sorted_tables:
            for row in session.execute(select(table)).mappings():
                text = json.dumps([str(value) for value in row.values()])
                if any(needle in text for needle in needles):
                    found.setdefault(table.name, []).append(dict(row))
    return found
