"""A workflow whose code breaks, as docs/temporal.md has it: found by the page's commands, healed by code that works."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from cli.diagnosis import temporal
from cli.diagnosis.findings import Case
from gateway.temporal import TemporalGateway
from runtime.embedded.servers import find_program
from runtime.settings import Settings, TemporalSettings
from tests.cli.diagnosis.conftest import findings_of, the
from tests.servers.processes import free_port
from tests.stack.page import run_block
from tests.workflows.fakes import FakeSteps, tryon_input
from workflows.contracts import TryOnInput, TryOnOutcome
from workflows.queues import CPU_QUEUE, GPU_QUEUE, SEARCH_ATTRIBUTES
from workflows.tryon import TryOnWorkflow


@workflow.defn(name="TryOnWorkflow", sandboxed=False)
class BrokenWorkflow:
    """A release with a mistake."""

    @workflow.run
    async def run(self, job: TryOnInput) -> TryOnOutcome:
        raise RuntimeError("a mistake of this release")


@pytest.fixture
async def quick_to_tell() -> AsyncIterator[Client]:
    """A server that marks a run at its first failure instead of its fifth."""
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=find_program("temporal"),
        data_converter=pydantic_data_converter,
        search_attributes=SEARCH_ATTRIBUTES,
        port=free_port(),
        dev_server_extra_args=[
            "--dynamic-config-value",
            "system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=1",
        ],
    ) as environment:
        yield environment.client


async def test_such_runs_are_found_and_go_on_with_code_that_works(quick_to_tell: Client) -> None:
    client = quick_to_tell
    address = client.service_client.config.target_host
    job = tryon_input(str(uuid.uuid4()))
    variables = {"TEMPORAL_ADDRESS": address, "TEMPORAL_NAMESPACE": client.namespace, "JOB": job.job_id}
    await TemporalGateway(client).start_tryon(job)

    with pytest.raises(RPCError):  # nobody is there to answer
        await client.get_workflow_handle_for(TryOnWorkflow.run, f"tryon-{job.job_id}").query(
            TryOnWorkflow.state, rpc_timeout=timedelta(seconds=1)
        )

    async def page() -> str:
        return await asyncio.to_thread(run_block, "Find them, and the reason", variables)

    async with Worker(client, task_queue=CPU_QUEUE, workflows=[BrokenWorkflow]), asyncio.timeout(30):
        while f"tryon-{job.job_id}" not in await temporal_list(client):
            await asyncio.sleep(0.05)
        said = await page()
    assert f"tryon-{job.job_id}" in said
    assert "a mistake of this release" in said
    settings = Settings()
    settings.temporal = TemporalSettings(address=address, namespace=client.namespace)
    stuck = the(await findings_of(temporal.look, Case(settings)), "runs", "error")
    assert stuck.sentence == "1 run whose workflow task fails over and over"

    fakes = FakeSteps()
    async with (
        Worker(client, task_queue=CPU_QUEUE, workflows=[TryOnWorkflow], activities=fakes.cpu_activities()),
        Worker(client, task_queue=GPU_QUEUE, activities=fakes.gpu_activities()),
    ):
        outcome = await client.get_workflow_handle_for(TryOnWorkflow.run, f"tryon-{job.job_id}").result()
    assert outcome.status == "completed"
    assert fakes.names.count("settle") == 1


async def temporal_list(client: Client) -> list[str]:
    return [run.id async for run in client.list_workflows(temporal.STUCK_RUNS)]
