from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from domain import migrations
from domain.tables import Account, Job
from runtime.database import Database
from runtime.settings import DatabaseSettings
from tests.domain.additive import obstacles, shape_of

BEFORE_THE_RULE = "0002"
"""Up to here no two releases were ever in use side by side."""

AGREED: dict[str, list[str]] = {}
"""Revision to what it takes away although the rule says no, once no release that is in use names it any more."""


async def test_the_tables_in_the_code_are_those_of_the_migrations(database: Database) -> None:
    assert migrations.differences(database.engine) == []


async def test_upgrading_again_changes_nothing(database: Database) -> None:
    migrations.upgrade(database.engine)
    assert migrations.is_current(database.engine)


def revisions_after(connection: Connection, oldest: str) -> list[str]:
    script = ScriptDirectory.from_config(migrations._config(connection))
    newest_first = script.walk_revisions(base=oldest, head="head")
    return [revision.revision for revision in newest_first if revision.revision != oldest][::-1]


def walk(connection: Connection) -> dict[str, list[str]]:
    """Every migration under the rule, one after the other, with what old processes would stumble over."""
    command.upgrade(migrations._config(connection), BEFORE_THE_RULE)
    found = {}
    for revision in revisions_after(connection, BEFORE_THE_RULE):
        before = shape_of(connection)
        command.upgrade(migrations._config(connection), revision)
        found[revision] = obstacles(before, shape_of(connection))
    return found


async def test_old_processes_can_go_on_after_every_migration(empty_database_url: str) -> None:
    with closing(Database(DatabaseSettings(url=empty_database_url))) as database, database.engine.begin() as connection:
        found = walk(connection)
    assert found, "no migration was looked at"
    assert {revision: sentences for revision, sentences in found.items() if sentences} == AGREED, (
        "add now, and take away a release after the last code that names it: docs/versions.md"
    )


Change = Callable[[Operations], object]


def batch(change: Callable[[Any], object]) -> Change:
    def run(operations: Operations) -> None:
        with operations.batch_alter_table("thing") as table:
            change(table)

    return run


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda op: op.drop_table("thing"), ["table thing is gone"], id="table dropped"),
        pytest.param(lambda op: op.rename_table("thing", "item"), ["table thing is gone"], id="table renamed"),
        pytest.param(batch(lambda table: table.drop_column("note")), ["thing.note is gone"], id="column dropped"),
        pytest.param(
            batch(lambda table: table.alter_column("name", new_column_name="title")),
            ["thing.name is gone", "thing.title is new and has to be given"],
            id="column renamed",
        ),
        pytest.param(
            batch(lambda table: table.add_column(sa.Column("size", sa.Integer(), nullable=False))),
            ["thing.size is new and has to be given"],
            id="column that has to be given",
        ),
        pytest.param(
            batch(lambda table: table.alter_column("note", nullable=False)),
            ["thing.note may no longer be empty"],
            id="column no longer empty",
        ),
        pytest.param(
            batch(lambda table: table.alter_column("count", server_default=None)),
            ["thing.count lost its default"],
            id="default gone",
        ),
        pytest.param(
            batch(lambda table: table.alter_column("name", type_=sa.String(10))),
            ["thing.name is VARCHAR(10) and was VARCHAR(20)"],
            id="column shorter",
        ),
        pytest.param(
            batch(lambda table: table.create_unique_constraint("uq_thing_name", ["name"])),
            ["thing: name may no longer repeat"],
            id="unique",
        ),
        pytest.param(
            lambda op: op.create_index("uq_thing_note", "thing", ["note"], unique=True),
            ["thing: note may no longer repeat"],
            id="unique index",
        ),
        pytest.param(
            lambda op: op.add_column("thing", sa.Column("size", sa.Integer(), nullable=True)), [], id="column"
        ),
        pytest.param(
            lambda op: op.add_column("thing", sa.Column("size", sa.Integer(), nullable=False, server_default="0")),
            [],
            id="column with a default",
        ),
        pytest.param(batch(lambda table: table.alter_column("name", type_=sa.String(40))), [], id="column longer"),
        pytest.param(batch(lambda table: table.alter_column("name", nullable=True)), [], id="column that may be empty"),
        pytest.param(lambda op: op.create_table("other", sa.Column("id", sa.Integer())), [], id="table"),
        pytest.param(lambda op: op.create_index("ix_thing_name", "thing", ["name"]), [], id="index"),
    ],
)
async def test_what_old_processes_would_stumble_over_is_noticed(
    empty_database_url: str, change: Change, expected: list[str]
) -> None:
    def try_out(connection: Connection) -> list[str]:
        operations = Operations(MigrationContext.configure(connection))
        operations.create_table(
            "thing",
            sa.Column("id", sa.Integer(), primary_key=True),
            sa.Column("name", sa.String(20), nullable=False),
            sa.Column("note", sa.String(20), nullable=True),
            sa.Column("count", sa.Integer(), nullable=False, server_default="0"),
        )
        before = shape_of(connection)
        change(operations)
        return obstacles(before, shape_of(connection))

    with closing(Database(DatabaseSettings(url=empty_database_url))) as database, database.engine.begin() as connection:
        assert try_out(connection) == expected


async def test_codes_that_were_names_of_exceptions_become_codes(empty_database_url: str) -> None:
    account_id, now = uuid.uuid4(), datetime.now(UTC)
    codes = {uuid.uuid4(): code for code in ("RuntimeError", "person_not_found", None)}

    def migrate(connection: Connection) -> dict[uuid.UUID, str | None]:
        command.upgrade(migrations._config(connection), "0005")
        account = {"id": account_id, "email": "a@example.com", "plan": "starter"}
        connection.execute(sa.insert(Account).values(**account, plan_started_at=now, created_at=now))
        for job_id, code in codes.items():
            job = {"id": job_id, "account_id": account_id, "kind": "single", "status": "failed", "error_code": code}
            connection.execute(sa.insert(Job).values(**job, workflow_input={}, created_at=now, deadline_at=now))
        command.upgrade(migrations._config(connection), "0006")
        return {row.id: row.error_code for row in connection.execute(sa.select(Job.id, Job.error_code))}

    with closing(Database(DatabaseSettings(url=empty_database_url))) as database, database.engine.begin() as connection:
        found = migrate(connection)
    assert [found[job_id] for job_id in codes] == ["generation_failed", "person_not_found", None]
