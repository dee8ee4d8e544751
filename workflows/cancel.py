"""Asking a run to stop, where its outcome is decided already."""

from __future__ import annotations

import asyncio
import contextlib

from temporalio.client import Client
from temporalio.service import RPCError


async def cancel_run(client: Client, workflow_id: str, timeout_seconds: float) -> None:
    """Ask the run to stop. Nothing depends on its being heard, so a Temporal that is away is no failure."""
    with contextlib.suppress(TimeoutError, RPCError, RuntimeError):
        await asyncio.wait_for(client.get_workflow_handle(workflow_id).cancel(), timeout_seconds)
