"""A worker whose places are all taken asks for nothing more; nobody is to be called out of bed for that."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import uuid
from datetime import timedelta

import httpx
import promql_parser
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from runtime.metrics import sdk_runtime
from tests.deployment import dockerfile
from tests.deployment.compose import PROJECT
from tests.observability.test_files import panels, rules, selectors
from tests.observability.test_metrics import value
from tests.servers.processes import free_port
from tests.servers.temporal import running_temporal
from workflows.queues import GPU_BULK_QUEUE, GPU_QUEUE

PLACES = 2


def asked_for(expression: str, text: str) -> float:
    """The sum of all samples that an expression of sums looks at."""
    found = list(selectors(promql_parser.parse(expression)))
    return sum(
        value(text, selector.name, **{each.name: each.value for each in selector.matchers.matchers})
        for selector in found
    )


async def test_a_gpu_worker_with_its_hands_full_is_there_and_healthy() -> None:
    async with running_temporal() as temporal:
        await full_worker(temporal)


async def full_worker(temporal: Client) -> None:
    address, going, begun = f"127.0.0.1:{free_port()}", asyncio.Event(), asyncio.Semaphore(0)

    @activity.defn
    async def render() -> None:
        begun.release()
        await going.wait()

    client = await Client.connect(
        temporal.service_client.config.target_host,
        namespace=temporal.namespace,
        runtime=sdk_runtime(address),
    )
    (alert,) = (rule["expr"] for rule in rules() if rule["alert"] == "NobodyPollsTheGpuQueue")
    (panel,) = (panel["targets"][0]["expr"] for panel in panels() if panel["title"] == "GPU workers' places")
    check = dockerfile.read(dockerfile.FILE.read_text()).health_command("worker-warp")
    check = [sys.executable, *check[1:3], f"{address}/metrics", *check[4:]]
    workers = [
        Worker(client, task_queue=queue, activities=[render], max_concurrent_activities=PLACES)
        for queue in (GPU_QUEUE, GPU_BULK_QUEUE)
    ]
    async with workers[0], workers[1]:
        handles = [
            await client.start_activity(
                render, id=str(uuid.uuid4()), task_queue=queue, start_to_close_timeout=timedelta(minutes=1)
            )
            for queue in (GPU_QUEUE, GPU_BULK_QUEUE)
            for _ in range(PLACES)
        ]
        async with asyncio.timeout(60), httpx.AsyncClient(trust_env=False) as http:
            for _ in range(2 * PLACES):
                await begun.acquire()
            while value(text := (await http.get(f"http://{address}/metrics")).text, "temporal_num_pollers"):
                await asyncio.sleep(0.05)
        try:
            assert asked_for(alert, text) == asked_for(panel, text) == PLACES
            done = await asyncio.to_thread(
                subprocess.run, check, cwd=PROJECT, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
        finally:
            going.set()
        for handle in handles:
            await handle.result()
