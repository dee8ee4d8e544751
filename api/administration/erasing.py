"""Erasing an account: shut for good in one transaction, then everything it stored goes, by a workflow."""

from __future__ import annotations

import uuid
from datetime import datetime

import structlog
from sqlalchemy.orm import Session

from domain import accounts, erasure
from domain.access.keys import KeyDigester
from domain.authentication import throttles
from domain.operation import audit
from domain.operation.audit import Act
from gateway.calls import TemporalAwayError
from gateway.temporal import TemporalGateway
from workflows.contracts import EraseAccountInput

log = structlog.get_logger(__name__)


def begin(
    session: Session, digester: KeyDigester, *, account_id: uuid.UUID, erased_by: uuid.UUID | None, now: datetime
) -> bool:
    """Shut the account for good; once that is committed, `start` has the rest done.

    It is ``erased_by`` its owner, an operator, or, with ``None``, the command line.

    Returns:
        Whether this call did it.

    Raises:
        ValueError: There is no such account.
    """
    account = accounts.find_account(session, account_id=account_id)
    email = account.email if account is not None else ""
    begun = erasure.begin_erasure(session, account_id=account_id, now=now)
    if begun:
        throttles.forget_address(session, digester, throttles.SIGN_IN, throttles.MAIL, email=email)
        audit.add_entry(
            session, action=Act.ACCOUNT_ERASED, operator_id=erased_by, account_id=account_id, details={}, now=now
        )
    return begun


async def start(temporal: TemporalGateway, account_id: uuid.UUID) -> bool:
    """Have what the account has stored deleted, now; the reconciler does it within a minute or two otherwise.

    Returns:
        Whether Temporal has it.
    """
    try:
        await temporal.erase_account(EraseAccountInput(account_id=str(account_id)))
    except TemporalAwayError as error:
        log.warning("an erasure is left to the reconciler", account_id=str(account_id), reason=str(error)[:200])
        return False
    return True
