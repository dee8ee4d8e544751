"""A process that may die at any of its steps, and what it works with: nothing it does afterwards has an effect.

Dying is an exception that nobody may catch. Handlers on its way up run, but whatever they try dies again at once, so
it leaves what a kill leaves: each transaction either committed or not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from types import SimpleNamespace
from typing import Any, TypeVar

from sqlalchemy.orm import Session
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionResponse
from temporalio.client import WorkflowExecutionStatus
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from runtime.database import Database
from tests.memory_store import MemoryObjectStore

Answer = TypeVar("Answer")

RUNNING = WorkflowExecutionStatus.RUNNING


class ProcessDiedError(BaseException):
    """The process was killed here."""


class Process:
    """One life.

    Args:
        steps_left: Steps (transactions begun, about to be committed, or committed; objects; calls of Temporal) before
            it dies; ``None`` for one that lives on.
        held: Whether it stands still at its first upload until `go_on`.
    """

    def __init__(self, steps_left: int | None = None, *, held: bool = False) -> None:
        self._steps_left = steps_left
        self._free = asyncio.Event()
        self.stands_still = asyncio.Event()
        if not held:
            self._free.set()

    def step(self) -> None:
        if self._steps_left is None:
            return
        if self._steps_left == 0:
            raise ProcessDiedError
        self._steps_left -= 1

    async def wait(self) -> None:
        if not self._free.is_set():
            self.stands_still.set()
            await self._free.wait()

    def go_on(self, steps_left: int | None) -> None:
        self._steps_left = steps_left
        self._free.set()


class MortalDatabase:
    """A process's view of the database."""

    def __init__(self, process: Process, database: Database) -> None:
        self._process = process
        self._database = database

    async def write(self, work: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
        def mortal(session: Session) -> Answer:
            answer = work(session, *args, **kwargs)
            self._process.step()
            return answer

        self._process.step()
        answer = await self._database.write(mortal)
        self._process.step()
        return answer

    async def read(self, work: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
        self._process.step()
        return await self._database.read(work, *args, **kwargs)


class MortalStore:
    """A process's view of the object store."""

    def __init__(self, process: Process, store: MemoryObjectStore) -> None:
        self._process = process
        self._store = store
        self.bucket = store.bucket

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        await self._process.wait()
        self._process.step()
        await self._store.put(key, data, content_type)

    async def get(self, key: str) -> bytes:
        self._process.step()
        return await self._store.get(key)

    async def delete(self, key: str) -> None:
        self._process.step()
        await self._store.delete(key)

    async def delete_prefix(self, prefix: str) -> int:
        self._process.step()
        return await self._store.delete_prefix(prefix)


class FakeTemporal:
    """Runs by workflow id, with the rules for ids that `gateway.temporal` relies on."""

    def __init__(self) -> None:
        self.runs: dict[str, WorkflowExecutionStatus] = {}
        self.away = False

    def seen_by(self, process: Process) -> Any:
        async def start_workflow(_run: object, _job: object, *, id: str, **_options: object) -> None:
            process.step()
            if self.away:
                raise RPCError("away", RPCStatusCode.UNAVAILABLE, b"")
            if self.runs.setdefault(id, RUNNING) != RUNNING:
                raise WorkflowAlreadyStartedError(id, "TryOnWorkflow")
            process.step()

        def get_workflow_handle(id: str) -> Any:
            async def describe() -> Any:
                process.step()
                if id not in self.runs:
                    raise RPCError("unknown", RPCStatusCode.NOT_FOUND, b"")
                raw = DescribeWorkflowExecutionResponse()
                return SimpleNamespace(status=self.runs[id], raw_description=raw, typed_search_attributes={})

            async def cancel() -> None:
                process.step()
                if self.runs.get(id) == RUNNING:
                    self.runs[id] = WorkflowExecutionStatus.CANCELED

            return SimpleNamespace(describe=describe, cancel=cancel)

        return SimpleNamespace(start_workflow=start_workflow, get_workflow_handle=get_workflow_handle)


class DrivenClock:
    """Takes the place of ``datetime`` in modules that ask for the time themselves."""

    def __init__(self, start: datetime) -> None:
        self.time = start

    def now(self, _zone: tzinfo) -> datetime:
        return self.time

    def advance(self, by: timedelta) -> None:
        self.time += by
