"""The real Temporal dev server for the length of a block."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from runtime.embedded.servers import find_program
from tests.servers.processes import free_port
from workflows.queues import SEARCH_ATTRIBUTES


@asynccontextmanager
async def running_temporal(*dynamic: str) -> AsyncIterator[Client]:
    """Yields a client of a server whose queues are polled often, so that tests do not wait for it.

    Args:
        dynamic: More values of the server's dynamic configuration.
    """
    polls = [f"history.{queue}ProcessorMaxPollRPS=2000" for queue in ("transfer", "timer", "visibility")]
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=find_program("temporal"),
        data_converter=pydantic_data_converter,
        search_attributes=SEARCH_ATTRIBUTES,
        port=free_port(),
        dev_server_extra_args=[word for value in (*polls, *dynamic) for word in ("--dynamic-config-value", value)],
    ) as environment:
        yield environment.client
