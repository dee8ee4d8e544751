"""Webhooks: where an account wants to be told of events, and the messages that are written for it.

A message is a row in the transaction that it tells about, one for each endpoint that wants the event. Once that is
committed, `gateway.outbox` starts the run that delivers it; the reconciler starts what was left behind. The row says
what is still to be done, so a run may be started again at any time.
"""

from __future__ import annotations

import base64
import json
import secrets
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from sqlalchemy import Exists, delete, func, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from domain.errors import TryOnError
from domain.mails import Letterhead, webhook_switched_off_letter, write_mail
from domain.money.quota import Volume, lock_account
from domain.tables import Account, Place, WebhookDelivery, WebhookEndpoint, beyond, rows_changed

Event: TypeAlias = Literal["tryon.completed", "tryon.failed", "product.ready", "volume.low", "volume.exhausted"]

EVENTS: dict[Event, str] = {
    "tryon.completed": "A try-on has its picture",
    "tryon.failed": "A try-on failed; it was not billed",
    "product.ready": "A product was registered or changed and can be tried on",
    "volume.low": "Less than a fifth of the period's try-ons is left",
    "volume.exhausted": "The last try-on that was left has been started",
}
"""What there is to be told, as owners read it."""

MOST_ENDPOINTS = 10
"""Of an account: each event is written and delivered once for every one of them."""

LONGEST_DESCRIPTION = 100

SECRET_PREFIX = "whsec_"  # noqa: S105  # the specification's; no secret itself

SECRET_BYTES = 32  # the specification asks for 24 to 64

OVERLAP = timedelta(hours=24)
"""For how long messages are signed with the old secret too, after another was made."""

PAUSES = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=6),
)
"""Between one attempt and the next, those of the specification's example; the last one ends within a day."""

MOST_ATTEMPTS = len(PAUSES) + 1

LONGEST_REQUESTED_PAUSE = timedelta(hours=1)  # that a receiver may ask for with Retry-After

FAILING_FOR = timedelta(days=3)
"""An endpoint that took nothing for so long is switched off when the next delivery to it is given up."""

KEPT = timedelta(days=30)  # how long a delivery is kept, whatever became of it

HEAD_START = timedelta(minutes=2)
"""Whoever writes a message starts its run, and a run makes its attempts when they are due. One that is later than this
was left behind, or waits for its turn. An attempt itself is over within half of it."""

LOW_SHARE = 5  # volume is low below one part in so many

WAITING, DELIVERED, FAILED = "waiting", "delivered", "failed"

GONE, FAILING, BY_OWNER = "gone", "failing", "owner"
"""Why an endpoint is off: it answered 410; it took nothing for days; its owner wanted it."""

WRITTEN = "written_deliveries"
"""Key of a session's ``info``: ids of the deliveries it has written, for the code that commits it."""

LONGEST_ANSWER = 1024  # characters of an answer that are kept


@dataclass(frozen=True)
class EndpointTerms:
    """What an owner says of an endpoint. The URL has been judged."""

    url: str
    events: Sequence[Event]
    description: str = ""
    enabled: bool = True


@dataclass(frozen=True)
class Attempt:
    """One attempt to deliver.

    Attributes:
        at: When it began, in ISO 8601.
        milliseconds: How long it took.
        status: Of the answer, if there was one.
        fault: A sentence that says why it did not count as delivered; empty where it did.
        answer: The beginning of the answer's body.
    """

    at: str
    milliseconds: int
    status: int | None = None
    fault: str = ""
    answer: str = ""


@dataclass(frozen=True)
class Outgoing:
    """What the next attempt sends; ``secrets`` are those to sign it with, the current one first."""

    message_id: str
    url: str
    payload: str
    secrets: Sequence[str] = field(repr=False)
    account_id: uuid.UUID


@dataclass(frozen=True)
class Standing:
    """How a delivery stands: its status, how many attempts were made, and in how long the next one is due."""

    status: str
    attempts: int
    pause: timedelta | None = None


def message_id(message: uuid.UUID) -> str:
    """What receivers tell repeated deliveries by: the header ``webhook-id``."""
    return f"msg_{message.hex}"


def new_secret() -> str:
    """A secret that nobody has."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def shown_url(url: str) -> str:
    """The address without its query, which may hold a secret: for logs and letters."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


# Endpoints


def has_endpoint(account_id: InstrumentedAttribute[uuid.UUID]) -> Exists:
    """Whether the account has an endpoint that is on, as part of a question that is asked anyway."""
    on: Exists = _enabled(account_id).exists()
    return on


