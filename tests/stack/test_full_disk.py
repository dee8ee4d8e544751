"""A disk that was full and is no longer: the embedded store takes pictures again at once, not at its next look."""

from __future__ import annotations

import asyncio

import pytest

from runtime.embedded.servers import RoomRegained
from tests.stack.full_store import FullStore

LOOK_SECONDS = 60
"""Between two looks of SeaweedFS at its disk."""


async def test_a_disk_that_has_room_again_is_used_within_15_seconds(full_store: FullStore | None) -> None:
    if full_store is None:
        pytest.skip("a file system cannot be mounted here")
    room, stop = full_store.child.spec.wants_restart, asyncio.Event()
    assert isinstance(room, RoomRegained)
    watching = asyncio.create_task(full_store.supervisor.watch(stop))
    async with asyncio.timeout(LOOK_SECONDS + 15):
        while not (full_store.has_seen_it and room._was_short):
            await asyncio.sleep(0.05)
    assert not await full_store.takes_an_object()
    full_store.other.unlink()
    async with asyncio.timeout(15):
        while not await full_store.takes_an_object():
            await asyncio.sleep(0.2)
    stop.set()
    await watching
