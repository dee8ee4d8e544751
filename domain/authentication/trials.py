"""One trial for each mailbox, remembered beyond the account: as a keyed digest that tells nothing about the address."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from domain.access.keys import KeyDigester
from domain.authentication.email_addresses import mailbox_of
from domain.tables import TrialTaken, insert_unless_there


def take_trial(session: Session, digester: KeyDigester, *, email: str, now: datetime) -> bool:
    """Note that the mailbox of this address has its trial; says whether it is the first.

    Where two addresses of one mailbox are verified at the same moment, one of them is first. A mailbox that had its
    trial under a pepper that is not accepted any more is forgotten.
    """
    text = f"trial of {mailbox_of(email)}"
    if session.scalar(select(TrialTaken.digest).where(TrialTaken.digest.in_(digester.accepted(text)))):
        return False

    row = {"digest": digester.digest(text), "taken_at": now}
    statement = insert_unless_there(session, TrialTaken, row).returning(TrialTaken.digest)
    return session.execute(statement).scalar_one_or_none() is not None