def list_endpoints(session: Session, *, account_id: uuid.UUID) -> Sequence[WebhookEndpoint]:
    """The account's endpoints, oldest first."""
    own = select(WebhookEndpoint).where(WebhookEndpoint.account_id == account_id)
    return session.scalars(own.order_by(WebhookEndpoint.created_at, WebhookEndpoint.id)).all()


def find_endpoint(
    session: Session, *, account_id: uuid.UUID, endpoint_id: uuid.UUID, lock: Literal["change", "keep"] | None = None
) -> WebhookEndpoint:
    """An endpoint of this account.

    With ``lock`` it is held until the transaction ends: to ``change`` it, which nobody else then does, or to ``keep``
    it while deliveries are written for it, which others may do too. An account is held before, deliveries after it.

    Raises:
        TryOnError: ``webhook_not_found``, also for another account's.
    """
    own = select(WebhookEndpoint).where(WebhookEndpoint.id == endpoint_id, WebhookEndpoint.account_id == account_id)
    if lock is not None:
        own = own.with_for_update(read=lock == "keep", key_share=True).execution_options(populate_existing=True)
    found = session.scalar(own)
    if found is None:
        raise TryOnError("webhook_not_found")
    return found


def _lock_open_account(session: Session, account_id: uuid.UUID) -> None:
    if lock_account(session, account_id=account_id).blocked_at is not None:
        raise TryOnError("account_blocked")


def create_endpoint(
    session: Session, *, account_id: uuid.UUID, terms: EndpointTerms, now: datetime | None = None
) -> WebhookEndpoint:
    """Add an endpoint with a secret of its own.

    Raises:
        TryOnError: ``webhooks_too_many``, or ``account_blocked``.
    """
    now = now or datetime.now(UTC)
    _lock_open_account(session, account_id)  # so that two at once do not exceed the limit
    count = select(func.count()).where(WebhookEndpoint.account_id == account_id)
    if (session.scalar(count) or 0) >= MOST_ENDPOINTS:
        raise TryOnError("webhooks_too_many")
    endpoint = WebhookEndpoint(
        id=uuid.uuid4(), account_id=account_id, secret=new_secret(), created_at=now, url="", description="", events=[]
    )
    _set_terms(endpoint, terms, now)
    session.add(endpoint)
    session.flush()
    return endpoint


def change_endpoint(
    session: Session,
    *,
    account_id: uuid.UUID,
    endpoint_id: uuid.UUID,
    changes: Mapping[str, Any],
    now: datetime | None = None,
) -> WebhookEndpoint:
    """Change fields of `EndpointTerms`. One that is switched on again begins without a past.

    Raises:
        TryOnError: ``webhook_not_found``, or ``account_blocked``.
    """
    _lock_open_account(session, account_id)  # an erasure under way switches endpoints off, for good
    endpoint = find_endpoint(session, account_id=account_id, endpoint_id=endpoint_id, lock="change")
    present = EndpointTerms(endpoint.url, endpoint.events, endpoint.description, endpoint.enabled)  # type: ignore[arg-type]
    _set_terms(endpoint, EndpointTerms(**{**asdict(present), **changes}), now or datetime.now(UTC))
    return endpoint


def rotate_secret(
    session: Session, *, account_id: uuid.UUID, endpoint_id: uuid.UUID, now: datetime | None = None
) -> WebhookEndpoint:
    """Make another secret. The one until now signs messages too, for `OVERLAP`.

    Raises:
        TryOnError: ``webhook_not_found``.
    """
    endpoint = find_endpoint(session, account_id=account_id, endpoint_id=endpoint_id, lock="change")
    endpoint.previous_secret, endpoint.secret = endpoint.secret, new_secret()
    endpoint.previous_secret_until = (now or datetime.now(UTC)) + OVERLAP
    return endpoint


def delete_endpoint(session: Session, *, account_id: uuid.UUID, endpoint_id: uuid.UUID) -> None:
    """Delete an endpoint with all that is known of deliveries to it.

    Raises:
        TryOnError: ``webhook_not_found``.
    """
    own = (WebhookEndpoint.id == endpoint_id, WebhookEndpoint.account_id == account_id)
    if not rows_changed(session, delete(WebhookEndpoint).where(*own)):
        raise TryOnError("webhook_not_found")


def _set_terms(endpoint: WebhookEndpoint, terms: EndpointTerms, now: datetime) -> None:
    endpoint.url, endpoint.description = terms.url, terms.description
    endpoint.events = [each for each in EVENTS if each in terms.events]
    if terms.enabled and not endpoint.enabled:
        endpoint.failing_since = endpoint.disabled_at = endpoint.disabled_reason = None
    elif not terms.enabled and endpoint.enabled:
        endpoint.disabled_at, endpoint.disabled_reason = now, BY_OWNER


