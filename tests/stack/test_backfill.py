"""What docs/operations.md says of backfills, done on a running stack with the page's own commands."""

from __future__ import annotations

import asyncio
import csv
import json
import shlex
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from api.dashboard.samples import PORTRAIT, pixels_of
from gateway.temporal import TemporalGateway
from runtime.object_store import S3ObjectStore
from tests.pictures import encoded
from tests.stack.command_line import TRYON, run_program
from tests.stack.conftest import SIDE
from tests.stack.page import OPERATIONS, WHERE, commands, run_block
from tests.stack.stack import Stack, environment, until
from tests.stack.test_jobs import books
from workflows.backfills.contracts import BackfillState
from workflows.backfills.workflow import BackfillWorkflow

FROM_A_FILE, FROM_TEMPORAL = "Start one from a file", "Start one with Temporal's own command line"
STEER, STEER_BY_TEMPORAL = "Watch and steer it", "The same with Temporal's own command line"
LEAVES = "What it leaves"
SHOP = "shop@example.com"


@pytest.fixture(scope="module")
def shop(stack: Stack) -> str:
    created = stack.tryon("account", "create", "--email", SHOP, "--plan", "growth", "--json")
    assert created.returncode == 0, created.stderr
    account_id: str = json.loads(created.stdout)["accountId"]
    return account_id


def page(stack: Stack, heading: str, folder: Path, **variables: str) -> str:
    where = commands()[WHERE]
    own = {"TRYON_DATA_DIR": str(stack.data_dir), **variables}
    return run_block(heading, own, before=where, page=OPERATIONS, folder=folder)


def forked_page(stack: Stack, heading: str, folder: Path, backfill: str) -> str:
    """The same for a block of ``tryon`` commands alone, without the seconds that each takes to be imported."""
    said = []
    for line in commands(OPERATIONS)[heading].splitlines():
        program, *words = shlex.split(line.replace("$BACKFILL", backfill))
        assert program == "tryon"
        done = run_program(TRYON, words, environment(stack.data_dir, COLUMNS="200"), folder)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        said.append(done.stdout)
    return "".join(said)


def picture(pixels: Any) -> bytes:
    return encoded(Image.fromarray(pixels).resize((SIDE, SIDE)))


