"""A stack that is down, and an object store in memory; tests/stack has them in earnest."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from pathlib import Path

from typer.testing import CliRunner, Result

from cli.main import app
from domain import migrations
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from runtime.database import Database
from runtime.embedded.record import stack_secrets
from runtime.settings import DatabaseSettings
from tests.factories import Caller, create_caller, create_job
from tests.memory_store import MemoryObjectStore

PRODUCT = "products/a/r/front.png"


@dataclass
class Scene:
    """A stack that is down, and the stores of all stacks by their folders."""

    folder: Path
    data_dir: Path
    stores: dict[Path, MemoryObjectStore] = field(default_factory=dict)

    @property
    def backup(self) -> Path:
        return self.folder / "backup.tar"

    def database(self, data_dir: Path | None = None) -> Database:
        return Database(DatabaseSettings(url=f"sqlite:///{(data_dir or self.data_dir) / 'tryon.db'}"))


def digester(scene: Scene) -> KeyDigester:
    return KeyDigester(stack_secrets(scene.data_dir)["key_pepper"])


async def furnish(scene: Scene) -> tuple[Caller, list[uuid.UUID]]:
    """A customer with two jobs in progress, one of them in the outbox."""
    database = scene.database()
    try:
        migrations.upgrade(database.engine)
        caller = await create_caller(database, digester(scene))
        found = [await create_job(database, caller) for _ in range(2)]
        await database.write(jobs.mark_started, job_id=found[0])
    finally:
        database.close()
    return caller, found


def tryon(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def made(scene: Scene) -> Path:
    done = tryon("backup", "create", str(scene.backup))
    assert done.exit_code == 0, done.output
    return scene.backup
