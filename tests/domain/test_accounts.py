from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from domain import accounts
from runtime.database import Database
from tests.factories import PLANS

NOW = datetime(2026, 3, 1, tzinfo=UTC)


async def test_an_address_is_one_account_in_any_spelling(database: Database) -> None:
    email = f"{uuid.uuid4().hex}@Example.com"
    account = await database.write(accounts.create_account, PLANS, now=NOW, email=f" {email} ", plan="starter")
    found = await database.read(accounts.find_account_by_email, email=email.upper())
    assert found is not None
    assert found.id == account.id


async def test_an_address_is_taken_once(database: Database) -> None:
    email = f"{uuid.uuid4().hex}@example.com"
    await database.write(accounts.create_account, PLANS, now=NOW, email=email, plan="starter")
    with pytest.raises(ValueError, match="already"), database.transaction() as session:
        accounts.create_account(session, PLANS, now=NOW, email=email, plan="starter")


@pytest.mark.parametrize(("email", "plan"), [("nobody", "starter"), ("a b@example.com", "starter"), ("a@b.c", "gold")])
async def test_what_is_no_address_or_no_plan_is_refused(database: Database, email: str, plan: str) -> None:
    with pytest.raises(ValueError, match=r"e-mail|plan"), database.transaction() as session:
        accounts.create_account(session, PLANS, now=NOW, email=email, plan=plan)
