"""Whether the money adds up, if somebody asked for that."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import closing

from sqlalchemy import make_url

from cli.diagnosis.database import missing_file
from cli.diagnosis.findings import Case, Finding, Subject, counted
from domain.money.ledger import check_ledger
from runtime.database import Database

LEDGER = Subject("ledger")


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Recompute every balance, in one reading transaction."""
    if not case.ledger:
        yield LEDGER.skipped("it is recomputed hourly; --ledger does it now")
        return
    if missing_file(make_url(case.settings.database.url)):
        yield LEDGER.skipped("there is no database")
        return
    with closing(Database(case.settings.database)) as database:
        disagreements = await database.read(check_ledger)
    if disagreements:
        yield LEDGER.error(f"{counted(len(disagreements), 'disagreement')}", "See them all: tryon ledger check")
    else:
        yield LEDGER.ok("counters, ledger and jobs agree")
