"""How an owner gets into the dashboard: signing up, confirming the address, signing in, another password or address.

Nothing here tells the caller whether an address has an account: what there is to say goes to the address. Hashes
are made outside of transactions (`domain.authentication.passwords`), which would hold up everybody else meanwhile.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from domain import mails
from domain.access.keys import KeyDigester
from domain.accounts import create_account, find_account_by_email, is_there
from domain.authentication import email_tokens, sessions
from domain.authentication.email_addresses import take_trial
from domain.authentication.email_tokens import Purpose
from domain.mails import Letterhead, write_mail
from domain.money.plans import PlanBook
from domain.money.quota import lock_account
from domain.tables import Account, Login, LoginSession, rows_changed


@dataclass(frozen=True)
class Credentials:
    """What a password is compared with, if one was ever chosen; and whether mail to the address is known to arrive."""

    account_id: uuid.UUID
    password_hash: str | None = field(repr=False)
    verified: bool


def trial_plan(plans: PlanBook) -> str | None:
    """The plan of a new account; ``None`` where there is no trial, and so no signing up."""
    return next((name for name, plan in plans.plans.items() if plan.trial_days is not None), None)


def find_credentials(session: Session, *, email: str) -> Credentials | None:
    """What belongs to an address, in the spelling of `domain.authentication.email_tokens.spelling`."""
    found = session.execute(
        select(Account.id, Login.password_hash, Login.verified_at)
        .join(Login, Login.account_id == Account.id)
        .where(Account.email == email, Account.erased_at.is_(None))
    )
    row = found.one_or_none()
    return None if row is None else Credentials(row.id, row.password_hash, row.verified_at is not None)


def sign_up(
    session: Session, plans: PlanBook, head: Letterhead, *, email: str, password_hash: str, now: datetime
) -> None:
    """Open an account that can do nothing until its address is confirmed, and mail the link for that.

    An address that waits for that already gets the new password and a new link. One that has an account gets a letter
    that says so.

    Raises:
        AddressTakenError: Somebody else has just signed up with this address; a second try finds that account.
        ValueError: There is no trial, so nobody can sign up.
    """
    plan = trial_plan(plans)
    if plan is None:
        raise ValueError("Sign-up is closed at the moment.")
    account = find_account_by_email(session, email=email)
    if account is None:
        account = create_account(session, plans, email=email, plan=plan, now=now)
        session.add(
            Login(account_id=account.id, password_hash=password_hash, verified_at=None, operator=False, created_at=now)
        )
        session.flush()
    else:
        account = lock_account(session, account_id=account.id)
        login = session.get(Login, account.id)
        if login is None or login.password_hash is None or login.verified_at is not None:
            write_mail(session, mails.have_account_letter(head), to=email, account_id=account.id, now=now)
            return
        login.password_hash, login.created_at = password_hash, now
        if account.plan == plan:
            account.plan_started_at = now
        sessions.end_sessions(session, account_id=account.id)
    mail_verification(session, plans, head, account=account, now=now)


def mail_verification(session: Session, plans: PlanBook, head: Letterhead, *, account: Account, now: datetime) -> None:
    """Mail a link that confirms the account's address; older ones are worth nothing from here on."""
    token = email_tokens.make_token(
        session, purpose=Purpose.VERIFY, account_id=account.id, email=account.email, now=now
    )
    plan = plans.get(account.plan)
    trial = (
        f"Your free trial: {plan.included} try-ons within {plan.trial_days} days of signing up. No card needed."
        if plan.trial_days is not None
        else ""
    )
    write_mail(
        session, mails.verify_letter(head, token=token, trial=trial), to=account.email, account_id=account.id, now=now
    )


def verify(session: Session, plans: PlanBook, digester: KeyDigester, *, account_id: uuid.UUID, now: datetime) -> bool:
    """Note that mail to the account's address arrives.

    Returns:
        Whether the trial is to be had. A mailbox has one trial, ever; for a second account it is empty.
    """
    account = lock_account(session, account_id=account_id)
    login = session.get_one(Login, account_id)
    if login.verified_at is not None:
        return account.custom_included != 0
    login.verified_at = now
    first = take_trial(session, digester, email=account.email, now=now)
    signed_up = login.password_hash is not None  # as opposed to an account that an operator has made for somebody
    if not first and signed_up and plans.get(account.plan).trial_days is not None:
        account.custom_included = 0
        return False
    return True


def sign_in(
    session: Session,
    *,
    credentials: Credentials,
    address: str,
    user_agent: str,
    now: datetime,
    new_hash: str | None = None,
) -> str | None:
    """Open a session for somebody whose password fitted.

    ``new_hash`` is of the same password under the parameters of today, where the hash was made with older ones.

    Returns:
        The token for its cookie; ``None`` if the password was changed, or the account deleted, in this very moment.
    """
    # Before the login, as everybody does; the session's foreign key would ask for it afterwards.
    account = select(Account.id).where(Account.id == credentials.account_id)
    if session.scalar(account.with_for_update(key_share=True)) is None:
        return None
    kept = credentials.password_hash if new_hash is None else new_hash
    same = (Login.account_id == credentials.account_id, Login.password_hash == credentials.password_hash)
    if not rows_changed(session, update(Login).where(*same).values(password_hash=kept)):
        return None
    return sessions.open_session(
        session, account_id=credentials.account_id, address=address, user_agent=user_agent, now=now
    )


