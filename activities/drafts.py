"""Unfinished pictures among a job's own objects, which go when the job ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager

from temporalio import activity

from domain.object_keys import work_key
from runtime.object_store import ObjectMissingError, ObjectStore, ObjectStoreUnavailableError

DRAFT_TYPE = "application/octet-stream"


class StoredDrafts:
    """`engines.base.Drafts` in the object store, for one attempt at a job's render.

    It writes while the device goes on. After `close` nothing more is written: a step that ends when its job is over
    must not leave a picture behind that the job's clean-up has passed.
    """

    def __init__(self, store: ObjectStore, job_id: str) -> None:
        self._store = store
        self._job_id = job_id
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._open = True
        self._newest: tuple[str, bytes] | None = None
        self._writing: Future[None] | None = None

    def load(self, name: str) -> bytes | None:
        """See `engines.base.Drafts`; waits for the store."""
        return asyncio.run_coroutine_threadsafe(self._read(work_key(self._job_id, name)), self._loop).result()

    def save(self, name: str, data: bytes) -> None:
        """See `engines.base.Drafts`; of those that come while one is being written, the last is written next."""
        with self._lock:
            if not self._open:
                return
            self._newest = work_key(self._job_id, name), data
            if self._writing is None:
                self._writing = asyncio.run_coroutine_threadsafe(self._write(), self._loop)

    async def close(self) -> None:
        """Take no more, and wait for what is being written."""
        with self._lock:
            self._open = False
            writing = self._writing
        if writing is not None:
            await asyncio.wrap_future(writing)

    async def _read(self, key: str) -> bytes | None:
        try:
            return await self._store.get(key)
        except (ObjectMissingError, ObjectStoreUnavailableError):
            return None

    async def _write(self) -> None:
        while True:
            with self._lock:
                newest, self._newest = self._newest, None
                if newest is None:
                    self._writing = None
                    return
            try:
                await self._store.put(*newest, DRAFT_TYPE)
            except ObjectStoreUnavailableError as error:
                activity.logger.warning("a draft was not kept", extra={"reason": str(error)[:200]})


@asynccontextmanager
async def drafts_of(store: ObjectStore, job_id: str) -> AsyncIterator[StoredDrafts]:
    """The drafts of a job, for the length of the block."""
    drafts = StoredDrafts(store, job_id)
    try:
        yield drafts
    finally:
        await asyncio.shield(drafts.close())
