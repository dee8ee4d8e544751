"""``tryon demo``: the main job, end to end, over HTTP like any client."""

from __future__ import annotations

import asyncio
import io
import time
import uuid
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, cast

import typer
from PIL import Image

from api.dashboard.samples import PORTRAIT, SAMPLES, path_of, picture_of, pixels_of
from cli.engine_demo import demonstrate
from cli.engines import contact_sheet, read_outfit
from cli.service import Service
from cli.stack import running_stack, start_detached
from domain import accounts
from domain.access.keys import create_key
from domain.jobs import jobs
from engines.catalogue import OFFERED
from gateway.calls import TemporalAwayError
from gateway.temporal import TemporalGateway
from runtime.settings import Settings
from tryon_client import AsyncTryOnClient, Garment, JobFailed, Result, TryOnApiError, WaitTimeout
from tryon_client.calls import COMBO, TRY_ON, Category, as_inline
from workflows.queues import tryon_workflow_id

DEMO_EMAIL = "demo@example.com"
DEFAULT_GARMENT = "striped_sweater"
DEMO_PERSON_SIDE = 1024  # the sample portrait is 512 pixels square; twice that shows the cloth better
LOOK_SECONDS = 2.0  # how often the demo says what the run is doing
LONGEST_JOB_SECONDS = 600.0


def demo(
    *,
    person: Annotated[Path | None, typer.Option(help="Photo of a person; a sample portrait when not given.")] = None,
    garment: Annotated[
        list[str] | None,
        typer.Option(help=f"Garment picture; may be given up to four times. Or one of {', '.join(SAMPLES)}."),
    ] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="upper_body, lower_body or full_body; one for each garment.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to write the picture.")] = Path("out/demo.jpg"),
    engine: Annotated[
        str | None,
        typer.Option(help=f"One of {', '.join(OFFERED)}: fetch it if it is not here, and draw without the service."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Fetch what the engine needs without asking.")] = False,
) -> None:
    """Bring the stack up if it is not, try a garment on over HTTP, and write the picture.

    With an engine: draw with it here and lay its picture beside the embedded engine's.
    """
    if engine is not None and engine not in OFFERED:
        raise typer.BadParameter(f"engines are {', '.join(OFFERED)}")
    names = garment or [DEFAULT_GARMENT]
    categories = category or [SAMPLES[name].category if name in SAMPLES else "upper_body" for name in names]
    if len(categories) != len(names):
        raise typer.BadParameter("give one --category for each --garment")
    photo = _read(person) if person else _sample_portrait()
    garments = [picture_of(name) if name in SAMPLES else _read(Path(name)) for name in names]
    if engine is not None:
        places = [path_of(name) if name in SAMPLES else Path(name) for name in names]
        demonstrate(engine, photo, read_outfit(places, categories, None, None), out, yes=yes)
        return
    if running_stack() is None:
        start_detached()
    service = Service()
    result = asyncio.run(_try_on(service.settings, _demo_key(service), photo, garments, categories))
    out.parent.mkdir(parents=True, exist_ok=True)
    result.save(out)
    sheet = out.with_name(f"{out.stem}-sheet{out.suffix}")
    contact_sheet([photo, *garments, result.image]).save(sheet, quality=92)
    _report(service, result, out, sheet)


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise typer.BadParameter(f"there is no file {path}")
    picture = path.read_bytes()
    try:
        as_inline(picture, str(path))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return picture


def _sample_portrait() -> bytes:
    portrait, buffer = Image.fromarray(pixels_of(PORTRAIT)), io.BytesIO()
    portrait = portrait.resize((DEMO_PERSON_SIDE, DEMO_PERSON_SIDE), Image.Resampling.LANCZOS)
    portrait.save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


def _demo_key(service: Service) -> str:
    with service.transaction() as session:
        account = accounts.find_account_by_email(session, email=DEMO_EMAIL)
        if account is None:
            now = datetime.now(UTC)
            account = accounts.create_account(session, service.plans, email=DEMO_EMAIL, plan="starter", now=now)
        return create_key(session, service.digester, account_id=account.id)[1]


async def _try_on(settings: Settings, key: str, photo: bytes, garments: list[bytes], categories: list[str]) -> Result:
    # The service refuses an unknown category, and its sentence is shown.
    pairs = zip(garments, cast("list[Category]", categories), strict=True)
    look = [Garment(image, category) for image, category in pairs]
    path = TRY_ON if len(look) == 1 else COMBO
    async with AsyncTryOnClient(f"http://{settings.api.host}:{settings.api.port}", key) as client:
        try:
            began = time.monotonic()
            job = await client.start(photo, look)
            typer.echo(f"POST {path} answered 202 after {1000 * (time.monotonic() - began):.0f} ms: job {job.job_id}")
            return await _watch(settings, job.job_id, client.wait(job.job_id, LONGEST_JOB_SECONDS))
        except TryOnApiError as refused:
            typer.echo(f"Refused with {refused.status}: {refused.sentence}", err=True)
        except JobFailed as failed:
            typer.echo(f"No picture: {failed.sentence}", err=True)
        except WaitTimeout:
            typer.echo("The job took too long.", err=True)
    raise typer.Exit(1)


async def _watch(settings: Settings, job_id: str, waiting: Coroutine[None, None, Result]) -> Result:
    """Wait for the picture, and say meanwhile what the run is doing."""
    result = asyncio.create_task(waiting)
    while not (await asyncio.wait({result}, timeout=LOOK_SECONDS))[0]:
        stage = "…"
        with suppress(TemporalAwayError):
            stage = (await (await TemporalGateway.connect(settings.temporal)).progress_of_job(job_id)).stage
        typer.echo(f"  processing: {stage}")
    return await result


def _report(service: Service, result: Result, out: Path, sheet: Path) -> None:
    with service.reading() as session:
        report = jobs.get_job(session, job_id=uuid.UUID(result.job_id)).report or {}
    typer.echo(f"completed in {result.generation_ms} ms by the {report.get('engine')} engine")
    for stage, spent in report.get("timingsMs", {}).items():
        typer.echo(f"  {stage:<24} {spent:>6} ms")
    if run_url := service.settings.temporal.run_url(tryon_workflow_id(result.job_id)):
        typer.echo(f"Run in the Temporal UI: {run_url}")
    typer.echo(f"Picture: {out}    person, garment, result: {sheet}")
    typer.echo("The service is still running; `make down` stops it.")
