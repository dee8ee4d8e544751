"""Another address for an account: asked for by its owner, confirmed from the new address, told to the old one."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy.orm import Session

from domain.access.keys import KeyDigester
from domain.accounts import find_account_by_email
from domain.authentication import email_tokens, trials
from domain.authentication.email_tokens import Purpose
from domain.mails import (
    Letterhead,
    change_asked_letter,
    change_letter,
    changed_letter,
    have_account_letter,
    write_mail,
)
from domain.money.quota import lock_account


def ask_for_change(session: Session, head: Letterhead, *, account_id: uuid.UUID, new_email: str, now: datetime) -> None:
    """Mail a link to the new address, and word of it to the present one.

    An address that has an account is told that instead, and the person who asked learns nothing of it.

    Args:
        session: A transaction.
        head: Who writes.
        account_id: Whose address is to change; its owner has shown the password.
        new_email: From `domain.authentication.email_tokens.address_to_keep`.
        now: When.
    """
    account = lock_account(session, account_id=account_id)
    if find_account_by_email(session, email=new_email) is None:
        token = email_tokens.make_token(
            session, purpose=Purpose.CHANGE, account_id=account_id, email=new_email, now=now
        )
        write_mail(session, change_letter(head, token=token), to=new_email, account_id=account_id, now=now)
    else:
        write_mail(session, have_account_letter(head), to=new_email, account_id=None, now=now)
    letter = change_asked_letter(head, new_email=new_email)
    write_mail(session, letter, to=account.email, account_id=account_id, now=now)


def change_address(session: Session, digester: KeyDigester, head: Letterhead, *, token: str, now: datetime) -> bool:
    """Carry a change out with a mailed link; says whether the link was worth anything.

    All mailed links of the account are worth nothing afterwards. The new mailbox has had its trial with this account.

    Raises:
        IntegrityError: The new address has just become somebody else's; nothing was changed.
    """
    used = email_tokens.use_up(session, purpose=Purpose.CHANGE, token=token, now=now)
    if used is None:
        return False
    account_id, new_email = used
    account = lock_account(session, account_id=account_id)
    if find_account_by_email(session, email=new_email) is not None:
        return False
    old_email, account.email = account.email, new_email
    session.flush()
    trials.take_trial(session, digester, email=new_email, now=now)
    email_tokens.drop_tokens(session, account_id=account_id)
    letter = changed_letter(head, new_email=new_email)
    write_mail(session, letter, to=old_email, account_id=account_id, now=now)
    return True