def _enabled(account_id: uuid.UUID | InstrumentedAttribute[uuid.UUID]) -> Any:
    return select(WebhookEndpoint.id, WebhookEndpoint.events).where(
        WebhookEndpoint.account_id == account_id, WebhookEndpoint.disabled_at.is_(None)
    )


# What is written


def announce(
    session: Session,
    event: Event,
    data: Mapping[str, Any],
    *,
    account_id: uuid.UUID,
    now: datetime,
    test: bool = False,
    job_id: uuid.UUID | None = None,
) -> int:
    """Write a message for each endpoint of the account that is on and wants this; says for how many.

    Args:
        session: Of the transaction that makes it true.
        event: What has happened.
        data: Ids and figures, as JSON; never a picture.
        account_id: Whom it concerns.
        now: When it happened.
        test: Whether a test key made it happen.
        job_id: The job that it tells of, with which the message is erased.
    """
    # Held until the commit: one that is deleted meanwhile would make the whole transaction fail, the end of a job too.
    held = _enabled(account_id).with_for_update(read=True, key_share=True)
    wanting = [row.id for row in session.execute(held) if event in row.events]
    if wanting:
        payload, message = _payload(event, data, now=now, test=test), uuid.uuid4()
        for endpoint_id in wanting:
            _write(
                session, message, event, payload, account_id=account_id, endpoint_id=endpoint_id, job_id=job_id, now=now
            )
    return len(wanting)


def announce_volume(session: Session, account: Account, volume: Volume, *, now: datetime) -> None:
    """Tell once a period that volume is low, and that it is used up once until there was some again.

    Looked at when a try-on has been started, in the transaction that has locked the account. Nothing is asked of the
    database while more is left than that.
    """
    told_low = account.volume_low_told == volume.period_start
    if volume.left > 0 and account.volume_exhausted_told:
        account.volume_exhausted_told = None
    if volume.left > 0 and (told_low or volume.left * LOW_SHARE >= volume.included):
        return
    if volume.left == 0 and account.volume_exhausted_told:
        return
    event: Event = "volume.low" if volume.left else "volume.exhausted"
    data = {"left": volume.left, "included": volume.included}
    if announce(session, event, data, account_id=account.id, now=now):
        account.volume_low_told = volume.period_start
        account.volume_exhausted_told = None if volume.left else now


EXAMPLES: dict[Event, dict[str, Any]] = {
    "tryon.completed": {
        "jobId": "7d9f3c52-1f0e-4c5b-9a53-0b9a4f2f6c11",
        "status": "completed",
        "generationTimeMs": 8431,
        "metadata": {},
    },
    "tryon.failed": {
        "jobId": "7d9f3c52-1f0e-4c5b-9a53-0b9a4f2f6c11",
        "status": "failed",
        "errorCode": "person_not_found",
        "error": "No person was found in the photo. Use a photo that shows you from the front.",
        "metadata": {},
    },
    "product.ready": {
        "productId": "prod_3f0c1e6a5b7d4c2e9a8b7c6d5e4f3a2b",
        "externalId": "SHIRT-0815-M",
        "revision": 1,
    },
    "volume.low": {"left": 49, "included": 250},
    "volume.exhausted": {"left": 0, "included": 250},
}
"""The data of each event, as it is sent on request and stands in the documents."""


def send_example(
    session: Session,
    *,
    account_id: uuid.UUID,
    endpoint_id: uuid.UUID,
    event: Event | None = None,
    now: datetime | None = None,
) -> WebhookDelivery:
    """Write an example of an event, by default of the first that the endpoint wants, for this endpoint alone.

    Raises:
        TryOnError: ``webhook_not_found``, or ``webhook_off``.
    """
    endpoint = _switched_on(session, account_id, endpoint_id)
    now = now or datetime.now(UTC)
    chosen: Event = event or endpoint.events[0]  # type: ignore[assignment]  # the column holds nothing else
    payload = _payload(chosen, EXAMPLES[chosen], now=now, test=True)
    to = {"account_id": account_id, "endpoint_id": endpoint_id}
    return _write(session, uuid.uuid4(), chosen, payload, **to, job_id=None, now=now)


