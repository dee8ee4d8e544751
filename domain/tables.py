"""The tables. Queries live in the module of their subject."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, cast

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ColumnElement,
    CursorResult,
    DateTime,
    Delete,
    Dialect,
    ForeignKey,
    Index,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    Update,
    text,
    tuple_,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute, Mapped, Session, mapped_column


class UtcDateTime(TypeDecorator[datetime]):
    """Aware datetimes in UTC on both databases; SQLite has no time zones of its own."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a datetime without a time zone cannot be stored")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Table(DeclarativeBase):
    """Base of every table; constraint names are the same on every database so that migrations can name them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy's own idiom
        datetime: UtcDateTime(),
        dict[str, Any]: JSON(),
        list[dict[str, Any]]: JSON(),
        list[float]: JSON(),
        list[str]: JSON(none_as_null=True),
    }


def _where(condition: str) -> dict[str, Any]:
    """Of a partial index."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


class Account(Table):
    """Who pays, and whose jobs and keys these are."""

    __tablename__ = "account"
    __table_args__ = (
        # Erasures that somebody has to go on with.
        Index(
            "ix_account_being_erased", "erased_at", **_where("erased_at IS NOT NULL AND erasure_finished_at IS NULL")
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(320), unique=True)
    plan: Mapped[str] = mapped_column(String(32))
    plan_started_at: Mapped[datetime]  # when the account took its plan: what monthly periods are counted from
    custom_included: Mapped[int | None]
    """Included generations of this account alone, instead of the plan's; likewise the five below."""
    custom_daily_cap: Mapped[int | None]
    custom_monthly_cents: Mapped[int | None]
    custom_extra_cents: Mapped[int | None]
    custom_requests: Mapped[int | None]  # in any ``custom_window_seconds``: the two stand together
    custom_window_seconds: Mapped[int | None]
    created_at: Mapped[datetime]
    blocked_at: Mapped[datetime | None]
    blocked_reason: Mapped[str | None] = mapped_column(String(200))
    result_ttl_seconds: Mapped[int | None]
    """How long the owner wants results to be kept, within the service's own setting; none takes that."""
    volume_low_told: Mapped[datetime | None]  # start of the last period of which webhooks said that volume is low
    volume_exhausted_told: Mapped[datetime | None]
    """When webhooks said that it is used up; none once there was some again."""
    erased_at: Mapped[datetime | None]
    """When the owner had the account erased. The row stays for the ledger and tells nothing about anybody."""
    erasure_finished_at: Mapped[datetime | None]  # when the last of what it had stored was gone


class ApiKey(Table):
    """An API key: a secret one, of which only a digest is kept, or a publishable one, which stands in web pages."""

    __tablename__ = "api_key"
    __table_args__ = (CheckConstraint("mode IN ('live', 'test')", name="mode"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), index=True)
    mode: Mapped[str] = mapped_column(String(8))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    prefix: Mapped[str] = mapped_column(String(16))
    last_four: Mapped[str] = mapped_column(String(4))
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    name: Mapped[str | None] = mapped_column(String(60))  # what its owner calls it
    scopes: Mapped[list[str] | None]
    """What it may be used for; none for everything, also what is added later."""
    expires_at: Mapped[datetime | None]
    """From when it is refused like a revoked one."""
    replaced_at: Mapped[datetime | None]  # when a successor was made; it works until it expires
    publishable_key: Mapped[str | None] = mapped_column(String(64))
    """The key itself, if it is publishable: then it is no secret. The three below are for such keys alone."""
    origins: Mapped[list[str] | None]  # of the web pages that may use it, as browsers write them
    daily_cap: Mapped[int | None]  # try-ons that may be started with it on one day (UTC)
    started: Mapped[int | None]  # try-ons that were started with it on ``started_on``
    started_on: Mapped[date | None]

    @property
    def title(self) -> str:
        """What it is called; keys of older releases were made without a name."""
        return self.name or f"Key ending in {self.last_four}"

    def started_today(self, now: datetime) -> int:
        """Try-ons that a publishable key started on this day (UTC)."""
        return (self.started or 0) if self.started_on == now.astimezone(UTC).date() else 0


class Watermark(Table):
    """An account's logo and whether results carry it. There is a row once a logo has been fetched."""

    __tablename__ = "watermark"

    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), primary_key=True)
    enabled: Mapped[bool]
    logo_url: Mapped[str] = mapped_column(String(2048))
    logo: Mapped[dict[str, Any]]  # reference to the kept copy in the object store
    fetched_at: Mapped[datetime]


