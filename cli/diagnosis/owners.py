"""What owners wait for in the dashboard's tables: mail, erasures; and whether anybody may look after them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from cli.diagnosis.findings import Finding, Subject, counted
from domain import erasure
from domain.mail import mails
from domain.operation import operators
from runtime.database import Database
from runtime.settings import MailSettings
from workflows.queues import erasure_workflow_id

MAIL = Subject("mail")
ERASURES = Subject("erasures")
OPERATORS = Subject("operators")
SUBJECTS = (MAIL, ERASURES, OPERATORS)

MAIL_STUCK_AFTER = timedelta(minutes=10)
"""Whoever signs up sits there and waits; a server that says "later" (greylisting) means some minutes."""

ERASURE_STUCK_AFTER = timedelta(hours=1)
"""An erasure takes minutes, and is begun anew by the reconciler."""

MOST = 10_000
"""So many are counted; there is no need to know how many more there are."""


async def look(database: Database, settings: MailSettings) -> AsyncGenerator[Finding, None]:
    """Read the tables; nothing is written."""
    now = datetime.now(UTC)
    yield await database.read(_mail, settings, now)
    yield await database.read(_erasures, now)
    yield await database.read(_operators)


def _mail(session: Session, settings: MailSettings, now: datetime) -> Finding:
    if settings.host is None:
        kept = mails.list_waiting(session, written_before=now, limit=MOST)
        return MAIL.ok(f"{counted(len(kept), 'message')} to be read with `tryon mail list`: there is no mail server")
    late = mails.list_waiting(session, written_before=now - MAIL_STUCK_AFTER, limit=MOST)
    if late:
        minutes = f"{MAIL_STUCK_AFTER.total_seconds() / 60:.0f} minutes"
        return MAIL.error(
            f"{counted(len(late), 'message')} waiting for more than {minutes}",
            "Look at TRYON_MAIL_… of the CPU worker; its log, and the run tryon-mail-ID in Temporal, say what the "
            "server answers.",
        )
    refused = mails.count_refused(session)
    if refused:
        return MAIL.warning(
            f"{counted(refused, 'message')} of the last week refused for good by the mail server",
            "See to whom with `tryon mail list`; if it is everybody, the server does not take TRYON_MAIL_SENDER.",
        )
    return MAIL.ok("none waits, none was refused")


def _erasures(session: Session, now: datetime) -> Finding:
    stuck = erasure.list_unfinished(session, older_than=ERASURE_STUCK_AFTER, now=now, limit=MOST)
    if not stuck:
        return ERASURES.ok("no account waits to be erased")
    return ERASURES.error(
        f"{counted(len(stuck), 'account')} to be erased for more than an hour, such as {stuck[0]}",
        f"See why its run does not end: temporal workflow describe -w {erasure_workflow_id(str(stuck[0]))}",
    )


def _operators(session: Session) -> Finding:
    found = operators.list_operators(session)
    if not found:
        return OPERATORS.warning(
            "nobody sees the admin pages, so nobody approves payments there", "tryon operator add EMAIL"
        )
    return OPERATORS.ok(counted(len(found), "operator"))
