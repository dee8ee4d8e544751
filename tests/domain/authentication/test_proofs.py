"""What somebody may do who has shown the password, and what becomes of it when password or session go meanwhile."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from domain import erasure
from domain.access.keys import KeyDigester
from domain.authentication import email_tokens, logins, sessions
from domain.authentication.email_tokens import Purpose
from domain.authentication.logins import Credentials
from domain.mails import Letterhead
from domain.money.quota import lock_account
from domain.tables import Account, EmailToken, Login, LoginSession, Mail
from runtime.database import Database
from tests.factories import PLANS, create_caller
from tests.meanwhile import outcome_beside

HEAD = Letterhead("Fitting Room", "https://tryon.example")
NOW = datetime.now(UTC)


@dataclass(frozen=True)
class Owner:
    """Somebody who is signed in, in two browsers, and has shown the password in the first."""

    database: Database
    digester: KeyDigester
    credentials: Credentials
    email: str
    session_ids: tuple[uuid.UUID, uuid.UUID]

    @property
    def account_id(self) -> uuid.UUID:
        return self.credentials.account_id

    @property
    def shown(self) -> dict[str, Any]:
        return {"credentials": self.credentials, "session_id": self.session_ids[0]}

    def change_password(self, session: Session) -> str | None:
        return logins.change_password(session, HEAD, **self.shown, password_hash="of the new one", now=NOW)

    def ask_for_change(self, session: Session) -> bool:
        return logins.ask_for_change(session, HEAD, **self.shown, new_email=f"new-{self.email}", now=NOW)

    def reset(self, session: Session) -> None:
        token = email_tokens.make_token(
            session, purpose=Purpose.RESET, account_id=self.account_id, email=self.email, now=NOW
        )
        assert logins.reset(session, PLANS, self.digester, HEAD, token=token, password_hash="of the reset", now=NOW)

    def state(self) -> tuple[str | None, set[uuid.UUID], int, int]:
        """The hash, who is signed in, and how many letters and links there are."""
        with self.database.reading() as session:
            kept = session.get_one(Login, self.account_id).password_hash
            signed_in = set(session.scalars(select(LoginSession.id).where(LoginSession.account_id == self.account_id)))
            written, links = [
                len(session.scalars(select(table).where(table.account_id == self.account_id)).all())
                for table in (Mail, EmailToken)
            ]
        return kept, signed_in, written, links


@pytest.fixture
async def owner(database: Database, digester: KeyDigester) -> Owner:
    account_id = (await create_caller(database, digester)).account_id
    with database.transaction() as session:
        session.add(
            Login(
                account_id=account_id, password_hash="of the old one", verified_at=NOW, operator=False, created_at=NOW
            )
        )
        session.flush()
        for _ in range(2):
            sessions.open_session(session, account_id=account_id, address="2001:db8::1", user_agent="tests", now=NOW)
        email = session.get_one(Account, account_id).email
        email_tokens.make_token(session, purpose=Purpose.RESET, account_id=account_id, email=email, now=NOW)
        first, second = session.scalars(select(LoginSession.id).where(LoginSession.account_id == account_id))
        credentials = logins.find_credentials(session, email=email)
    assert credentials is not None
    return Owner(database, digester, credentials, email, (first, second))


async def test_a_new_password_leaves_this_browser_and_no_link(owner: Owner) -> None:
    token = await owner.database.write(owner.change_password)
    assert token is not None
    assert owner.state() == ("of the new one", {owner.session_ids[0]}, 1, 0)
    with owner.database.reading() as session:
        assert session.get_one(LoginSession, owner.session_ids[0]).digest == sessions.digest_of(token)


def end_this_browser(owner: Owner, session: Session) -> None:
    sessions.end_session(session, account_id=owner.account_id, session_id=owner.session_ids[0])


def hash_anew(owner: Owner, session: Session) -> None:
    session.get_one(Login, owner.account_id).password_hash = "another"


@pytest.mark.parametrize("act", [Owner.change_password, Owner.ask_for_change])
@pytest.mark.parametrize("meanwhile", [Owner.reset, end_this_browser, hash_anew])
async def test_what_was_shown_is_worth_nothing_once_password_or_session_is_gone(
    owner: Owner, act: Callable[[Owner, Session], str | bool | None], meanwhile: Callable[[Owner, Session], None]
) -> None:
    await owner.database.write(partial(meanwhile, owner))
    before = owner.state()
    assert not await owner.database.write(partial(act, owner))
    assert owner.state() == before


async def test_the_password_of_one_account_is_none_for_the_session_of_another(
    owner: Owner, database: Database, digester: KeyDigester
) -> None:
    other = (await create_caller(database, digester)).account_id
    with database.transaction() as session:
        sessions.open_session(session, account_id=other, address="2001:db8::1", user_agent="tests", now=NOW)
        theirs = session.scalars(select(LoginSession.id).where(LoginSession.account_id == other)).one()
        assert logins.lock_proven_account(session, credentials=owner.credentials, session_id=theirs) is None


@pytest.mark.databases("postgresql")
@pytest.mark.parametrize("act", [Owner.change_password, Owner.ask_for_change])
async def test_a_reset_that_is_about_to_be_committed_counts_already(
    owner: Owner, act: Callable[[Owner, Session], str | bool | None]
) -> None:
    assert not await outcome_beside(owner.database, owner.reset, partial(act, owner))
    assert owner.state() == ("of the reset", set(), 1, 0)


@pytest.mark.databases("postgresql")
async def test_signing_in_and_erasing_do_not_wait_for_each_other_for_good(owner: Owner) -> None:
    """Both take the account first, and then the login."""

    def shut(session: Session) -> None:
        account = lock_account(session, account_id=owner.account_id)
        account.email = erasure.erased_address(account.id)

    def sign_in(session: Session) -> str | None:
        return logins.sign_in(session, credentials=owner.credentials, address="::1", user_agent="tests", now=NOW)

    def delete_doors(session: Session) -> None:
        assert erasure.begin_erasure(session, account_id=owner.account_id, now=NOW)

    assert await outcome_beside(owner.database, shut, sign_in, delete_doors) is None
