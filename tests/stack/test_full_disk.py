"""A disk that was full and is no longer: the embedded store takes pictures again at once, not at its next look."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from cli.embedded import child_specs
from runtime.embedded.servers import WEED_OFFSETS, choose_port
from runtime.embedded.supervisor import Supervisor
from runtime.object_store import ObjectStoreUnavailableError, S3ObjectStore, waiting_at_most
from runtime.settings import ObjectStoreSettings, Settings

LOOK_SECONDS = 60
"""Between two looks of SeaweedFS at its disk."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def takes_an_object(store: S3ObjectStore) -> bool:
    try:
        with waiting_at_most(5):
            await store.put("picture", os.urandom(500_000), "image/jpeg")
    except ObjectStoreUnavailableError:
        return False
    return True


def fill(file: Path) -> None:
    with file.open("wb", buffering=0) as filling:
        try:
            while True:
                filling.write(bytes(1 << 16))
        except OSError:
            return


async def test_a_disk_that_has_room_again_is_used_within_15_seconds(small_disk: Path, tmp_path: Path) -> None:
    settings = Settings()
    port = choose_port(22_333, named=False, offsets=WEED_OFFSETS, what="tests")
    settings.object_store = ObjectStoreSettings(
        endpoint=f"http://127.0.0.1:{port}", secret_key=SecretStr("of this test")
    )
    stop, supervisor = asyncio.Event(), Supervisor(tmp_path / "logs", lambda _running, _endings: None)
    child = supervisor.start(replace(child_specs(settings, small_disk)["object-store"], stop_seconds=15))
    store = S3ObjectStore(settings.object_store)
    try:
        await child.wait_ready(60)
        watching = asyncio.create_task(supervisor.watch(stop))
        assert await takes_an_object(store)
        fill(small_disk / "other")
        full_since = time.monotonic()
        while time.monotonic() - full_since < LOOK_SECONDS + 5:  # until the store has seen it
            assert not await takes_an_object(store)
            await asyncio.sleep(5)
        (small_disk / "other").unlink()
        async with asyncio.timeout(15):
            while not await takes_an_object(store):
                await asyncio.sleep(0.2)
        stop.set()
        await watching
    finally:
        await supervisor.stop()
