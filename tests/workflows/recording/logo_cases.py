"""Logos: one that is set, and one that cannot be used."""

from __future__ import annotations

import uuid
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowHandle

from activities.failures import failure
from gateway.temporal import LOGO as LOGO_RUN
from tests.workflows.fakes import ref
from tests.workflows.recording.case import Activities, Case
from workflows import steps
from workflows.accounts import SetWatermarkWorkflow
from workflows.contracts import (
    FetchedLogo,
    FetchLogoInput,
    SaveWatermarkInput,
    SetWatermarkInput,
    WatermarkSetting,
)
from workflows.queues import CPU_QUEUE, watermark_workflow_id

LOGO = FetchedLogo(picture=ref("logo"), width=64, height=32)


@activity.defn(name=steps.FETCH_LOGO.name)
async def fetch_logo(_request: FetchLogoInput) -> FetchedLogo:
    return LOGO


@activity.defn(name=steps.FETCH_LOGO.name)
async def refuse_logo(_request: FetchLogoInput) -> FetchedLogo:
    raise failure("logo_not_usable", "not a picture")


@activity.defn(name=steps.SAVE_WATERMARK.name)
async def save_watermark(request: SaveWatermarkInput) -> WatermarkSetting:
    return WatermarkSetting(enabled=request.enabled, logo_url=request.logo_url, logo=request.logo)


def case(name: str, fetch: Any) -> Case:
    """A logo that is fetched like this."""

    def activities() -> Activities:
        return {CPU_QUEUE: [fetch, save_watermark]}

    async def start(client: Client) -> WorkflowHandle[Any, Any]:
        wanted = SetWatermarkInput(account_id=uuid.uuid4().hex, logo_url="https://shop.example/logo.png")
        return await client.start_workflow(
            SetWatermarkWorkflow.run,
            wanted,
            id=watermark_workflow_id(wanted.account_id),
            task_queue=CPU_QUEUE,
            execution_timeout=LOGO_RUN.longest,
        )

    return Case("SetWatermarkWorkflow", name, activities, start)


CASES = (case("set", fetch_logo), case("refused", refuse_logo))