def ask_for_reset(session: Session, head: Letterhead, *, email: str, now: datetime) -> None:
    """Mail a link for a new password, if the address has an account. One that has no login yet gets it that way."""
    account = find_account_by_email(session, email=email)
    if not is_there(account):
        return
    token = email_tokens.make_token(session, purpose=Purpose.RESET, account_id=account.id, email=account.email, now=now)
    write_mail(session, mails.reset_letter(head, token=token), to=account.email, account_id=account.id, now=now)


def reset(
    session: Session,
    plans: PlanBook,
    digester: KeyDigester,
    head: Letterhead,
    *,
    token: str,
    password_hash: str,
    now: datetime,
) -> uuid.UUID | None:
    """Set a new password with a mailed link: every browser is signed out, and the address counts as confirmed.

    The owner of a password that was there is told: somebody in the mailbox may have asked for the link.

    Returns:
        Whose password it is; ``None`` if the link is worth nothing.
    """
    used = email_tokens.use_up(session, purpose=Purpose.RESET, token=token, now=now)
    if used is None:
        return None
    account_id, email = used
    lock_account(session, account_id=account_id)
    login = session.get(Login, account_id)
    if login is None:
        login = Login(account_id=account_id, password_hash=None, verified_at=None, operator=False, created_at=now)
        session.add(login)
        session.flush()
    verify(session, plans, digester, account_id=account_id, now=now)
    if login.password_hash is not None:
        write_mail(session, mails.password_changed_letter(head), to=email, account_id=account_id, now=now)
    login.password_hash = password_hash
    email_tokens.drop_tokens(session, account_id=account_id)
    sessions.end_sessions(session, account_id=account_id)
    return account_id


def lock_proven_account(session: Session, *, credentials: Credentials, session_id: uuid.UUID) -> Account | None:
    """The account of somebody who is signed in and has shown the password, if both are still true.

    Comparing and hashing take a while, in which a reset may have set another password and ended the session. So this
    is asked in the transaction that acts on it: account, password and session stay as they are until it ends.
    """
    account = lock_account(session, account_id=credentials.account_id)
    same = (Login.account_id == account.id, Login.password_hash == credentials.password_hash)
    both = select(LoginSession.id).join(Login, Login.account_id == LoginSession.account_id)
    held = session.scalar(both.where(LoginSession.id == session_id, *same).with_for_update())
    return None if held is None else account


def change_password(
    session: Session,
    head: Letterhead,
    *,
    credentials: Credentials,
    session_id: uuid.UUID,
    password_hash: str,
    now: datetime,
) -> str | None:
    """Set a new password for somebody who is signed in and has shown the old one.

    Every other browser is signed out and every mailed link is worth nothing from here on.

    Returns:
        The new token of the session ``session_id``; ``None``, and nothing is changed, if it has ended or the password
        was changed meanwhile.
    """
    account = lock_proven_account(session, credentials=credentials, session_id=session_id)
    if account is None:
        return None
    session.get_one(Login, account.id).password_hash = password_hash
    email_tokens.drop_tokens(session, account_id=account.id)
    sessions.end_sessions(session, account_id=account.id, but=session_id)
    write_mail(session, mails.password_changed_letter(head), to=account.email, account_id=account.id, now=now)
    return sessions.renew_session(session, session_id=session_id)


def ask_for_change(
    session: Session,
    head: Letterhead,
    *,
    credentials: Credentials,
    session_id: uuid.UUID,
    new_email: str,
    now: datetime,
) -> bool:
    """Mail a link to the new address, and word of it to the present one.

    An address that has an account is told that instead, and the person who asked learns nothing of it.

    The owner has shown the password, and ``new_email`` is from `domain.authentication.email_addresses.address_to_keep`.

    Returns:
        False, and nothing is mailed, if the session has ended or the password was changed meanwhile.
    """
    account = lock_proven_account(session, credentials=credentials, session_id=session_id)
    if account is None:
        return False
    other = find_account_by_email(session, email=new_email)
    if other is None:
        token = email_tokens.make_token(
            session, purpose=Purpose.CHANGE, account_id=account.id, email=new_email, now=now
        )
        write_mail(
            session, mails.confirm_address_letter(head, token=token), to=new_email, account_id=account.id, now=now
        )
    else:
        write_mail(session, mails.have_account_letter(head), to=new_email, account_id=other.id, now=now)
    letter = mails.address_change_asked_letter(head, new_email=new_email)
    write_mail(session, letter, to=account.email, account_id=account.id, now=now)
    return True


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
    take_trial(session, digester, email=new_email, now=now)
    email_tokens.drop_tokens(session, account_id=account_id)
    letter = mails.address_changed_letter(head, new_email=new_email)
    write_mail(session, letter, to=old_email, account_id=account_id, now=now)
    return True
