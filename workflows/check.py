"""`CheckWorkflow`: would a job with these pictures be drawn? Nothing is drawn, billed or kept to find out."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from domain.errors import CATALOGUE, Audience, is_code
    from domain.object_keys import check_prefix
    from workflows import steps
    from workflows.contracts import (
        CheckInput,
        CleanUpCheckInput,
        ExamineInput,
        FetchedGarment,
        FetchGarmentInput,
        Finding,
        Findings,
        GarmentSource,
    )

LONGEST_CHECK = timedelta(minutes=3)
"""The steps' own budgets end a run before that."""

LONGEST_DOWNLOAD = 5.0
"""Seconds until a garment's picture counts as one that cannot be downloaded: a job tries for longer, but nobody waits
for that here. Nor for a store that is away, of which a finding would say that the shop is."""

LONGEST_FETCH = 8.0
"""Seconds for that, and for the wait for a worker and for a decoder. What takes longer is no fault of a picture."""


@workflow.defn(name="CheckWorkflow", failure_exception_types=[ValidationError])
class CheckWorkflow:
    """Fetch the garments, have the engine look at everything, delete it."""

    @workflow.run
    async def run(self, check: CheckInput) -> Findings:
        """Carry out the check. A picture that cannot be used is a finding, not a failed workflow."""
        try:
            found = await self._findings(check)
        except (Exception, asyncio.CancelledError):  # and not `finally`: a run that leaves its worker is over nowhere
            await self._clean_up(check)
            raise
        await self._clean_up(check)
        return found

    async def _findings(self, check: CheckInput) -> Findings:
        if check.rehearsal is not None:
            if check.rehearsal.delay_seconds:
                await workflow.sleep(check.rehearsal.delay_seconds)
            return Findings(findings=check.rehearsal.findings)
        fetching = [asyncio.create_task(self._fetch(check, garment)) for garment in check.garments]
        try:
            got = await asyncio.gather(*fetching)
        except (Exception, asyncio.CancelledError):
            if workflow.patched("fetches-end-first"):  # not in runs that began before version 0.6
                await steps.end(fetching)
            raise
        garments = [each for each in got if isinstance(each, FetchedGarment)]
        wanted, said = check.part(ExamineInput, garments=garments), " + ".join(each.category for each in check.garments)
        found = await steps.EXAMINE.run(wanted, said, away="raised")
        return Findings(findings=[each for each in got if isinstance(each, Finding)] + found.findings)

    async def _fetch(self, check: CheckInput, garment: GarmentSource) -> FetchedGarment | Finding:
        wanted = FetchGarmentInput(
            job_id=check.check_id,
            garment=garment,
            folder=check_prefix(check.account_id, check.check_id),
            longest_download_seconds=LONGEST_DOWNLOAD,
        )
        try:
            async with asyncio.timeout(LONGEST_FETCH):
                said = f"garment {garment.index + 1} of {len(check.garments)}"
                return await steps.FETCH_GARMENT.run(wanted, said, away="raised")
        except ActivityError as error:
            code = error.cause.type if isinstance(error.cause, ApplicationError) else None
            if is_code(code) and CATALOGUE[code].audience is not Audience.OPERATOR:
                return Finding(code=code, garment=garment.index)
            raise

    async def _clean_up(self, check: CheckInput) -> None:
        try:
            await steps.CLEAN_UP_CHECK.run(check.part(CleanUpCheckInput), "the pictures", here_first=True)
        except ActivityError:
            # What was found stands; the purge deletes what is left.
            workflow.logger.warning("clean-up failed", extra={"check_id": check.check_id})
