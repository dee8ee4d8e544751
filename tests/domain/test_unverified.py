from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from domain import accounts
from domain.access import keys
from domain.access.keys import KeyDigester
from domain.authentication import logins, sessions
from domain.erasure import KEPT_UNVERIFIED as KEPT
from domain.erasure import delete_unverified
from domain.mails import Letterhead
from domain.money.quota import lock_account
from domain.operation import audit, operators
from domain.operation.audit import Act
from domain.tables import Account
from runtime.database import Database
from tests.factories import PLANS
from tests.meanwhile import outcome_beside

HEAD = Letterhead("Fitting Room", "https://tryon.example")
NOW = datetime.now(UTC)


async def signed_up(database: Database, *, age: timedelta = KEPT) -> uuid.UUID:
    email = f"{uuid.uuid4().hex}@example.com"
    with database.transaction() as session:
        logins.sign_up(session, PLANS, HEAD, email=email, password_hash="$argon2id$", now=NOW - age)
        account = accounts.find_account_by_email(session, email=email)
        assert account is not None
        sessions.open_session(session, account_id=account.id, address="::1", user_agent="", now=NOW)
    return account.id


async def swept(database: Database) -> int:
    return await database.write(delete_unverified, now=NOW, limit=100)


async def is_there(database: Database, account_id: uuid.UUID) -> bool:
    with database.reading() as session:
        return session.get(Account, account_id) is not None


async def test_what_nobody_confirmed_in_a_week_is_forgotten(database: Database) -> None:
    old, young = await signed_up(database), await signed_up(database, age=KEPT - timedelta(minutes=1))
    assert await swept(database) >= 1
    assert [await is_there(database, each) for each in (old, young)] == [False, True]


@pytest.mark.parametrize("why", ["confirmed", "has a key", "is an operator", "has terms of its own", "is blocked"])
async def test_what_somebody_uses_stays(database: Database, digester: KeyDigester, why: str) -> None:
    account_id = await signed_up(database)
    with database.transaction() as session:
        if why == "confirmed":
            logins.verify(session, PLANS, digester, account_id=account_id, now=NOW)
        elif why == "has a key":
            keys.create_key(session, digester, account_id=account_id)
        elif why in ("has terms of its own", "is blocked"):
            # What an operator has decided about it, and the audit log tells of, is not undone by a sweep.
            act = Act.PLAN_CHANGED if why == "has terms of its own" else Act.ACCOUNT_BLOCKED
            audit.add_entry(session, action=act, operator_id=None, account_id=account_id, details={}, now=NOW)
        else:
            operators.set_operator(session, account_id=account_id, operator=True, now=NOW)
    await swept(database)
    assert await is_there(database, account_id)


async def test_an_account_of_the_command_line_is_nobodys_sign_up(database: Database) -> None:
    email = f"{uuid.uuid4().hex}@example.com"
    with database.transaction() as session:
        account = accounts.create_account(session, PLANS, email=email, plan="starter", now=NOW - 9 * KEPT)
        operators.set_operator(session, account_id=account.id, operator=True, now=NOW - 9 * KEPT)
        operators.set_operator(session, account_id=account.id, operator=False, now=NOW - 9 * KEPT)
    await swept(database)
    assert await is_there(database, account.id)


async def test_signing_up_again_begins_the_week_anew(database: Database) -> None:
    account_id = await signed_up(database)
    with database.transaction() as session:
        account = session.get_one(Account, account_id)
        logins.sign_up(session, PLANS, HEAD, email=account.email, password_hash="$argon2id$", now=NOW)
        assert account.plan_started_at == NOW
    await swept(database)
    assert await is_there(database, account_id)


@pytest.mark.databases("postgresql")
async def test_an_address_that_is_being_confirmed_is_passed_over(database: Database, digester: KeyDigester) -> None:
    """Who confirms it holds the account, and then asks for the login."""
    account_id = await signed_up(database)

    def hold(session: Session) -> None:
        lock_account(session, account_id=account_id)

    def confirm(session: Session) -> None:
        assert logins.verify(session, PLANS, digester, account_id=account_id, now=NOW)

    await outcome_beside(database, hold, lambda session: delete_unverified(session, now=NOW, limit=100), confirm)
    assert await is_there(database, account_id)
