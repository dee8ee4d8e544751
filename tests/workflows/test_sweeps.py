"""The sweep of product pictures goes on page by page, within its bounds."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from workflows import steps
from workflows.contracts import SweepInput, SweepReport
from workflows.queues import CPU_QUEUE
from workflows.sweeps import PAGES, SweepProductPicturesWorkflow

FULL = SweepReport(deleted=500, more=True)


class Pages:
    """Answers with these in turn, the last one again and again, each after so many seconds."""

    def __init__(self, *answers: SweepReport, seconds: float = 0.0) -> None:
        self.asked = 0
        self._answers, self._seconds = answers, seconds

    async def swept(self, client: Client, longest: timedelta | None = None) -> SweepReport:
        async with Worker(
            client, task_queue=CPU_QUEUE, workflows=[SweepProductPicturesWorkflow], activities=[self.sweep]
        ):
            return await client.execute_workflow(
                SweepProductPicturesWorkflow.run,
                SweepInput(),
                id=uuid.uuid4().hex,
                task_queue=CPU_QUEUE,
                execution_timeout=longest,
            )

    @activity.defn(name=steps.SWEEP_PRODUCT_PICTURES.name)
    async def sweep(self, _request: SweepInput) -> SweepReport:
        await asyncio.sleep(self._seconds)
        self.asked += 1
        return self._answers[min(self.asked, len(self._answers)) - 1]


@pytest.mark.parametrize("longest", [None, timedelta(hours=1)], ids=["by hand", "by the schedule"])
async def test_a_sweep_goes_on_until_nothing_is_left(temporal: Client, longest: timedelta | None) -> None:
    pages = Pages(FULL, FULL, SweepReport(deleted=7))
    assert await pages.swept(temporal, longest) == SweepReport(deleted=1007)
    assert pages.asked == 3


async def test_a_sweep_has_so_many_pages_and_no_more(temporal: Client) -> None:
    pages = Pages(FULL)
    assert await pages.swept(temporal) == SweepReport(deleted=500 * PAGES, more=True)
    assert pages.asked == PAGES


async def test_a_sweep_begins_no_page_that_might_outlast_it(temporal: Client) -> None:
    pages = Pages(FULL, seconds=4.0)
    assert await pages.swept(temporal, timedelta(seconds=12)) == FULL
    assert pages.asked == 1
