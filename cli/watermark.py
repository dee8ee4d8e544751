"""``tryon watermark``: an account's logo on its results."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy.orm import Session

from api.administration import watermarks
from cli.transactions import AccountName, AsJson, account_named, in_reading, in_transaction
from domain.errors import TryOnError, say_limits, sentence_of
from domain.tables import Watermark
from domain.watermarks import find_watermark, remove_watermark, switch_watermark
from gateway.calls import TemporalAwayError
from gateway.temporal import TemporalGateway
from imaging.decode import decode_image
from imaging.errors import ImageError
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError, S3ObjectStore
from runtime.settings import Settings, load_settings
from workflows.contracts import SetWatermarkInput, WatermarkSetting

app = typer.Typer(no_args_is_help=True, help="An account's logo on its results.")


@app.command("show")
def show(account: AccountName, as_json: AsJson = False) -> None:
    """Show whether results of an account carry a logo, and which."""
    watermark = _watermark_of(load_settings(), account)
    if watermark is None:
        typer.echo(json.dumps({"enabled": False, "logoUrl": None}) if as_json else "There is no logo yet.")
        return
    rows: dict[str, Any] = {
        "enabled": watermark.enabled,
        "logoUrl": watermark.logo_url,
        "fetchedAt": f"{watermark.fetched_at:%Y-%m-%dT%H:%M:%SZ}",
        "keptCopy": watermark.logo["key"],
    }
    typer.echo(json.dumps(rows) if as_json else "\n".join(f"{name:<10} {value}" for name, value in rows.items()))


@app.command("set")
def set_logo(
    account: AccountName,
    logo: Annotated[str, typer.Option(help="https:// address of a PNG, WebP or JPEG.")],
    off: Annotated[
        bool, typer.Option("--off", help="Only fetch and keep the logo; do not put it on results yet.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch a logo, keep a copy, and put it on results. Needs Temporal and the CPU worker."""
    settings = load_settings()
    say_limits(settings.images.limits(), settings.images.logo_limits())

    def work(session: Session) -> uuid.UUID:
        return account_named(session, account)

    account_id = in_reading(settings, work)
    setting = asyncio.run(_fetched(settings, account_id, logo, enabled=not off))
    if as_json:
        typer.echo(setting.model_dump_json(by_alias=True))
        return
    typer.echo(
        f"Fetched a logo of {setting.logo.width} x {setting.logo.height} pixels; it is {_state(setting.enabled)}."
    )
    widest = watermarks.widest_sharp_picture(setting.logo.width, settings.images)
    typer.echo(f"It is sharp on pictures up to {widest} pixels wide and enlarged on wider ones.")


@app.command("on")
def switch_on(account: AccountName) -> None:
    """Put the stored logo on results."""
    _switch(account, enabled=True)


@app.command("off")
def switch_off(account: AccountName) -> None:
    """Leave the logo off results, but keep it."""
    _switch(account, enabled=False)


@app.command("remove")
def remove(account: AccountName) -> None:
    """Forget the setting and delete the logo."""
    settings = load_settings()

    def work(session: Session) -> dict[str, Any] | None:
        return remove_watermark(session, account_id=account_named(session, account))

    removed = in_transaction(settings, work)
    if removed is None:
        typer.echo("There was no logo.")
        return
    key = watermarks.key_of(removed)
    try:
        asyncio.run(S3ObjectStore(settings.object_store).delete_prefix(key))
    except ObjectStoreUnavailableError:
        raise _refusal(
            f"The setting is gone, but the object store is away: delete {key} there, or set a logo again, "
            "which deletes the ones before."
        ) from None
    typer.echo("The logo is deleted.")


@app.command("preview")
def preview(
    account: AccountName,
    photo: Annotated[Path, typer.Argument(help="A JPEG, PNG or WebP file.", exists=True, dir_okay=False)],
    out: Annotated[Path, typer.Argument(help="The JPEG to write.")],
) -> None:
    """Put the stored logo on a picture of your own, to see how it will look."""
    settings = load_settings()
    say_limits(settings.images.limits(), settings.images.logo_limits())
    watermark = _watermark_of(settings, account)
    if watermark is None:
        raise _refusal("There is no logo yet: tryon watermark set --logo https://…")
    try:
        picture = decode_image(photo.read_bytes(), settings.images.limits())
    except ImageError as error:
        raise _refusal(sentence_of(error.code)) from None
    try:
        logo = asyncio.run(watermarks.read_logo(S3ObjectStore(settings.object_store), watermark))
        jpeg = watermarks.stamped_jpeg(picture, logo, settings.images)
    except (ObjectMissingError, ObjectStoreUnavailableError, ImageError) as error:
        raise _refusal(f"The logo cannot be read: {error}") from None
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(jpeg)
    typer.echo(f"Wrote {out}. The watermark is {_state(watermark.enabled)}.")


def _watermark_of(settings: Settings, account: str) -> Watermark | None:
    def work(session: Session) -> Watermark | None:
        return find_watermark(session, account_id=account_named(session, account))

    return in_reading(settings, work)


def _switch(account: str, *, enabled: bool) -> None:
    def work(session: Session) -> None:
        account_id = account_named(session, account)
        switch_watermark(session, account_id=account_id, enabled=enabled)

    in_transaction(load_settings(), work)
    typer.echo(f"The watermark is {_state(enabled)}.")


async def _fetched(settings: Settings, account_id: uuid.UUID, logo_url: str, *, enabled: bool) -> WatermarkSetting:
    try:
        watermarks.check_logo_url(logo_url)
    except TryOnError as error:
        raise _refusal(error.sentence) from None
    try:
        temporal = await TemporalGateway.connect(settings.temporal)
        wanted = SetWatermarkInput(account_id=str(account_id), logo_url=logo_url, enabled=enabled)
        return await temporal.set_watermark(wanted)
    except TryOnError as error:
        raise _refusal(f"{error.sentence} What was set before stays as it was.") from None
    except TemporalAwayError as error:
        raise _refusal(f"Temporal cannot be reached: {error}") from None


def _refusal(sentence: str) -> typer.Exit:
    typer.echo(sentence, err=True)
    return typer.Exit(1)


def _state(enabled: bool) -> str:
    return "on" if enabled else "off"
