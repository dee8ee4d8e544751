from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from domain.access.keys import KeyDigester
from domain.authentication import email_addresses, email_tokens, logins, sessions
from domain.authentication.email_tokens import Purpose
from domain.authentication.logins import Credentials
from domain.mails import Letterhead, written_in
from domain.tables import Account, Login, LoginSession, Mail
from runtime.database import Database
from tests.factories import PLANS, create_caller

HEAD = Letterhead("Fitting Room", "https://tryon.example")
NOW = datetime.now(UTC)


def new_address() -> str:
    return f"{uuid.uuid4().hex}@example.com"


async def address_of(database: Database, account_id: uuid.UUID) -> str:
    with database.reading() as session:
        return session.get_one(Account, account_id).email


async def mail_to(database: Database, email: str) -> list[Mail]:
    with database.reading() as session:
        return list(session.scalars(select(Mail).where(Mail.to_address == email)).all())


async def asked(database: Database, account_id: uuid.UUID, new_email: str, now: datetime = NOW) -> str | None:
    """The token that was mailed to the new address; the owner is signed in and has shown the password."""
    with database.transaction() as session:
        login = session.get(Login, account_id)
        if login is None:
            login = Login(account_id=account_id, password_hash="h", verified_at=NOW, operator=False, created_at=NOW)
            session.add(login)
            session.flush()
        sessions.open_session(session, account_id=account_id, address="2001:db8::1", user_agent="tests", now=now)
        session_id = session.scalars(select(LoginSession.id).where(LoginSession.account_id == account_id)).one()
        shown = Credentials(account_id, login.password_hash, verified=True)
        assert logins.ask_for_change(
            session, HEAD, credentials=shown, session_id=session_id, new_email=new_email, now=now
        )
    found = re.search(r"change-address\?token=(\S+)", (await mail_to(database, new_email))[-1].body)
    return found[1] if found else None


async def changed(database: Database, digester: KeyDigester, token: str, now: datetime = NOW) -> bool:
    return await database.write(logins.change_address, digester, HEAD, token=token, now=now)


async def test_the_new_address_confirms_and_the_old_one_is_told(database: Database, digester: KeyDigester) -> None:
    account_id, new = (await create_caller(database, digester)).account_id, new_address()
    old = await address_of(database, account_id)
    token = await asked(database, account_id, new)
    assert token is not None
    assert await address_of(database, account_id) == old
    assert [mail.subject for mail in await mail_to(database, old)] == [
        "Your address for Fitting Room is about to change"
    ]
    assert await changed(database, digester, token)
    assert await address_of(database, account_id) == new
    assert len(await mail_to(database, old)) == 2
    assert not await changed(database, digester, token)
    with database.transaction() as session:
        assert not email_addresses.take_trial(session, digester, email=new, now=NOW)


async def test_an_address_with_an_account_is_told_so_itself(database: Database, digester: KeyDigester) -> None:
    mine, theirs = [(await create_caller(database, digester)).account_id for _ in range(2)]
    taken = await address_of(database, theirs)
    assert await asked(database, mine, taken) is None
    letter = (await mail_to(database, taken))[-1]
    assert "You have an account" in letter.subject
    assert letter.account_id == theirs, "it goes when they are erased"
    assert len(await mail_to(database, await address_of(database, mine))) == 1


async def test_an_address_that_was_taken_meanwhile_changes_nothing(database: Database, digester: KeyDigester) -> None:
    accounts, new = [(await create_caller(database, digester)).account_id for _ in range(2)], new_address()
    tokens = [await asked(database, account_id, new) for account_id in accounts]
    old = await address_of(database, accounts[1])
    first, second = tokens
    assert first is not None
    assert second is not None
    assert await changed(database, digester, first)
    assert not await changed(database, digester, second)
    assert await address_of(database, accounts[1]) == old


async def test_a_link_lasts_a_day(database: Database, digester: KeyDigester) -> None:
    account_id = (await create_caller(database, digester)).account_id
    token = await asked(database, account_id, new_address())
    assert token is not None
    assert not await changed(database, digester, token, NOW + timedelta(hours=24))


async def test_a_new_password_makes_the_link_useless(database: Database, digester: KeyDigester) -> None:
    account_id = (await create_caller(database, digester)).account_id
    email = await address_of(database, account_id)

    def letters_of_a_reset() -> list[Mail]:
        with database.transaction() as session:
            reset = email_tokens.make_token(session, purpose=Purpose.RESET, account_id=account_id, email=email, now=NOW)
            assert logins.reset(session, PLANS, digester, HEAD, token=reset, password_hash="$argon2id$", now=NOW)
            return written_in(session)

    assert letters_of_a_reset() == []  # there was no password before
    token = await asked(database, account_id, new_address())
    assert token is not None
    (letter,) = letters_of_a_reset()
    assert (letter.to_address, "password" in letter.subject) == (email, True)
    assert not await changed(database, digester, token)
