"""Temporal: reachable, its namespace and search attributes; then its schedules and queues."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from temporalio.api.enums.v1 import IndexedValueType, NamespaceState
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetSystemInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from cli.diagnosis import queues, schedules
from cli.diagnosis.findings import Case, Finding, Subject, counted, in_one_line
from gateway.calls import TemporalAwayError, temporal_calls
from gateway.temporal import TemporalGateway
from runtime.settings import TemporalSettings
from workflows.queues import SEARCH_ATTRIBUTES

TEMPORAL = Subject("temporal")
NAMESPACE = Subject("namespace")
ATTRIBUTES = Subject("search attributes")
RUNS = Subject("runs")
NEEDING_A_NAMESPACE = (ATTRIBUTES, RUNS, schedules.SCHEDULE, queues.QUEUE)

CONNECT_SECONDS = 5.0
STUCK_RUNS = (
    "ExecutionStatus = 'Running' AND TemporalReportedProblems IN "
    "('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut')"
)
"""Runs whose workflow task fails over and over, by the attribute that Temporal itself sets on them."""

LEAST_RETENTION_HOURS = 24
"""A closed run has to be kept for longer than its job may be looked at, and for whoever asks on the next day."""


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask the Temporal of the settings."""
    settings = case.settings.temporal
    try:
        temporal = await asyncio.wait_for(TemporalGateway.connect(settings), CONNECT_SECONDS)
        client = temporal.client
        with temporal_calls():
            version = (await client.workflow_service.get_system_info(GetSystemInfoRequest())).server_version
    except (TimeoutError, TemporalAwayError) as error:
        yield TEMPORAL.error(
            f"{settings.address} does not answer: {in_one_line(error)}",
            "Look at TRYON_TEMPORAL_ADDRESS and whether the server runs: "
            f"temporal operator cluster health --address {settings.address}",
        )
        for subject in (NAMESPACE, *NEEDING_A_NAMESPACE):
            yield subject.skipped("Temporal does not answer")
        return
    yield TEMPORAL.ok(f"{version} at {settings.address}")
    namespace = await _namespace(client, settings)
    yield namespace
    if namespace.level == "error":
        for subject in NEEDING_A_NAMESPACE:
            yield subject.skipped("the namespace cannot be used")
        return
    yield await _attributes(client, settings)
    yield await _runs(client, settings)
    async for finding in schedules.look(temporal, settings):
        yield finding
    async for finding in queues.look(client):
        yield finding


def options_of(settings: TemporalSettings) -> str:
    """What the `temporal` command is told of where to ask."""
    return f"--address {settings.address} --namespace {settings.namespace}"


async def _namespace(client: Client, settings: TemporalSettings) -> Finding:
    name = settings.namespace
    try:
        found = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=name))
    except RPCError as error:
        create = f"temporal operator namespace create --address {settings.address} --namespace {name} --retention 72h"
        remedy = create if error.status == RPCStatusCode.NOT_FOUND else "Look at TRYON_TEMPORAL_API_KEY and its rights."
        return NAMESPACE.error(f"{name} cannot be used: {in_one_line(error)}", remedy)
    if found.namespace_info.state != NamespaceState.NAMESPACE_STATE_REGISTERED:
        return NAMESPACE.error(f"{name} is being deleted", "Choose another: TRYON_TEMPORAL_NAMESPACE")
    hours = found.config.workflow_execution_retention_ttl.ToTimedelta().total_seconds() / 3600
    if hours < LEAST_RETENTION_HOURS:
        return NAMESPACE.warning(
            f"{name} keeps closed runs for {hours:.0f} h only",
            f"temporal operator namespace update {options_of(settings)} --retention 72h",
        )
    return NAMESPACE.ok(f"{name}, closed runs are kept for {hours:.0f} h")


async def _runs(client: Client, settings: TemporalSettings) -> Finding:
    try:
        stuck = (await client.count_workflows(STUCK_RUNS)).count
    except RPCError as error:
        if error.status != RPCStatusCode.INVALID_ARGUMENT:
            raise
        return RUNS.skipped(f"this Temporal does not mark runs that are stuck: {in_one_line(error)}")
    if not stuck:
        return RUNS.ok("none whose workflow task fails over and over")
    return RUNS.error(
        f"{counted(stuck, 'run')} whose workflow task fails over and over",
        f'temporal workflow list {options_of(settings)} --query "{STUCK_RUNS}"; then see docs/temporal.md',
    )


async def _attributes(client: Client, settings: TemporalSettings) -> Finding:
    try:
        answer = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=settings.namespace)
        )
    except RPCError as error:
        if error.status not in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED):
            raise
        return ATTRIBUTES.skipped(f"this Temporal does not list them to us: {in_one_line(error)}")
    registered = answer.custom_attributes
    missing = [key.name for key in SEARCH_ATTRIBUTES if key.name not in registered]
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    wrong = [key.name for key in SEARCH_ATTRIBUTES if key.name not in missing and registered[key.name] != keyword]
    if missing:
        names = " ".join(f"--name {name} --type Keyword" for name in missing)
        return ATTRIBUTES.error(
            f"not registered: {', '.join(missing)}; no job can be started",
            f"temporal operator search-attribute create {options_of(settings)} {names}",
        )
    if wrong:
        return ATTRIBUTES.error(
            f"not of the type Keyword: {', '.join(wrong)}; no job can be started",
            f"temporal operator search-attribute remove {options_of(settings)} --name {wrong[0]}, then create it anew",
        )
    return ATTRIBUTES.ok(", ".join(key.name for key in SEARCH_ATTRIBUTES))