class AuditEntry(Table):
    """One act of an operator. Rows are only ever added; triggers refuse everything else."""

    __tablename__ = "audit_entry"
    __table_args__ = (Index("ix_audit_entry_at", "at", "id"), Index("ix_audit_entry_account", "account_id", "at"))

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    operator_id: Mapped[uuid.UUID | None]
    """Account of who did it; none for the command line. No foreign key: the log outlives accounts."""
    action: Mapped[str] = mapped_column(String(64))
    account_id: Mapped[uuid.UUID | None]  # to whose account it was done
    details: Mapped[dict[str, Any]]


class BackfillItem(Table):
    """One item by its account's own name for it. A backfill that meets a name again skips what is done."""

    __tablename__ = "backfill_item"
    __table_args__ = (
        Index("ix_backfill_item_job", "job_id"),
        Index("ix_backfill_item_touched", "touched_at"),
    )

    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    job_id: Mapped[uuid.UUID]
    """The newest job that was accepted for it. Job rows go after a while, so nothing ties the two tables."""
    backfill_id: Mapped[str] = mapped_column(String(64))  # the backfill that had this job accepted
    result_key: Mapped[str | None] = mapped_column(String(512))
    """Where the backfill keeps the picture; none until it does."""
    touched_at: Mapped[datetime]


class Job(Table):
    """One accepted try-on. The row is the truth about its outcome; the workflow about its progress."""

    __tablename__ = "job"
    __table_args__ = (
        CheckConstraint("status IN ('processing', 'completed', 'failed')", name="status"),
        # The outbox: jobs that were accepted and not yet handed to Temporal.
        Index("ix_job_unstarted", "created_at", **_where("started_at IS NULL AND status = 'processing'")),
        Index("ix_job_account_created", "account_id", "created_at"),
        # What the sweeps look for among the rows of ninety days.
        Index("ix_job_open", "created_at", **_where("status = 'processing'")),
        Index("ix_job_with_result", "expires_at", **_where("result_key IS NOT NULL")),
        Index("ix_job_finished", "finished_at"),
        # What the dashboard counts, without a look at the rows: jobs that cost something, by the day they count under.
        Index("ix_job_account_day", "account_id", "counted_on", "status", "generation_ms"),
        # Its lists of one outcome, and why jobs failed.
        Index("ix_job_account_status", "account_id", "status", "created_at", "error_code"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    api_key_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("api_key.id"))
    """Which key asked for it; none for an item of a backfill."""
    allowance_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("allowance.id"))
    """What the job's generation is taken from; none for a job of a test key, which costs nothing."""
    counted_on: Mapped[date | None]
    """The day (UTC) under whose cap it was accepted; none for a job of a test key."""
    kind: Mapped[str] = mapped_column(String(16))
    status: Mapped[str] = mapped_column(String(16))
    workflow_input: Mapped[dict[str, Any]]
    """What the workflow is started with: object references and addresses, never pictures."""
    products: Mapped[list[dict[str, Any]] | None]
    """Products that the request named: garment index, product id and revision."""
    caller_metadata: Mapped[dict[str, Any] | None] = mapped_column("metadata", JSON(none_as_null=True))
    """What the caller wants to find it by: texts by name. Nothing here reads it; SQLAlchemy has the plain name."""
    created_at: Mapped[datetime]
    deadline_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    erased_at: Mapped[datetime | None]  # when the caller had it erased
    generation_ms: Mapped[int | None]
    result_key: Mapped[str | None] = mapped_column(String(512))
    engine: Mapped[str | None] = mapped_column(String(32))
    report: Mapped[dict[str, Any] | None]
    """Stage timings, hints applied and not applied, checks: what a person asks about a job afterwards."""
    error_code: Mapped[str | None] = mapped_column(String(64))
    error_advice: Mapped[str | None] = mapped_column(String(200))
    """What the end user is told to do about it, where the step that failed knew better than the error catalogue."""


