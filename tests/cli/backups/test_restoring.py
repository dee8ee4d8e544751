"""Backups of a stack that is down, and restores, over an object store in memory; tests/stack has them in earnest."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pysqlite3.dbapi2 as fixed_sqlite
import pytest
from alembic import command
from sqlalchemy import Connection
from typer.testing import CliRunner, Result

from cli.backups.archive import ArchiveReader, read_archive
from cli.embedded import kept_environment
from cli.main import app
from domain import jobs, ledger, migrations
from domain.keys import KeyDigester, find_owner
from domain.ledger_check import check_ledger
from runtime.database import Database
from runtime.embedded.child import Child, ChildSpec, marked_environment
from runtime.embedded.lock import sole_use
from runtime.embedded.record import stack_secrets, write_environment
from runtime.object_store import MemoryObjectStore, ObjectStore, ObjectStoreUnavailableError
from runtime.settings import EMBEDDED_FILE, DatabaseSettings, Settings
from tests.factories import Caller, create_caller, create_job

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
        return Database(DatabaseSettings(url=f"sqlite+aiosqlite:///{(data_dir or self.data_dir) / 'tryon.db'}"))


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    scene = Scene(tmp_path, tmp_path / "data")

    @asynccontextmanager
    async def in_memory(_settings: Settings, data_dir: Path) -> AsyncIterator[ObjectStore]:
        yield scene.stores.setdefault(data_dir, MemoryObjectStore())

    for module in ("making", "restoring"):
        monkeypatch.setattr(f"cli.backups.{module}.store_alone", in_memory)
    scene.data_dir.mkdir()
    write_environment(scene.data_dir / EMBEDDED_FILE, kept_environment(Settings()))
    store = scene.stores[scene.data_dir] = MemoryObjectStore()
    for key in (PRODUCT, "results/x.jpg", "accounts/a/logo/l.png", "backfills/b/items/1.jsonl", "jobs/x/input/person"):
        asyncio.run(store.put(key, key.encode(), "image/png"))
    return scene


def digester(scene: Scene) -> KeyDigester:
    return KeyDigester(stack_secrets(scene.data_dir)["key_pepper"])


async def furnish(scene: Scene) -> tuple[Caller, list[uuid.UUID]]:
    """A customer with two jobs in progress, one of them in the outbox."""
    database = scene.database()
    try:
        await migrations.upgrade(database.engine)
        caller = await create_caller(database, digester(scene))
        found = [await create_job(database, caller) for _ in range(2)]
        async with database.transaction() as session:
            await jobs.mark_started(session, job_id=found[0])
    finally:
        await database.close()
    return caller, found


def tryon(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def made(scene: Scene) -> Path:
    done = tryon("backup", "create", str(scene.backup))
    assert done.exit_code == 0, done.output
    return scene.backup


@pytest.fixture
def elsewhere(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of the commands from here on, as soon as the backup is made."""
    asyncio.run(furnish(scene))
    made(scene)
    monkeypatch.setenv("TRYON_DATA_DIR", str(scene.folder / "elsewhere"))
    return scene.folder / "elsewhere"


