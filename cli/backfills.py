"""``tryon backfill``: many try-ons at once, started, watched and steered from the command line.

Pictures that lie beside the file are uploaded, and its rows rewritten to name them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import typer
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from cli.answers import AsJson, fail, show
from cli.service import AccountName, Service
from domain.errors import sentence_of
from domain.object_keys import (
    BACKFILLS,
    FAILURES,
    PROGRESS,
    backfill_key,
    backfill_picture_key,
    backfill_prefix,
)
from gateway.calls import AlreadyRunningError, RunFailedError, RunNotFoundError, TemporalAwayError
from gateway.temporal import TemporalGateway
from imaging.errors import ImageError
from imaging.limits import ImageLimits
from imaging.opening import inspect_image
from intake.backfills import Problem, WholeItems, read_rows, sentences_of, whole_items
from intake.job import naming
from intake.pages import CONTENT_TYPE, lines_of, read_outcomes
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError, S3ObjectStore
from workflows.backfills.contracts import (
    LARGEST_WINDOW,
    BackfillInput,
    BackfillReport,
    BackfillState,
    ItemDefaults,
    ItemGarment,
    ItemOutcome,
)

Fields = TypeVar("Fields", bound=ItemGarment)

PICTURES = ("garment_image_url", "garment_back_image_url", "person")  # fields that may be paths


def read_backfill_file(
    file: Path, defaults: ItemDefaults, backfill_id: str, limits: ImageLimits
) -> tuple[WholeItems, dict[str, tuple[Path, str]]]:
    """Judge every row, with keys in place of paths, which are relative to the file or absolute.

    Returns:
        The items; and what has to be uploaded, a file and its type by key.
    """
    uploads: dict[str, tuple[Path, str]] = {}

    @cache
    def key_of(field: str, value: str | None) -> str | None:
        if value is None or value.startswith((BACKFILLS, "https:", "http:")):
            return value
        path = file.parent / value
        try:
            data = path.read_bytes()
            media_type = inspect_image(data, limits)
        except OSError as error:
            raise ValueError(f"{field}: {path} cannot be read ({error.strerror}).") from None
        except ImageError as error:
            raise ValueError(f"{naming(field, error).sentence} ({path})") from None
        key = backfill_picture_key(backfill_id, hashlib.sha256(data).hexdigest())
        uploads[key] = (path, media_type)
        return key

    def with_keys(fields: Fields) -> Fields:
        named = {name: getattr(fields, name) for name in PICTURES if hasattr(fields, name)}
        return fields.model_copy(update={name: key_of(to_camel(name), value) for name, value in named.items()})

    rows, problems = read_rows(file.read_bytes()), []
    try:
        stored_defaults = with_keys(defaults)
    except ValueError as error:
        return WholeItems(problems=[Problem(0, f"defaults: {error}")]), uploads
    moved = []
    for row, item in rows.items:
        try:
            own = with_keys(item)
            garments = [with_keys(garment) for garment in item.garments]
            moved.append((row, own.model_copy(update={"garments": garments})))
        except ValueError as error:
            problems.append(Problem(row, str(error)))
    whole = whole_items(moved, stored_defaults)
    whole.problems = sorted([*rows.problems, *problems, *whole.problems], key=lambda problem: problem.row)
    return whole, uploads


app = typer.Typer(no_args_is_help=True, help="Many try-ons at once. Needs Temporal and the CPU worker.")

Wait = Annotated[bool, typer.Option("--wait", help="Return when it has ended.")]
BackfillName = Annotated[str, typer.Argument(help="The backfill's id, which is its workflow id.")]

WATCH_SECONDS = 2.0


@contextmanager
def opened_service() -> Iterator[Service]:
    """The service for one command; an error that an operator can mend becomes one sentence and exit code 1."""
    try:
        yield Service()
    except RunNotFoundError:
        fail("There is no backfill with this id.")
    except ObjectMissingError as error:
        fail(f"there is no object {error}")
    except (RunFailedError, TemporalAwayError, ValueError, ObjectStoreUnavailableError) as error:
        fail(str(error))


@app.command("start")
def start(
    *,
    file: Annotated[Path, typer.Argument(help="CSV or JSONL; pictures by paths, keys or addresses.", exists=True)],
    account: AccountName,
    backfill_id: Annotated[str | None, typer.Option("--id", help="Its id; made up if not given.")] = None,
    default: Annotated[list[str] | None, typer.Option(help="name=value for rows that leave the field empty.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=LARGEST_WINDOW, help="Items in flight at a time.")] = 4,
    priority: Annotated[int, typer.Option(min=1, max=5, help="1 goes first; jobs that people wait for have 2.")] = 4,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check the file and say what it would use.")] = False,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Start a backfill from a file. Rows that were done before under the same key are skipped."""
    name = backfill_id or made_up_id()
    pairs = [text.partition("=") for text in default or []]

    async def upload_and_start(temporal: TemporalGateway) -> None:
        for key, (path, content_type) in uploads.items():
            await service.store.put(key, await asyncio.to_thread(path.read_bytes), content_type)
        manifest = f"{backfill_prefix(name)}manifest.jsonl"
        await service.store.put(manifest, lines_of(found.items), CONTENT_TYPE)
        backfill = BackfillInput(
            account=account, manifest=manifest, concurrency=concurrency, priority=priority, dry_run=dry_run
        )
        await _start(temporal, name, backfill, wait=wait or dry_run, as_json=as_json)

    with opened_service() as service:
        try:
            defaults = ItemDefaults.model_validate({name: value for name, _, value in pairs})
        except ValidationError as error:
            raise typer.BadParameter("; ".join(sentences_of(error)), param_hint="--default") from None
        found, uploads = read_backfill_file(file, defaults, name, service.settings.images.limits())
        if found.problems or not found.items:
            for problem in found.problems:
                typer.echo(str(problem), err=True)
            fail(f"{len(found.items)} rows are good, {len(found.problems)} problems; nothing was started.")
        service.ask_temporal(upload_and_start)