class IdempotencyKey(Table):
    """A client's own name for one POST. A row without a job is a claim: its request is being accepted."""

    __tablename__ = "idempotency_key"

    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))
    """SHA-256 over everything that makes the request this one."""
    claim: Mapped[uuid.UUID]  # who is accepting the request; only the holder may complete or give up the row
    claimed_at: Mapped[datetime] = mapped_column(index=True)
    job_id: Mapped[uuid.UUID | None]


class Login(Table):
    """What an account's owner signs in with; the address itself is the account's."""

    __tablename__ = "login"

    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), primary_key=True)
    password_hash: Mapped[str | None] = mapped_column(String(200))
    """Argon2id, with its parameters; none until the owner has chosen a password."""
    verified_at: Mapped[datetime | None]  # when the owner has shown that mail to the address arrives
    operator: Mapped[bool]  # whether the owner runs the service and sees the admin pages
    created_at: Mapped[datetime]


class LoginSession(Table):
    """A browser that is signed in, of whose cookie only a digest is kept."""

    __tablename__ = "login_session"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), index=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime] = mapped_column(index=True)
    address: Mapped[str] = mapped_column(String(45))  # where it was last seen
    user_agent: Mapped[str] = mapped_column(String(200))


class EmailToken(Table):
    """A link that was mailed, of which only a digest is kept. It goes when it is used."""

    __tablename__ = "email_token"
    __table_args__ = (CheckConstraint("purpose IN ('verify', 'reset', 'change')", name="purpose"),)

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), index=True)
    purpose: Mapped[str] = mapped_column(String(16))
    email: Mapped[str] = mapped_column(String(320))  # where it was mailed to: for a change, the new address
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class LoginThrottle(Table):
    """How often something was tried in vain for one account or from one network."""

    __tablename__ = "login_throttle"

    subject: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Digest of what is counted: an address of mail, or a network, and what was tried."""
    failures: Mapped[int]
    last_failed_at: Mapped[datetime] = mapped_column(index=True)


class TrialTaken(Table):
    """An address that had its trial. It stays when the account is erased, and tells nothing about the address."""

    __tablename__ = "trial_taken"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    taken_at: Mapped[datetime]


class Mail(Table):
    """A message to an owner, written in the transaction that it tells about."""

    __tablename__ = "mail"
    __table_args__ = (Index("ix_mail_created", "created_at"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("account.id"), index=True)
    to_address: Mapped[str] = mapped_column(String(320))
    subject: Mapped[str] = mapped_column(String(200))
    body: Mapped[str] = mapped_column(String(8000))
    """Plain text; emptied once a server has taken it, since it holds links that let people in."""
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    refused_at: Mapped[datetime | None]  # when a server said that it will never take it


class Allowance(Table):
    """A number of generations an account may spend: a trial, one period's included volume, or a top-up pack.

    The counters move by conditional updates only; the checks stand behind those.
    """

    __tablename__ = "allowance"
    __table_args__ = (
        CheckConstraint("source IN ('trial', 'included', 'topup')", name="source"),
        CheckConstraint("reserved >= 0 AND settled >= 0", name="counters"),
        CheckConstraint("reserved + settled <= generations", name="not_overspent"),
        Index("ix_allowance_account_id", "account_id"),
        # A period's volume is opened once, by whichever request comes first in it.
        Index(
            "uq_allowance_period",
            "account_id",
            "source",
            "starts_at",
            unique=True,
            **_where("source IN ('trial', 'included')"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    source: Mapped[str] = mapped_column(String(16))
    generations: Mapped[int]
    reserved: Mapped[int]  # generations of jobs in progress
    settled: Mapped[int]  # generations of completed jobs
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime | None]  # none for a top-up pack: it does not expire
    price_cents: Mapped[int]  # what was asked for it, in US cents

    @property
    def left(self) -> int:
        """Generations that can still be reserved."""
        return self.generations - self.reserved - self.settled


class DailyUsage(Table):
    """How many generations an account started on one day (UTC) and did not get back."""

    __tablename__ = "daily_usage"
    __table_args__ = (CheckConstraint("reserved >= 0 AND settled >= 0", name="counters"),)

    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    reserved: Mapped[int]
    settled: Mapped[int]


class LedgerEntry(Table):
    """One movement of generations. Rows are only ever added; triggers refuse everything else."""

    __tablename__ = "ledger"
    __table_args__ = (
        CheckConstraint("kind IN ('grant', 'topup', 'reserve', 'settle', 'release')", name="kind"),
        UniqueConstraint("job_id", "kind"),
        # An account's entries in the order they are shown.
        Index("ix_ledger_account_at", "account_id", "at"),
        # A reservation is closed once: either settled or released.
        Index("uq_ledger_job_closed", "job_id", unique=True, **_where("kind IN ('settle', 'release')")),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    allowance_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("allowance.id"), index=True)
    job_id: Mapped[uuid.UUID | None]  # no foreign key: the ledger outlives the jobs' rows
    kind: Mapped[str] = mapped_column(String(16))
    generations: Mapped[int]
    at: Mapped[datetime]


class Payment(Table):
    """One purchase: a top-up pack, or a plan. It is closed once, and a pack is credited in that transaction."""

    __tablename__ = "payment"
    __table_args__ = (
        CheckConstraint("kind IN ('topup', 'plan')", name="kind"),
        CheckConstraint("status IN ('open', 'paid', 'rejected')", name="status"),
        UniqueConstraint("provider", "reference"),
        Index("ix_payment_account_created", "account_id", "created_at"),
        Index("ix_payment_status_created", "status", "created_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    kind: Mapped[str] = mapped_column(String(16))
    generations: Mapped[int | None]  # size of the pack; none for a plan
    plan: Mapped[str | None] = mapped_column(String(32))
    price_cents: Mapped[int]  # US cents, as they were shown when it was ordered
    provider: Mapped[str] = mapped_column(String(16))
    reference: Mapped[str | None] = mapped_column(String(255))  # what the provider calls it
    status: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    closed_by: Mapped[uuid.UUID | None]
    """Account of the operator who decided, or of the owner who withdrew it; none where the provider or the command line
    did."""
    note: Mapped[str | None] = mapped_column(String(200))  # why it was rejected, for the owner
    allowance_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("allowance.id"))
    """The pack that was credited."""


class Product(Table):
    """A garment of an account's catalogue, with pictures of its own in the object store."""

    __tablename__ = "product"
    __table_args__ = (
        CheckConstraint("status IN ('active', 'archived')", name="status"),
        CheckConstraint("category IN ('upper_body', 'lower_body', 'full_body')", name="category"),
        UniqueConstraint("account_id", "external_id"),
        Index("ix_product_account_created", "account_id", "created_at", "id"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    external_id: Mapped[str | None] = mapped_column(String(128))
    """The caller's own name for it, such as a SKU."""
    name: Mapped[str] = mapped_column(String(200))
    category: Mapped[str] = mapped_column(String(16))
    garment_category: Mapped[str | None] = mapped_column(String(64))
    front: Mapped[dict[str, Any]]  # reference to the front picture in the object store
    back: Mapped[dict[str, Any] | None]
    garment_state: Mapped[str | None] = mapped_column(String(8))
    tuck_state: Mapped[str | None] = mapped_column(String(8))
    size: Mapped[str | None] = mapped_column(String(32))
    status: Mapped[str] = mapped_column(String(16))
    revision: Mapped[int]  # counts up with every change; a job notes the one it used
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class RateWindow(Table):
    """The sliding log of one caller under one policy. Losing it forgets a few requests and nothing else."""

    __tablename__ = "rate_window"

    caller_id: Mapped[uuid.UUID] = mapped_column("api_key_id", primary_key=True)
    """Who is limited: an API key, a visitor of a page with a publishable key, or an account for what its owner tries
    out in the dashboard. No foreign key: the row is written on every request. The column keeps its first name, by which
    processes of older releases know it."""
    policy: Mapped[str] = mapped_column(String(32), primary_key=True)
    stamps: Mapped[list[float]]
    """Unix times in seconds of the requests that were let through within the window, oldest first."""
    forget_at: Mapped[datetime | None]
    """When the last of them leaves the window. Not indexed: PostgreSQL can then write the row anew in place."""


class WebhookEndpoint(Table):
    """An address of an account's own that is told of events."""

    __tablename__ = "webhook_endpoint"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), index=True)
    url: Mapped[str] = mapped_column(String(2048))
    description: Mapped[str] = mapped_column(String(100))
    events: Mapped[list[str]]
    secret: Mapped[str] = mapped_column(String(64))
    """What messages are signed with. Signing needs the secret itself, so there is no digest to keep instead."""
    previous_secret: Mapped[str | None] = mapped_column(String(64))
    previous_secret_until: Mapped[datetime | None]  # until when messages are signed with that one too
    failing_since: Mapped[datetime | None]  # the first attempt that failed since one succeeded
    disabled_at: Mapped[datetime | None]
    disabled_reason: Mapped[str | None] = mapped_column(String(16))
    created_at: Mapped[datetime]

    @property
    def enabled(self) -> bool:
        """Whether messages are written for it."""
        return self.disabled_at is None


