from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cli.embedded import kept_environment
from runtime.embedded.record import marked_environment, write_environment
from runtime.embedded.supervisor import Child, ChildSpec
from runtime.object_store import ObjectStore
from runtime.settings import EMBEDDED_FILE, Settings
from tests.cli.backups.scene import PRODUCT, Scene, furnish, made
from tests.memory_store import MemoryObjectStore


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    scene = Scene(tmp_path, tmp_path / "data")

    @asynccontextmanager
    async def in_memory(_settings: Settings, data_dir: Path) -> AsyncIterator[ObjectStore]:
        yield scene.stores.setdefault(data_dir, MemoryObjectStore())

    monkeypatch.setattr("cli.backup.store_alone", in_memory)
    scene.data_dir.mkdir()
    write_environment(scene.data_dir / EMBEDDED_FILE, kept_environment(Settings()))
    store = scene.stores[scene.data_dir] = MemoryObjectStore()
    for key in (PRODUCT, "results/x.jpg", "accounts/a/logo/l.png", "backfills/b/items/1.jsonl", "jobs/x/input/person"):
        asyncio.run(store.put(key, key.encode(), "image/png"))
    return scene


@pytest.fixture
def elsewhere(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of the commands from here on, as soon as the backup is made."""
    asyncio.run(furnish(scene))
    made(scene)
    monkeypatch.setenv("TRYON_DATA_DIR", str(scene.folder / "elsewhere"))
    return scene.folder / "elsewhere"


@pytest.fixture
def left_over(scene: Scene) -> Iterator[Callable[[Path], Child]]:
    """Starts what a supervisor that was killed has left behind in a folder."""
    started = []

    def start(data_dir: Path) -> Child:
        command = [sys.executable, "-c", "import time; time.sleep(60)"]
        child = Child(ChildSpec("api", command, never_asked, marked_environment(data_dir)), scene.folder / "left.log")
        child.start()
        started.append(child)
        return child

    yield start
    for child in started:
        asyncio.run(child.stop())


async def never_asked(_pid: int) -> None:
    raise AssertionError