def send_again(
    session: Session,
    *,
    account_id: uuid.UUID,
    delivery_id: uuid.UUID,
    endpoint_id: uuid.UUID | None = None,
    now: datetime | None = None,
) -> WebhookDelivery:
    """Write another delivery of the same message, under the same ``webhook-id``.

    Raises:
        TryOnError: ``webhook_not_found``, or ``webhook_delivery_not_found``, also where it is none of the endpoint that
            is named; ``webhook_off``.
    """
    if endpoint_id is not None:
        find_endpoint(session, account_id=account_id, endpoint_id=endpoint_id)
    old = session.get(WebhookDelivery, delivery_id)
    if old is None or old.account_id != account_id or endpoint_id not in (None, old.endpoint_id):
        raise TryOnError("webhook_delivery_not_found")
    _switched_on(session, account_id, old.endpoint_id)
    now, to = now or datetime.now(UTC), {"account_id": account_id, "endpoint_id": old.endpoint_id}
    return _write(session, old.message_id, old.event, old.payload, **to, job_id=old.job_id, now=now)


def _switched_on(session: Session, account_id: uuid.UUID, endpoint_id: uuid.UUID) -> WebhookEndpoint:
    endpoint = find_endpoint(session, account_id=account_id, endpoint_id=endpoint_id, lock="keep")
    if not endpoint.enabled:
        raise TryOnError("webhook_off")
    return endpoint


def _payload(event: str, data: Mapping[str, Any], *, now: datetime, test: bool) -> str:
    timestamp = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = {"type": event, "timestamp": timestamp, "data": {**data, "mode": "test" if test else "live"}}
    return json.dumps(body, separators=(",", ":"))


def _write(
    session: Session,
    message: uuid.UUID,
    event: str,
    payload: str,
    *,
    account_id: uuid.UUID,
    endpoint_id: uuid.UUID,
    job_id: uuid.UUID | None,
    now: datetime,
) -> WebhookDelivery:
    delivery = WebhookDelivery(
        id=uuid.uuid4(),
        message_id=message,
        account_id=account_id,
        endpoint_id=endpoint_id,
        job_id=job_id,
        event=event,
        payload=payload,
        status=WAITING,
        attempts=[],
        created_at=now,
        next_attempt_at=now,
    )
    session.add(delivery)
    session.flush()
    session.info.setdefault(WRITTEN, []).append((delivery.id, account_id))
    return delivery


# Deliveries


def list_deliveries(
    session: Session, *, endpoint_id: uuid.UUID, limit: int, before: Place | None = None
) -> Sequence[WebhookDelivery]:
    """Deliveries to an endpoint, newest first."""
    own = select(WebhookDelivery).where(WebhookDelivery.endpoint_id == endpoint_id)
    own = own.where(*beyond(before, WebhookDelivery.created_at, WebhookDelivery.id, newer=False))
    newest_first = (WebhookDelivery.created_at.desc(), WebhookDelivery.id.desc())
    return session.scalars(own.order_by(*newest_first).limit(limit)).all()


def list_overdue(session: Session, *, now: datetime, limit: int) -> list[tuple[uuid.UUID, uuid.UUID]]:
    """Deliveries whose next attempt should have been made by now, and their accounts.

    The oldest of each account come first, then the second oldest, and so on, however many wait for one.
    """
    due, account_id = WebhookDelivery.next_attempt_at, WebhookDelivery.account_id
    place = func.row_number().over(partition_by=account_id, order_by=due)
    late = select(WebhookDelivery.id, account_id).where(due <= now - HEAD_START).order_by(place, due)
    return [(row.id, row.account_id) for row in session.execute(late.limit(limit))]


def next_attempt(session: Session, *, delivery_id: uuid.UUID, now: datetime) -> Outgoing | Standing | None:
    """What to send now; or how the delivery stands, where nothing is to be sent; or None where it is gone.

    One that still waits where nothing is to be sent waits for an endpoint that is off: see `give_up`.
    """
    delivery = session.get(WebhookDelivery, delivery_id)
    if delivery is None:
        return None
    endpoint = session.get_one(WebhookEndpoint, delivery.endpoint_id)
    if delivery.status != WAITING or not endpoint.enabled:
        return Standing(delivery.status, len(delivery.attempts))
    old = endpoint.previous_secret
    overlapping = endpoint.previous_secret_until is not None and endpoint.previous_secret_until > now
    return Outgoing(
        message_id=message_id(delivery.message_id),
        url=endpoint.url,
        payload=delivery.payload,
        secrets=[endpoint.secret, *([old] if old and overlapping else [])],
        account_id=delivery.account_id,
    )


