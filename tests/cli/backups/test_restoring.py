"""Restores, over an object store in memory; tests/stack has them in earnest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from cli.archive import ArchiveReader, read_archive
from domain.access.keys import find_owner
from domain.jobs import jobs
from domain.money.ledger import check_ledger
from runtime.embedded.record import sole_use, stack_secrets
from runtime.embedded.supervisor import Child
from runtime.object_store import ObjectStoreUnavailableError
from tests.cli.backups.scene import PRODUCT, Scene, digester, furnish, made, tryon
from tests.ledger_entries import entries_of_job
from tests.memory_store import MemoryObjectStore


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
    with read_archive(scene.backup) as backup:
        told = f"A restore goes back to {backup.manifest.made_at}:"
    assert told in done.output
    assert told in tryon("backup", "check", str(scene.backup)).output
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
            with database.reading() as session:
                for job_id in open_jobs:
                    assert jobs.get_job(session, job_id=job_id).status == jobs.FAILED
                    assert entries_of_job(session, job_id=job_id) == ["reserve", "release"]
                assert jobs.list_unstarted(session, older_than=timedelta(0), limit=10) == []
                assert check_ledger(session) == []
        finally:
            database.close()

    asyncio.run(look())
    assert "Counters, ledger and jobs agree." in tryon("ledger", "check").output


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


@pytest.mark.parametrize("url", ["postgresql://tryon@db.internal/tryon", "sqlite:///{}/other.db"])
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
    monkeypatch.setenv("TRYON_DATABASE_URL", f"sqlite:///{scene.folder}/{folder}/tryon.db")
    elsewhere.mkdir()
    done = tryon("backup", "restore", str(scene.backup))
    assert done.exit_code == 0, done.output


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
