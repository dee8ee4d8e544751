from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from domain import accounts
from domain.access.keys import KeyDigester
from domain.authentication import sessions
from domain.authentication.sessions import SignedIn
from domain.tables import Account, Login
from runtime.database import Database
from tests.factories import create_caller

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
IDLE, LONGEST = timedelta(hours=12), timedelta(days=14)


async def owner(database: Database, digester: KeyDigester, *, verified: bool = True) -> uuid.UUID:
    account_id = (await create_caller(database, digester)).account_id
    with database.transaction() as session:
        login = Login(account_id=account_id, password_hash=None, operator=False, created_at=NOW)
        login.verified_at = NOW if verified else None
        session.add(login)
    return account_id


async def opened(database: Database, account_id: uuid.UUID, at: datetime = NOW) -> str:
    return await database.write(
        sessions.open_session, account_id=account_id, address="2001:db8::1", user_agent="x" * 999, now=at
    )


async def found(database: Database, token: str, at: datetime = NOW) -> SignedIn | None:
    return await database.read(
        lambda session: sessions.find_session(session, token=token, now=at, idle=IDLE, longest=LONGEST)
    )


async def test_a_token_finds_its_owner_and_nothing_else_does(database: Database, digester: KeyDigester) -> None:
    account_id = await owner(database, digester)
    token = await opened(database, account_id)
    signed_in = await found(database, token)
    assert signed_in is not None
    assert (signed_in.account_id, signed_in.verified, signed_in.operator) == (account_id, True, False)
    assert signed_in.blocked_reason is None
    assert await found(database, token[:-1]) is None
    assert await found(database, sessions.digest_of(token)) is None


async def test_a_session_ends_when_idle_and_after_its_longest_time(database: Database, digester: KeyDigester) -> None:
    token = await opened(database, await owner(database, digester))
    assert await found(database, token, NOW + IDLE) is None
    at = NOW
    while at < NOW + LONGEST - IDLE:
        at += IDLE - timedelta(minutes=1)
        seen = await found(database, token, at)
        assert seen is not None
        session_id, now = seen.session_id, at
        await database.write(
            lambda session, session_id=session_id, now=now: sessions.note_seen(  # type: ignore[misc]
                session, session_id=session_id, address="192.0.2.1", now=now
            )
        )
    assert await found(database, token, NOW + LONGEST) is None


async def test_what_the_owner_became_is_told_at_once(database: Database, digester: KeyDigester) -> None:
    account_id = await owner(database, digester, verified=False)
    token = await opened(database, account_id)
    signed_in = await found(database, token)
    assert signed_in is not None
    assert not signed_in.verified
    with database.transaction() as session:
        accounts.block_account(session, account_id=account_id, reason="Unpaid.", now=NOW)
        session.get_one(Login, account_id).operator = True
    signed_in = await found(database, token)
    assert signed_in is not None
    assert (signed_in.blocked_reason, signed_in.operator) == ("Unpaid.", True)
    with database.transaction() as session:
        session.get_one(Account, account_id).erased_at = NOW
    assert await found(database, token) is None


async def test_sessions_are_ended_one_by_one_and_all_others(database: Database, digester: KeyDigester) -> None:
    account_id, stranger = await owner(database, digester), await owner(database, digester)
    mine, second, third = [await opened(database, account_id, NOW + timedelta(seconds=each)) for each in range(3)]
    listed = await database.read(sessions.list_sessions, account_id=account_id, now=NOW, idle=IDLE, longest=LONGEST)
    ids = [each.id for each in listed]
    assert len(ids) == 3
    with database.transaction() as session:
        assert not sessions.end_session(session, account_id=stranger, session_id=ids[0])
        assert sessions.end_session(session, account_id=account_id, session_id=ids[0])
    assert await found(database, third) is None
    with database.transaction() as session:
        assert sessions.end_sessions(session, account_id=account_id, but=ids[2]) == 1
    assert await found(database, second) is None
    assert await found(database, mine) is not None
    await database.write(sessions.end_session_of, token=mine)
    assert await found(database, mine) is None


async def test_a_renewed_session_has_another_token(database: Database, digester: KeyDigester) -> None:
    token = await opened(database, await owner(database, digester))
    signed_in = await found(database, token)
    assert signed_in is not None
    with database.transaction() as session:
        renewed = sessions.renew_session(session, session_id=signed_in.session_id)
        assert sessions.renew_session(session, session_id=uuid.uuid4()) is None
    assert renewed is not None
    assert await found(database, token) is None
    again = await found(database, renewed)
    assert again is not None
    assert again.session_id == signed_in.session_id


async def test_what_is_over_under_any_setting_is_deleted(database: Database, digester: KeyDigester) -> None:
    account_id = await owner(database, digester)
    old, young = await opened(database, account_id, NOW - timedelta(days=15)), await opened(database, account_id)
    await database.write(sessions.delete_over, now=NOW)
    listed = [await found(database, token, NOW - timedelta(days=15)) for token in (old, young)]
    assert [each is not None for each in listed] == [False, True]


async def test_beyond_as_many_as_anybody_needs_the_longest_unused_ends(
    database: Database, digester: KeyDigester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 3)
    account_id, other = await owner(database, digester), await owner(database, digester)
    others = await opened(database, other, NOW - timedelta(hours=1))
    tokens = [await opened(database, account_id, NOW + timedelta(minutes=minute)) for minute in range(5)]
    in_use = [await found(database, token, NOW + timedelta(minutes=5)) is not None for token in tokens]
    assert in_use == [False, False, True, True, True]
    assert await found(database, others) is not None
