from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update
from temporalio.testing import ActivityEnvironment

from activities.bookkeeping import BookkeepingActivities
from domain.access.keys import KeyDigester
from domain.tables import Allowance
from runtime.database import Database
from tests.factories import create_caller, create_job
from tests.memory_store import MemoryObjectStore
from workflows.contracts import LedgerCheckInput


async def test_a_counter_that_was_moved_by_hand_is_counted_and_named(
    database: Database, digester: KeyDigester, capsys: pytest.CaptureFixture[str]
) -> None:
    caller = await create_caller(database, digester)
    await create_job(database, caller)
    activities = BookkeepingActivities(database, MemoryObjectStore(), timedelta(hours=1))
    before = await ActivityEnvironment().run(activities.check_ledger, LedgerCheckInput())
    with database.transaction() as session:
        session.execute(update(Allowance).where(Allowance.account_id == caller.account_id).values(reserved=2))
    after = await ActivityEnvironment().run(activities.check_ledger, LedgerCheckInput())
    with database.transaction() as session:
        session.execute(update(Allowance).where(Allowance.account_id == caller.account_id).values(reserved=1))
    assert (before.disagreements, after.disagreements) == (0, 1)
    said = capsys.readouterr().out
    assert str(caller.account_id) in said
    assert "2 reserved" in said