def test_a_restored_stack_knows_its_keys_and_its_objects_and_bills_no_job_that_was_in_progress(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, open_jobs = asyncio.run(furnish(scene))
    made(scene)
    target = scene.folder / "elsewhere"
    monkeypatch.setenv("TRYON_DATA_DIR", str(target))
    done = tryon("backup", "restore", str(scene.backup))
    assert done.exit_code == 0, done.output
    assert "2 jobs were in progress; they are released and not billed" in done.output
    beside = scene.stores[target.with_name("elsewhere.restoring")]
    assert sorted(beside.objects) == ["accounts/a/logo/l.png", "backfills/b/items/1.jsonl", PRODUCT, "results/x.jpg"]
    assert beside.objects[PRODUCT] == (PRODUCT.encode(), "image/png")
    assert stack_secrets(target) == stack_secrets(scene.data_dir)
    assert (target / "secrets.json").stat().st_mode & 0o077 == 0

    async def look() -> None:
        database = scene.database(target)
        try:
            owner = await database.read(lambda session: find_owner(session, digester(scene), key=caller.key))
            assert owner is not None
            async with database.reading() as session:
                for job_id in open_jobs:
                    assert (await jobs.get_job(session, job_id=job_id)).status == jobs.FAILED
                    assert await ledger.entries_of_job(session, job_id=job_id) == ["reserve", "release"]
                assert await jobs.list_unstarted(session, older_than=timedelta(0), limit=10) == []
                assert await check_ledger(session) == []
        finally:
            await database.close()

    asyncio.run(look())
    assert "Counters, ledger and jobs agree." in tryon("ledger", "check").output


def test_what_rows_speak_of_and_the_store_has_not_is_told(scene: Scene) -> None:
    caller, (job_id, _) = asyncio.run(furnish(scene))
    del caller
    with closing(fixed_sqlite.connect(str(scene.data_dir / "tryon.db"))) as connection:
        connection.execute("UPDATE job SET result_key = 'results/gone.jpg' WHERE id = ?", (job_id.hex,))
        connection.commit()
    done = tryon("backup", "create", str(scene.backup))
    assert "1 objects that rows speak of were not in the store: results/gone.jpg" in done.output


def test_results_are_left_out_when_asked(scene: Scene) -> None:
    asyncio.run(furnish(scene))
    done = tryon("backup", "create", "--no-results", str(scene.backup))
    assert "3 objects" in done.output
    with read_archive(scene.backup) as backup:
        assert not [key for key in backup.object_keys if key.startswith("results/")]
        assert PRODUCT in backup.object_keys


@pytest.mark.parametrize("content", ["tryon.db", "notes.txt"])
def test_a_folder_that_is_not_empty_is_left_alone_or_set_aside(scene: Scene, elsewhere: Path, content: str) -> None:
    elsewhere.mkdir()
    (elsewhere / content).write_text("precious")
    refused = tryon("backup", "restore", str(scene.backup))
    assert refused.exit_code == 1
    assert "not empty" in refused.output
    assert (elsewhere / content).read_text() == "precious"
    done = tryon("backup", "restore", "--replace", str(scene.backup))
    assert done.exit_code == 0, done.output
    (aside,) = scene.folder.glob("elsewhere.before-*")
    assert (aside / content).read_text() == "precious"
    assert (elsewhere / "tryon.db").stat().st_size > 1000


def test_a_backup_that_is_not_whole_touches_nothing(scene: Scene, elsewhere: Path) -> None:
    scene.backup.write_bytes(scene.backup.read_bytes()[:-20_000])
    before = sorted(scene.folder.iterdir())
    assert tryon("backup", "restore", "--replace", str(scene.backup)).exit_code == 1
    assert sorted(scene.folder.iterdir()) == before
    assert not elsewhere.exists()


def test_a_restore_that_fails_halfway_leaves_everything_as_it_was(
    scene: Scene, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise ObjectStoreUnavailableError("the disk is full")

    elsewhere.mkdir()
    (elsewhere / "tryon.db").write_text("precious")
    with monkeypatch.context() as patched:
        patched.setattr(MemoryObjectStore, "put", full)
        failed = tryon("backup", "restore", "--replace", str(scene.backup))
    assert failed.exit_code == 1
    assert "the disk is full" in failed.output
    assert (elsewhere / "tryon.db").read_text() == "precious"
    assert [path.name for path in scene.folder.glob("elsewhere*")] == ["elsewhere"]
    # What a restore that was killed has left does not stand in the way of the next.
    (scene.folder / "elsewhere.restoring").mkdir()
    (scene.folder / "elsewhere.restoring" / "tryon.db").write_text("half")
    assert tryon("backup", "restore", "--replace", str(scene.backup)).exit_code == 0


def test_nothing_is_restored_into_a_folder_that_is_in_use(scene: Scene, elsewhere: Path) -> None:
    with sole_use(elsewhere):
        refused = tryon("backup", "restore", "--replace", str(scene.backup))
    assert refused.exit_code == 1
    assert "in use" in refused.output


@pytest.mark.parametrize("url", ["postgresql+asyncpg://tryon@db.internal/tryon", "sqlite+aiosqlite:///{}/other.db"])
def test_nothing_is_restored_beside_the_database_that_the_stack_would_use(
    scene: Scene, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("TRYON_DATABASE_URL", url.format(scene.folder))
    refused = tryon("backup", "restore", str(scene.backup))
    assert refused.exit_code == 1
    assert "TRYON_DATABASE_URL" in refused.output
    assert not (elsewhere / "tryon.db").exists()


@pytest.mark.parametrize("folder", ["elsewhere", "elsewhere/../elsewhere"])
def test_the_database_of_the_folder_may_be_named(
    scene: Scene, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.setenv("TRYON_DATABASE_URL", f"sqlite+aiosqlite:///{scene.folder}/{folder}/tryon.db")
    elsewhere.mkdir()
    done = tryon("backup", "restore", str(scene.backup))
    assert done.exit_code == 0, done.output


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


def test_a_backup_is_made_once_nothing_is_left_of_a_stack_that_was_killed(
    scene: Scene, left_over: Callable[[Path], Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(furnish(scene))
    child = left_over(scene.data_dir)
    monkeypatch.chdir(scene.folder)
    monkeypatch.setenv("TRYON_DATA_DIR", scene.data_dir.name)
    made(scene)
    assert child.exit_code is not None


def test_a_restore_stops_what_is_left_of_a_killed_stack_and_of_a_killed_restore(
    scene: Scene, elsewhere: Path, left_over: Callable[[Path], Child]
) -> None:
    elsewhere.mkdir()
    (elsewhere / "tryon.db").write_text("precious")
    children = [left_over(elsewhere), left_over(elsewhere.with_name("elsewhere.restoring"))]
    assert tryon("backup", "restore", str(scene.backup)).exit_code == 1
    assert [child.exit_code for child in children] == [None, None], "a restore that is refused changes nothing"
    assert tryon("backup", "restore", "--replace", str(scene.backup)).exit_code == 0
    assert None not in [child.exit_code for child in children]


def test_what_the_store_has_is_compared_with_one_list(
    scene: Scene, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sorting the keys again for each object takes minutes with some ten thousand."""
    asked: list[list[str]] = []
    keys = ArchiveReader.object_keys.fget
    assert keys is not None

    def counted(backup: ArchiveReader) -> list[str]:
        asked.append(keys(backup))
        return asked[-1]

    monkeypatch.setattr(ArchiveReader, "object_keys", property(counted))
    assert tryon("backup", "restore", str(scene.backup)).exit_code == 0
    assert len(asked) == 1


def test_a_store_that_loses_an_object_is_found(scene: Scene, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put = MemoryObjectStore.put

    async def forgetful(store: MemoryObjectStore, key: str, data: bytes, media_type: str) -> None:
        if key != PRODUCT:
            await put(store, key, data, media_type)

    monkeypatch.setattr(MemoryObjectStore, "put", forgetful)
    assert "does not list every object" in tryon("backup", "restore", str(scene.backup)).output
    assert not (elsewhere / "tryon.db").exists()


def at_revision(database_file: Path, revision: str) -> None:
    """An empty database as an older service left it."""

    def upgrade(connection: Connection) -> None:
        command.upgrade(migrations._config(connection), revision)

    async def run() -> None:
        database = Database(DatabaseSettings(url=f"sqlite+aiosqlite:///{database_file}"))
        async with database.engine.begin() as connection:
            await connection.run_sync(upgrade)
        await database.close()

    asyncio.run(run())


@pytest.mark.parametrize("revision", ["0001", "0002"])
def test_an_older_database_is_migrated_forward(scene: Scene, monkeypatch: pytest.MonkeyPatch, revision: str) -> None:
    at_revision(scene.data_dir / "tryon.db", revision)
    assert "by version" in tryon("backup", "check", str(made(scene))).output
    monkeypatch.setenv("TRYON_DATA_DIR", str(scene.folder / "elsewhere"))
    done = tryon("backup", "restore", str(scene.backup))
    assert done.exit_code == 0, done.output

    async def is_current() -> bool:
        database = scene.database(scene.folder / "elsewhere")
        try:
            return await migrations.is_current(database.engine)
        finally:
            await database.close()

    assert asyncio.run(is_current())


def test_a_newer_database_is_refused(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    at_revision(scene.data_dir / "tryon.db", "head")
    with closing(fixed_sqlite.connect(str(scene.data_dir / "tryon.db"))) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    made(scene)
    monkeypatch.setenv("TRYON_DATA_DIR", str(scene.folder / "elsewhere"))
    refused = tryon("backup", "restore", str(scene.backup))
    assert refused.exit_code == 1
    assert "migration 9999, which this service does not know" in " ".join(refused.output.split())
    assert not list((scene.folder / "elsewhere").glob("*.db"))


def test_without_a_stack_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    refused = tryon("backup", "create", str(tmp_path / "backup.tar"))
    assert refused.exit_code == 1
    assert "no stack has run" in refused.output


def test_a_server_is_not_backed_up_here(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_DATABASE_URL", "postgresql+asyncpg://tryon@127.0.0.1/tryon")
    refused = tryon("backup", "create", str(scene.backup))
    assert refused.exit_code == 1
    assert "docs/backup.md" in refused.output


def test_open_jobs_are_released_by_hand_only_when_nothing_runs(scene: Scene) -> None:
    asyncio.run(furnish(scene))
    assert tryon("backup", "release-open").exit_code == 1
    assert "2 jobs" in tryon("backup", "release-open", "--nothing-runs").output
    assert "0 jobs" in tryon("backup", "release-open", "--nothing-runs").output