def begin_attempt(session: Session, *, delivery_id: uuid.UUID, now: datetime) -> Outgoing | Standing | None:
    """As `next_attempt`, noting in the row that the attempt begins; to be committed before it is made.

    A database that takes no writes, with a full disk, say, fails at this: an attempt could not be counted, and would be
    made again and again. One whose process dies is late after `HEAD_START`, as any other.
    """
    begun = update(WebhookDelivery).where(WebhookDelivery.id == delivery_id, WebhookDelivery.status == WAITING)
    rows_changed(session, begun.values(next_attempt_at=now))
    return next_attempt(session, delivery_id=delivery_id, now=now)


def give_up(session: Session, *, delivery_id: uuid.UUID) -> None:
    """Attempt nothing more."""
    given_up = update(WebhookDelivery).where(WebhookDelivery.id == delivery_id, WebhookDelivery.status == WAITING)
    rows_changed(session, given_up.values(status=FAILED, next_attempt_at=None))


def record_attempt(
    session: Session,
    head: Letterhead,
    *,
    delivery_id: uuid.UUID,
    attempt: Attempt,
    requested_pause: timedelta | None = None,
    now: datetime,
) -> Standing | None:
    """Note how an attempt went, and what follows from it for the delivery and its endpoint.

    Args:
        session: Of a transaction.
        head: Who writes to the owner, where the endpoint is switched off.
        delivery_id: Which delivery.
        attempt: How it went; delivered if it has no fault.
        requested_pause: What the receiver has asked for, where it did.
        now: When it was over.

    Returns:
        How the delivery stands; None where it is gone.
    """
    # The endpoint before its delivery, in the order in which a deletion takes them.
    of_it = select(WebhookDelivery.endpoint_id).where(WebhookDelivery.id == delivery_id).scalar_subquery()
    held = select(WebhookEndpoint).where(WebhookEndpoint.id == of_it).with_for_update(key_share=True)
    endpoint = session.scalar(held)
    delivery = session.get(WebhookDelivery, delivery_id, with_for_update=True)
    if endpoint is None or delivery is None:
        return None
    if delivery.status != WAITING:  # another run has just done it
        return Standing(delivery.status, len(delivery.attempts))
    delivery.attempts = [*delivery.attempts, asdict(attempt)]
    made, pause = len(delivery.attempts), None
    if not attempt.fault:
        delivery.status = DELIVERED
        if endpoint.failing_since is not None:
            endpoint.failing_since = None
    else:
        endpoint.failing_since = endpoint.failing_since or now
        if attempt.status == 410:
            delivery.status = FAILED
            _switch_off(session, head, endpoint, GONE, now)
        elif made >= MOST_ATTEMPTS:
            delivery.status = FAILED
            if now - endpoint.failing_since >= FAILING_FOR:
                _switch_off(session, head, endpoint, FAILING, now)
        else:
            pause = max(PAUSES[made - 1], min(requested_pause or timedelta(0), LONGEST_REQUESTED_PAUSE))
    delivery.next_attempt_at = None if pause is None else now + pause
    return Standing(delivery.status, made, pause)


def _switch_off(session: Session, head: Letterhead, endpoint: WebhookEndpoint, reason: str, now: datetime) -> None:
    if not endpoint.enabled:
        return
    endpoint.disabled_at, endpoint.disabled_reason = now, reason
    account = session.get_one(Account, endpoint.account_id)
    letter = webhook_switched_off_letter(
        head, url=shown_url(endpoint.url), endpoint_id=endpoint.id, gone=reason == GONE, days=FAILING_FOR.days
    )
    write_mail(session, letter, to=account.email, account_id=account.id, now=now)


def forget_job(session: Session, *, job_id: uuid.UUID) -> None:
    """Delete the messages about a job, whether they were delivered or not."""
    rows_changed(session, delete(WebhookDelivery).where(WebhookDelivery.job_id == job_id))


def delete_old(session: Session, *, now: datetime, limit: int) -> int:
    """Delete some of what was kept long enough; returns how many there were."""
    old = session.scalars(select(WebhookDelivery.id).where(WebhookDelivery.created_at <= now - KEPT).limit(limit)).all()
    return rows_changed(session, delete(WebhookDelivery).where(WebhookDelivery.id.in_(old))) if old else 0


def switch_all_off(session: Session, *, account_id: uuid.UUID, now: datetime) -> None:
    """Send nothing more for an account that is being erased; its rows go with all others."""
    own = (WebhookEndpoint.account_id == account_id, WebhookEndpoint.disabled_at.is_(None))
    rows_changed(session, update(WebhookEndpoint).where(*own).values(disabled_at=now, disabled_reason=BY_OWNER))
