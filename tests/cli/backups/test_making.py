"""Backups of a stack that is down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pysqlite3.dbapi2 as fixed_sqlite
import pytest

from cli.archive import read_archive
from runtime.embedded.supervisor import Child
from tests.cli.backups.scene import PRODUCT, Scene, furnish, made, tryon


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


def test_a_backup_is_made_once_nothing_is_left_of_a_stack_that_was_killed(
    scene: Scene, left_over: Callable[[Path], Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(furnish(scene))
    child = left_over(scene.data_dir)
    monkeypatch.chdir(scene.folder)
    monkeypatch.setenv("TRYON_DATA_DIR", scene.data_dir.name)
    made(scene)
    assert child.exit_code is not None


def test_without_a_stack_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    refused = tryon("backup", "create", str(tmp_path / "backup.tar"))
    assert refused.exit_code == 1
    assert "no stack has run" in refused.output


def test_a_server_is_not_backed_up_here(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_DATABASE_URL", "postgresql://tryon@127.0.0.1/tryon")
    refused = tryon("backup", "create", str(scene.backup))
    assert refused.exit_code == 1
    assert "docs/backup.md" in refused.output


def test_open_jobs_are_released_by_hand_only_when_nothing_runs(scene: Scene) -> None:
    asyncio.run(furnish(scene))
    assert tryon("backup", "release-open").exit_code == 1
    done = tryon("backup", "release-open", "--nothing-runs")
    assert "2 jobs" in done.output
    assert "its newest job was accepted at 20" in done.output
    assert "The bucket was not looked at" in done.output
    assert "0 jobs" in tryon("backup", "release-open", "--nothing-runs").output
