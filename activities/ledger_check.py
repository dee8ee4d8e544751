"""``check_ledger``: the proof that the money adds up, as a metric."""

from __future__ import annotations

import time

import structlog
from temporalio import activity

from domain.money.ledger import check_ledger
from runtime.database import Database
from runtime.metric_catalogue import LEDGER, LEDGER_CHECKED
from runtime.metrics import activity_meter
from workflows import steps
from workflows.contracts import LedgerCheckInput, LedgerCheckReport

log = structlog.get_logger(__name__)


class LedgerCheckActivities:
    """The scheduled step that only looks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @activity.defn(name=steps.CHECK_LEDGER.name)
    async def check_ledger(self, _request: LedgerCheckInput) -> LedgerCheckReport:
        """Recompute every balance; what disagrees is an error in the log, and the count a gauge."""
        found = await self._database.read(check_ledger)
        for each in found:
            log.error(
                "the ledger disagrees",
                account_id=str(each.account_id),
                subject=each.subject,
                counted=each.counted,
                recomputed=each.recomputed,
            )
        meter = activity_meter()
        meter.set(LEDGER, len(found))
        # The schedule goes to any worker; what another one has found earlier does not hold any more.
        meter.set(LEDGER_CHECKED, time.time())
        return LedgerCheckReport(disagreements=len(found))