@app.command("retry")
def retry(
    name: BackfillName,
    backfill_id: Annotated[str | None, typer.Option("--id", help="Id of the new one.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=LARGEST_WINDOW)] = 4,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Start a backfill of the items that failed in another one."""

    async def start_anew(temporal: TemporalGateway) -> None:
        manifest = backfill_key(name, FAILURES)
        if not await service.store.get(manifest):
            raise ValueError(f"nothing failed in {name}")
        progress = json.loads(await service.store.get(backfill_key(name, PROGRESS)))["progress"]
        backfill = BackfillInput(account=progress["accountId"], manifest=manifest, concurrency=concurrency)
        await _start(temporal, backfill_id or made_up_id(), backfill, wait=wait, as_json=as_json)

    with opened_service() as service:
        service.ask_temporal(start_anew)


@app.command("list")
def list_backfills(as_json: AsJson = False) -> None:
    """Every backfill that Temporal still knows, newest first."""

    async def tell(temporal: TemporalGateway) -> None:
        async for run in temporal.backfills():
            facts = {"id": run.backfill_id, "status": run.status, "stage": run.stage}
            show(facts, f"{run.backfill_id:<40} {run.status:<12} {run.stage}", as_json=as_json)

    with opened_service() as service:
        service.ask_temporal(tell)


@app.command("show")
def show_progress(
    name: BackfillName,
    watch: Annotated[bool, typer.Option("--watch", help="Repeat until it has ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the progress of a backfill."""

    async def tell(temporal: TemporalGateway) -> None:
        while True:
            state, running = await temporal.backfill_state(name)
            typer.echo(state.model_dump_json(by_alias=True) if as_json else line_of(state))
            if not watch or not running:
                return
            await asyncio.sleep(WATCH_SECONDS)

    with opened_service() as service:
        service.ask_temporal(tell)


@app.command("pause")
def pause(name: BackfillName) -> None:
    """Start no more items; those in flight continue."""
    _steer(name, "pause")


@app.command("resume")
def resume(name: BackfillName) -> None:
    """Continue after a pause, or after the account ran out of try-ons."""
    _steer(name, "resume")


@app.command("cancel")
def cancel(name: BackfillName) -> None:
    """End it; items in flight are cancelled and not billed."""
    _steer(name, "cancel")


def _steer(name: str, signal: Literal["pause", "resume", "cancel"]) -> None:
    with opened_service() as service:
        service.ask_temporal(lambda temporal: temporal.steer_backfill(name, signal))
    typer.echo(f"{signal}: {name} was told.")


@app.command("concurrency")
def set_concurrency(name: BackfillName, concurrency: Annotated[int, typer.Argument(min=1, max=LARGEST_WINDOW)]) -> None:
    """Change how many items may be in flight."""
    with opened_service() as service:
        state = service.ask_temporal(lambda temporal: temporal.set_backfill_concurrency(name, concurrency))
    typer.echo(line_of(state))


@app.command("failures")
def failures(name: BackfillName, as_json: AsJson = False) -> None:
    """Items that have failed so far, and why."""
    with opened_service() as service:
        outcomes = asyncio.run(_outcomes(service.store, name))
    counted = Counter[str]()
    for outcome in outcomes:
        if outcome.status == "failed":
            code = outcome.error_code or ""
            text = f"{outcome.key or outcome.number}  {code}  {sentence_of(code)}"
            typer.echo(outcome.model_dump_json(by_alias=True) if as_json else text)
            counted[code] += 1
    if not as_json:
        typer.echo(", ".join(f"{count} {code}" for code, count in counted.most_common()) or "None failed.")


@app.command("fetch")
def fetch(name: BackfillName, folder: Annotated[Path, typer.Argument(help="Created if missing.")]) -> None:
    """Download the pictures and outcomes of a backfill; files already there are left alone."""

    async def download(store: S3ObjectStore) -> tuple[int, int]:
        outcomes = await _outcomes(store, name)
        lines = "".join(outcome.model_dump_json(exclude_defaults=True) + "\n" for outcome in outcomes)
        await asyncio.to_thread((folder / "outcomes.jsonl").write_text, lines)
        fetched = gone = 0
        for outcome in outcomes:
            path = folder / f"{outcome.key}.jpg"
            if outcome.result is None or await asyncio.to_thread(path.exists):
                continue
            partial = path.with_name(path.name + ".part")  # what is cut short is not taken for fetched the next time
            try:
                await asyncio.to_thread(partial.write_bytes, await store.get(outcome.result))
                await asyncio.to_thread(partial.replace, path)
                fetched += 1
            except ObjectMissingError:  # erased, or deleted with the backfill that made it
                gone += 1
        return fetched, gone

    with opened_service() as service:
        folder.mkdir(parents=True, exist_ok=True)
        fetched, gone = asyncio.run(download(service.store))
    typer.echo(f"{fetched} pictures fetched into {folder}" + (f"; {gone} are not there any more" if gone else ""))


def made_up_id() -> str:
    """An id that sorts by time and that no other backfill has."""
    return f"backfill-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def line_of(state: BackfillState) -> str:
    """One line for a person."""
    ended = state.completed + state.skipped + state.failed
    line = f"{state.state}: {ended} of {state.total}, {state.completed} completed, {state.skipped} done before, "
    line += f"{state.failed} failed, {state.in_flight} of {state.concurrency} in flight"
    if state.reason:
        line += f"; waiting: {sentence_of(state.reason)}"
    if state.remaining_seconds:
        line += f"; {state.per_minute:g} a minute, about {round(state.remaining_seconds / 60)} minutes left"
    return line


def sentence_of_report(name: str, report: BackfillReport) -> str:
    """How a backfill ended, or what it would take."""
    if report.plan is not None:
        plan = report.plan
        needed = plan.items - plan.done_before
        return (
            f"{name} checked: {plan.items} items (people: {plan.people}, products: {plan.products}), "
            f"{plan.done_before} done before; {needed} generations needed, {plan.generations_left} left."
        )
    said = (
        f"{name} {report.status}: {report.total} items, {report.completed} completed, {report.skipped} done before, "
        f"{report.failed} failed, {report.not_started} not started."
    )
    return said + (
        f"\nWhy, and again: tryon backfill failures {name}; tryon backfill retry {name}" if report.failed else ""
    )


async def _start(temporal: TemporalGateway, name: str, backfill: BackfillInput, *, wait: bool, as_json: bool) -> None:
    try:
        await temporal.start_backfill(name, backfill)
    except AlreadyRunningError:
        raise ValueError(f"a backfill {name} is running") from None
    if not wait:
        show({"id": name}, f"{name} was started; watch it: tryon backfill show {name}", as_json=as_json)
        return
    report = await temporal.backfill_report(name)
    typer.echo(report.model_dump_json(by_alias=True) if as_json else sentence_of_report(name, report))


async def _outcomes(store: S3ObjectStore, name: str) -> list[ItemOutcome]:
    keys = await store.list_keys(f"{backfill_prefix(name)}outcomes/")
    pages = [read_outcomes(await store.get(key), ItemOutcome) for key in keys]
    return [page[number] for page in pages for number in sorted(page)]