def write_file(folder: Path, keys: Iterable[str]) -> None:
    (folder / "anna.jpg").write_bytes(picture(pixels_of(PORTRAIT)))
    (folder / "tee.jpg").write_bytes(picture(pixels_of("plain_tee")))
    with (folder / "items.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["key", "person", "garmentImageUrl", "category"])
        rows.writerows([key, "anna.jpg", "tee.jpg", "upper_body"] for key in keys)


def state(stack: Stack, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(stack.tryon("backfill", "show", name, "--json").stdout)
    return found


def progress(stack: Stack, name: str) -> BackfillState:
    """What `state` shows, for whoever asks again and again: starting a command takes longer than some states last."""

    async def ask() -> BackfillState:
        client = (await TemporalGateway.connect(stack.settings.temporal)).client
        return await client.get_workflow_handle_for(BackfillWorkflow.run, name).query(BackfillWorkflow.progress)

    return asyncio.run(ask())


def drawing(stack: Stack, name: str) -> bool | None:
    """Whether a job of it is being drawn; its items are accepted then, and a worker that is killed with one of these
    steps in hand would be waited for for a minute."""

    async def ask() -> bool:
        client = (await TemporalGateway.connect(stack.settings.temporal)).client
        found = await client.count_workflows(f"ParentWorkflowId = '{name}' AND TryOnStage = 'rendering'")
        return found.count > 0

    return asyncio.run(ask()) or None


def ended(stack: Stack, name: str, seconds: float = 120) -> dict[str, Any]:
    until(lambda: True if progress(stack, name).state in ("completed", "cancelled") else None, seconds)
    return state(stack, name)


def outcomes(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "pictures" / "outcomes.jsonl").read_text().splitlines()
    return {outcome["key"]: outcome for outcome in map(json.loads, lines)}


def test_every_block_of_the_page_is_run() -> None:
    assert set(commands(OPERATIONS)) == {FROM_A_FILE, FROM_TEMPORAL, STEER, STEER_BY_TEMPORAL, LEAVES}


def test_a_file_becomes_pictures_that_are_billed_once_whatever_is_killed(
    stack: Stack, shop: str, tmp_path: Path
) -> None:
    keys = [f"k{number}" for number in range(4)]
    write_file(tmp_path, keys)
    said = page(stack, FROM_A_FILE, tmp_path)
    assert "autumn checked: 4 items (people: 1, products: 0)" in said
    assert "4 generations needed" in said
    until(lambda: drawing(stack, "autumn"))
    for worker in ("worker-gpu", "worker-cpu"):
        stack.signal(worker, signal.SIGKILL)
    found = ended(stack, "autumn")
    assert (found["state"], found["completed"], found["failed"]) == ("completed", len(keys), 0)
    said = forked_page(stack, LEAVES, tmp_path, "autumn")
    assert "None failed." in said
    for key, outcome in outcomes(tmp_path).items():
        with Image.open(tmp_path / "pictures" / f"{key}.jpg") as result:
            assert result.size == (SIDE, SIDE)
        assert books(stack, outcome["jobId"])[1] == ["reserve", "settle"]

    # The same again under another name makes nothing and bills nothing.
    again = stack.tryon("backfill", "start", str(tmp_path / "items.csv"), "--account", shop, "--id", "again", "--wait")
    assert again.returncode == 0, again.stderr
    assert f"0 completed, {len(keys)} done before, 0 failed" in again.stdout
    usage = json.loads(stack.tryon("account", "usage", "--account", shop, "--json").stdout)
    assert (usage["used"], usage["reserved"]) == (len(keys), 0)


def test_temporals_own_command_line_starts_one_and_steers_it(stack: Stack, shop: str, tmp_path: Path) -> None:
    store = S3ObjectStore(stack.settings.object_store)

    async def upload() -> None:
        await store.put("backfills/winter/anna.jpg", picture(pixels_of(PORTRAIT)), "image/jpeg")
        await store.put("backfills/winter/tee.jpg", picture(pixels_of("plain_tee")), "image/jpeg")
        item = {"person": "backfills/winter/anna.jpg", "garmentImageUrl": "backfills/winter/tee.jpg"}
        lines = [{"key": f"w{number}", "category": "upper_body", **item} for number in range(40)]
        manifest = "\n".join(json.dumps({**line, "size": str(number)}) for number, line in enumerate(lines))
        await store.put("backfills/winter/manifest.jsonl", manifest.encode(), "application/jsonl")

    asyncio.run(upload())
    page(stack, FROM_TEMPORAL, tmp_path)
    until(lambda: progress(stack, "winter").in_flight or None)
    said = page(stack, STEER_BY_TEMPORAL, tmp_path, BACKFILL="winter")
    assert "TryOnWorkflow" in said
    assert state(stack, "winter")["concurrency"] == 2
    said = forked_page(stack, STEER, tmp_path, "winter")
    assert "winter" in said
    assert state(stack, "winter")["concurrency"] == 8
    assert stack.tryon("backfill", "cancel", "winter").returncode == 0
    assert ended(stack, "winter")["state"] == "cancelled"


def test_one_that_is_cancelled_bills_nothing_for_what_was_in_flight(stack: Stack, shop: str, tmp_path: Path) -> None:
    write_file(tmp_path, [f"c{number}" for number in range(40)])
    started = stack.tryon("backfill", "start", str(tmp_path / "items.csv"), "--account", shop, "--id", "spring")
    assert started.returncode == 0, started.stderr
    until(lambda: True if progress(stack, "spring").in_flight == 4 else None)
    assert stack.tryon("backfill", "cancel", "spring").returncode == 0
    found = ended(stack, "spring")
    assert found["state"] == "cancelled"
    assert found["inFlight"] == 0
    usage = json.loads(stack.tryon("account", "usage", "--account", shop, "--json").stdout)
    assert usage["reserved"] == 0
    assert stack.tryon("ledger", "check").returncode == 0


def test_bad_rows_are_named_and_nothing_is_started(stack: Stack, shop: str, tmp_path: Path) -> None:
    write_file(tmp_path, ["a", "a", "b c"])
    started = stack.tryon("backfill", "start", str(tmp_path / "items.csv"), "--account", shop, "--id", "wrong")
    assert started.returncode == 1
    assert "row 3: key: has the key of row 2." in started.stderr
    assert "row 4: key: String should match pattern" in started.stderr
    assert stack.tryon("backfill", "show", "wrong").returncode == 1
