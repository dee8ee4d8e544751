"""A case for each test, with nothing in it that answers unless the test says so."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from cli.diagnosis.findings import Case, Finding, Stop
from runtime.database import Database
from runtime.settings import DatabaseSettings, ObjectStoreSettings, Settings, TemporalSettings
from tests.servers.processes import free_port

Look = Callable[[Case], AsyncGenerator[Finding, None]]


async def findings_of(look: Look, case: Case) -> list[Finding]:
    findings = []
    try:
        async for finding in look(case):
            findings.append(finding)  # noqa: PERF401  # what was found before it stops stays
    except Stop as stop:
        findings += stop.findings
    return findings


async def levels_of(look: Look, case: Case) -> dict[str, str]:
    """The last finding of each subject."""
    return {finding.subject: finding.level for finding in await findings_of(look, case)}


def the(findings: list[Finding], subject: str, level: str) -> Finding:
    """The finding of that kind; there has to be one."""
    return next(finding for finding in findings if (finding.subject, finding.level) == (subject, level))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Everything at addresses where nobody listens."""
    settings = Settings()
    nowhere = f"127.0.0.1:{free_port()}"
    settings.database = DatabaseSettings(url=f"sqlite:///{tmp_path}/no.db")
    settings.temporal = TemporalSettings(address=nowhere)
    settings.object_store = ObjectStoreSettings(endpoint=f"http://{nowhere}")
    return settings


@pytest.fixture
def case(settings: Settings) -> Case:
    return Case(settings)


@pytest.fixture
def own_database(own_database_url: str, settings: Settings) -> Iterator[Database]:
    """A migrated database of the test's own, which the settings name."""
    settings.database = DatabaseSettings(url=own_database_url, busy_timeout_seconds=1.5)
    with closing(Database(settings.database)) as database:
        yield database


@pytest.fixture
async def namespace(idle_temporal: Client, settings: Settings) -> Client:
    """A fresh namespace, which the settings name: no search attributes, no schedules, and nobody polls."""
    name = f"doctor-{uuid.uuid4().hex}"
    retention = RegisterNamespaceRequest(namespace=name)
    retention.workflow_execution_retention_period.FromSeconds(72 * 3600)
    await idle_temporal.workflow_service.register_namespace(retention)
    settings.temporal = TemporalSettings(address=idle_temporal.service_client.config.target_host, namespace=name)
    client = await Client.connect(
        settings.temporal.address, namespace=name, data_converter=idle_temporal.data_converter
    )
    async with asyncio.timeout(30):
        while not await _is_known(client):
            await asyncio.sleep(0.05)
    return client


async def _is_known(client: Client) -> bool:
    """Whether the server's caches know the namespace."""
    try:
        await client.count_workflows()
        [entry async for entry in await client.list_schedules()]
    except RPCError:
        return False
    return True
