"""``tryon demo``: the main job, end to end, over HTTP like any client."""

from __future__ import annotations

import asyncio
import io
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import httpx
import pybase64
import typer
from PIL import Image
from sqlalchemy.ext.asyncio import AsyncSession
from temporalio.service import RPCError

from cli.accounts import in_transaction
from cli.contact_sheet import contact_sheet
from cli.samples import SAMPLES, draw_sample, sample_person
from cli.stack import running_stack, start_detached
from domain import accounts, jobs, keys
from domain.tables import Job
from runtime.settings import Settings, load_settings
from runtime.temporal import connect_temporal
from workflows.queues import tryon_workflow_id
from workflows.tryon import TryOnWorkflow

DEMO_EMAIL = "demo@example.com"
DEFAULT_GARMENT = "striped_sweater"
DEMO_PERSON_SIDE = 1024
"""The sample portrait is 512 pixels square; twice that shows the cloth better."""

POLL_SECONDS = 2.0
"""What the contract asks of clients."""

LONGEST_JOB_SECONDS = 600.0


@dataclass(frozen=True)
class NamedPicture:
    """A picture file as it is, or a drawn one."""

    data: bytes
    content_type: str

    @classmethod
    def read(cls, path: Path) -> NamedPicture:
        kinds = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}
        if path.suffix.lower() not in kinds:
            raise typer.BadParameter(f"{path} must be a JPEG, PNG or WebP file")
        if not path.is_file():
            raise typer.BadParameter(f"there is no file {path}")
        return cls(path.read_bytes(), kinds[path.suffix.lower()])

    @classmethod
    def drawn(cls, image: Image.Image) -> NamedPicture:
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=95)
        return cls(buffer.getvalue(), "image/jpeg")

    @property
    def data_uri(self) -> str:
        return f"data:{self.content_type};base64,{pybase64.b64encode(self.data).decode()}"


def demo(
    person: Annotated[Path | None, typer.Option(help="Photo of a person; a sample portrait when not given.")] = None,
    garment: Annotated[
        list[str] | None,
        typer.Option(help=f"Garment picture; may be given up to four times. Or one of {', '.join(SAMPLES)}."),
    ] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="upper_body, lower_body or full_body; one for each garment.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("out/demo.jpg"),
) -> None:
    """Bring the stack up if it is not, try a garment on over HTTP, and write the picture."""
    names = garment or [DEFAULT_GARMENT]
    categories = category or [SAMPLES[name].category if name in SAMPLES else "upper_body" for name in names]
    if len(categories) != len(names):
        raise typer.BadParameter("give one --category for each --garment")
    photo = NamedPicture.read(person) if person else _sample_portrait()
    garments = [
        NamedPicture.drawn(Image.fromarray(draw_sample(name))) if name in SAMPLES else NamedPicture.read(Path(name))
        for name in names
    ]
    if running_stack() is None:
        start_detached()
    settings = load_settings()
    key = _demo_key(settings)
    job_id, result, milliseconds = asyncio.run(_try_on(settings, key, photo, garments, categories))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(result)
    sheet = out.with_name(f"{out.stem}-sheet{out.suffix}")
    contact_sheet([photo.data, *(item.data for item in garments), result]).save(sheet, quality=92)
    _report(settings, job_id, milliseconds, out, sheet)


def _sample_portrait() -> NamedPicture:
    portrait = Image.fromarray(sample_person())
    return NamedPicture.drawn(portrait.resize((DEMO_PERSON_SIDE, DEMO_PERSON_SIDE), Image.Resampling.LANCZOS))


def _demo_key(settings: Settings) -> str:
    async def work(session: AsyncSession) -> str:
        account = await accounts.find_account_by_email(session, email=DEMO_EMAIL)
        if account is None:
            account = await accounts.create_account(session, email=DEMO_EMAIL, plan="starter")
        digester = keys.KeyDigester(settings.security.key_pepper.get_secret_value())
        _, key = await keys.create_key(session, digester, account_id=account.id)
        return key

    return in_transaction(settings, work)


async def _try_on(
    settings: Settings, key: str, photo: NamedPicture, garments: list[NamedPicture], categories: list[str]
) -> tuple[str, bytes, int]:
    fields = [
        {"garmentImageUrl": item.data_uri, "category": category}
        for item, category in zip(garments, categories, strict=True)
    ]
    body = {"customerPhotoBase64": photo.data_uri}
    path, payload = (
        ("/api/v1/tryon", {**body, **fields[0]})
        if len(fields) == 1
        else ("/api/v1/tryon/combo", {**body, "garments": fields})
    )
    async with httpx.AsyncClient(
        base_url=f"http://{settings.api.host}:{settings.api.port}",
        headers={"Authorization": f"Bearer {key}"},
        timeout=30.0,
        trust_env=False,
    ) as client:
        began = time.monotonic()
        accepted = await client.post(path, json=payload)
        answer = accepted.json()
        if accepted.status_code != httpx.codes.ACCEPTED:
            typer.echo(f"Refused with {accepted.status_code}: {answer['error']}", err=True)
            raise typer.Exit(1)
        job_id: str = answer["jobId"]
        typer.echo(f"POST {path} answered 202 after {1000 * (time.monotonic() - began):.0f} ms: job {job_id}")
        finished = await _poll(client, settings, f"/api/v1/tryon/{job_id}", job_id)
    data = pybase64.b64decode(finished["resultImageBase64"].partition(",")[2])
    return job_id, data, int(finished["generationTimeMs"])


async def _poll(client: httpx.AsyncClient, settings: Settings, path: str, job_id: str) -> dict[str, str]:
    deadline = time.monotonic() + LONGEST_JOB_SECONDS
    while time.monotonic() < deadline:
        await asyncio.sleep(POLL_SECONDS)
        answer: dict[str, str] = (await client.get(path)).json()
        if answer.get("status") == "completed":
            return answer
        if answer.get("status") != "processing":
            typer.echo(f"No picture: {answer.get('error')}", err=True)
            raise typer.Exit(1)
        typer.echo(f"  processing: {await _stage(settings, job_id)}")
    typer.echo("The job took too long.", err=True)
    raise typer.Exit(1)


async def _stage(settings: Settings, job_id: str) -> str:
    """What the run is doing, by its own account."""
    try:
        client = await connect_temporal(settings.temporal)
        handle = client.get_workflow_handle_for(TryOnWorkflow.run, tryon_workflow_id(job_id))
        return (await asyncio.wait_for(handle.query(TryOnWorkflow.state), 2.0)).stage
    except (RPCError, TimeoutError, RuntimeError):
        return "…"


def _report(settings: Settings, job_id: str, milliseconds: int, out: Path, sheet: Path) -> None:
    async def work(session: AsyncSession) -> Job:
        return await jobs.get_job(session, job_id=uuid.UUID(job_id))

    report = in_transaction(settings, work).report or {}
    typer.echo(f"completed in {milliseconds} ms by the {report.get('engine')} engine")
    for stage, spent in report.get("timingsMs", {}).items():
        typer.echo(f"  {stage:<24} {spent:>6} ms")
    run = f"namespaces/{settings.temporal.namespace}/workflows/{tryon_workflow_id(job_id)}"
    typer.echo(f"Run in the Temporal UI: {settings.temporal.ui_url}/{run}")
    typer.echo(f"Picture: {out}    person, garment, result: {sheet}")
    typer.echo("The service keeps running; `make down` stops it.")