class WebhookDelivery(Table):
    """One message for one endpoint, written in the transaction that it tells about, and the attempts to deliver it."""

    __tablename__ = "webhook_delivery"
    __table_args__ = (
        CheckConstraint("status IN ('waiting', 'delivered', 'failed')", name="status"),
        Index("ix_webhook_delivery_endpoint", "endpoint_id", "created_at", "id"),
        Index("ix_webhook_delivery_due", "next_attempt_at", **_where("next_attempt_at IS NOT NULL")),
        Index("ix_webhook_delivery_job", "job_id", **_where("job_id IS NOT NULL")),
        Index("ix_webhook_delivery_created", "created_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    message_id: Mapped[uuid.UUID]  # the same for every endpoint, attempt and repeated delivery
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), index=True)
    endpoint_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("webhook_endpoint.id", ondelete="CASCADE"))
    job_id: Mapped[uuid.UUID | None]  # no foreign key: jobs' rows are kept for longer
    event: Mapped[str] = mapped_column(String(32))
    payload: Mapped[str] = mapped_column(Text)
    """The body to the letter: it is what is signed."""
    status: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[list[dict[str, Any]]]
    created_at: Mapped[datetime]
    next_attempt_at: Mapped[datetime | None]  # none once nothing more is to be done


Place = tuple[datetime, uuid.UUID]  # where a page of rows ended: when its last one was made, and its id


def beyond(
    place: Place | None, at: InstrumentedAttribute[datetime], row_id: InstrumentedAttribute[uuid.UUID], *, newer: bool
) -> list[ColumnElement[bool]]:
    """What rows of the page after ``place`` have to meet; nothing on the first page."""
    if place is None:
        return []
    return [tuple_(at, row_id) > place if newer else tuple_(at, row_id) < place]


def rows_changed(session: Session, statement: Update | Delete) -> int:
    """Carry out an update or a deletion; returns the number of rows. What the session holds of them is not renewed."""
    result = session.execute(statement.execution_options(synchronize_session=False))
    return cast("CursorResult[Any]", result).rowcount


def insert_unless_there(
    session: Session, table: type[Table], row: Mapping[str, Any]
) -> sqlite.Insert | postgresql.Insert:
    """An insert that does nothing where another transaction has just made a row that rules this one out.

    On PostgreSQL it waits for that transaction's end.
    """
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table).values(dict(row)).on_conflict_do_nothing()
    return postgresql.insert(table).values(dict(row)).on_conflict_do_nothing()
