"""The audit log is written with the act, read newest first, and changed by nobody."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import DBAPIError

from domain.operation import audit
from domain.operation.audit import Act
from domain.tables import AuditEntry
from runtime.database import Database

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
APPEND_ONLY = "the audit log is append-only"


async def written(database: Database, account_id: uuid.UUID, *, minutes: int = 0, note: str = "") -> None:
    await database.write(
        audit.add_entry,
        action=Act.ACCOUNT_BLOCKED,
        operator_id=None,
        account_id=account_id,
        details={"note": note},
        now=NOW + timedelta(minutes=minutes),
    )


async def notes(database: Database, account_id: uuid.UUID | None = None, *, limit: int = 100) -> list[str]:
    with database.reading() as session:
        return [row.details["note"] for row in audit.page(session, limit=limit, account_id=account_id)]


@pytest.fixture
async def account_id(database: Database) -> uuid.UUID:
    account_id = uuid.uuid4()
    await written(database, account_id, note="first")
    return account_id


async def test_an_entry_says_who_did_what_to_whom(database: Database, account_id: uuid.UUID) -> None:
    operator = uuid.uuid4()
    await database.write(
        audit.add_entry,
        action=Act.TOPPED_UP,
        operator_id=operator,
        account_id=account_id,
        details={"generations": 50, "reason": None},
        now=NOW + timedelta(minutes=1),
    )
    newest, _oldest = await database.read(audit.page, limit=10, account_id=account_id)
    assert (newest.action, newest.operator_id, newest.account_id) == ("account.topped_up", operator, account_id)
    assert newest.details == {"generations": 50, "reason": None}
    assert newest.at == NOW + timedelta(minutes=1)


async def test_an_act_that_is_undone_leaves_no_entry(database: Database, account_id: uuid.UUID) -> None:
    with pytest.raises(RuntimeError), database.transaction() as session:
        audit.add_entry(
            session, action=Act.ACCOUNT_UNBLOCKED, operator_id=None, account_id=account_id, details={}, now=NOW
        )
        session.flush()
        raise RuntimeError("the act failed")
    assert await notes(database, account_id) == ["first"]


async def test_pages_follow_each_other_newest_first_and_miss_none(own_database: Database) -> None:
    accounts = [uuid.uuid4(), uuid.uuid4()]
    for number in range(7):  # pairs at the same moment
        await written(own_database, accounts[number % 2], minutes=number // 2, note=str(number))
    assert await notes(own_database, accounts[0]) == ["6", "4", "2", "0"]
    seen: list[AuditEntry] = []
    while True:
        with own_database.reading() as session:
            after = (seen[-1].at, seen[-1].id) if seen else None
            found = audit.page(session, limit=2, after=after)
        if not found:
            break
        seen += found
    assert sorted(row.details["note"] for row in seen) == [str(number) for number in range(7)]
    assert [row.at for row in seen] == sorted((row.at for row in seen), reverse=True)


async def test_an_entry_cannot_be_changed(database: Database, account_id: uuid.UUID) -> None:
    with pytest.raises(DBAPIError, match=APPEND_ONLY), database.transaction() as session:
        session.execute(update(AuditEntry).where(AuditEntry.account_id == account_id).values(details={}))
    assert await notes(database, account_id) == ["first"]


async def test_an_entry_cannot_be_deleted(database: Database, account_id: uuid.UUID) -> None:
    with pytest.raises(DBAPIError, match=APPEND_ONLY), database.transaction() as session:
        session.execute(delete(AuditEntry).where(AuditEntry.account_id == account_id))
    assert await notes(database, account_id) == ["first"]


async def test_not_even_by_an_insert_that_meets_it(database: Database, account_id: uuid.UUID) -> None:
    meets = "INSERT INTO audit_entry SELECT * FROM audit_entry WHERE account_id = :account_id ON CONFLICT (id) "
    identifier = account_id.hex if database.engine.dialect.name == "sqlite" else account_id
    with pytest.raises(DBAPIError, match=APPEND_ONLY), database.transaction() as session:
        session.execute(text(meets + "DO UPDATE SET action = 'none'"), {"account_id": identifier})
    with database.reading() as session:
        assert session.scalar(select(AuditEntry.action).where(AuditEntry.account_id == account_id)) != "none"


async def test_the_table_cannot_be_emptied(own_database: Database) -> None:
    if own_database.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has no TRUNCATE")
    with pytest.raises(DBAPIError, match=APPEND_ONLY), own_database.transaction() as session:
        session.execute(text("TRUNCATE audit_entry"))


async def test_replacing_an_entry_is_deleting_it(database: Database, account_id: uuid.UUID) -> None:
    if database.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL has no REPLACE")
    replace = (
        "INSERT OR REPLACE INTO audit_entry (id, at, action, account_id, details) "
        "SELECT id, at, 'none', account_id, details FROM audit_entry WHERE account_id = :account_id"
    )
    with pytest.raises(DBAPIError, match=APPEND_ONLY), database.transaction() as session:
        session.execute(text(replace), {"account_id": account_id.hex})
