"""An embedded store whose disk somebody has filled, ready before the test that needs it.

SeaweedFS looks at its disk once a minute. The store is filled as the session begins, and other tests have their turn
until it has seen that.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import SecretStr

from cli.embedded import child_specs
from runtime.embedded.servers import WEED_OFFSETS, choose_port
from runtime.embedded.supervisor import Child, Supervisor
from runtime.object_store import ObjectStoreUnavailableError, S3ObjectStore, waiting_at_most
from runtime.settings import ObjectStoreSettings, Settings


@dataclass
class FullStore:
    """A store that nobody watches yet.

    Attributes:
        other: The file that fills its disk.
    """

    client: S3ObjectStore
    supervisor: Supervisor
    child: Child
    other: Path

    async def takes_an_object(self) -> bool:
        try:
            with waiting_at_most(5):
                await self.client.put("picture", os.urandom(500_000), "image/jpeg")
        except ObjectStoreUnavailableError:
            return False
        return True

    @property
    def has_seen_it(self) -> bool:
        """Whether the store knows that its disk is full."""
        return "< required" in self.child.log_file.read_text()


@asynccontextmanager
async def filled_store(folder: Path) -> AsyncIterator[FullStore | None]:
    """Nothing where a file system of its own cannot be mounted."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    settings = Settings(folder / "none.env")
    port = choose_port(22_333, named=False, offsets=WEED_OFFSETS, what="tests")
    settings.object_store = ObjectStoreSettings(
        endpoint=f"http://127.0.0.1:{port}", secret_key=SecretStr("of this test")
    )
    supervisor = Supervisor(folder / "logs", lambda _running, _endings: None)
    child = supervisor.start(replace(child_specs(settings, disk)["object-store"], stop_seconds=15))
    store = FullStore(S3ObjectStore(settings.object_store), supervisor, child, disk / "other")
    try:
        await child.wait_ready(60)
        assert await store.takes_an_object()
        fill(store.other)
        yield store
    finally:
        await supervisor.stop()
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(file: Path) -> None:
    with file.open("wb", buffering=0) as filling:
        try:
            while True:
                filling.write(bytes(1 << 16))
        except OSError:
            return
