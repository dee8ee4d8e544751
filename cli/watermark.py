"""``tryon watermark``: an account's logo on its results."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from api.administration import watermarks
from cli.answers import AsJson, fail, show
from cli.service import AccountName, Service, account_named
from domain.errors import TryOnError, sentence_of
from domain.tables import Watermark
from domain.watermarks import find_watermark, remove_watermark, switch_watermark
from gateway.calls import TemporalAwayError
from imaging.decode import decode_image
from imaging.errors import ImageError
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError
from workflows.contracts import SetWatermarkInput

app = typer.Typer(no_args_is_help=True, help="An account's logo on its results.")


@app.command("show")
def show_setting(account: AccountName, as_json: AsJson = False) -> None:
    """Show whether results of an account carry a logo, and which."""
    watermark = _watermark_of(Service(), account)
    if watermark is None:
        show({"enabled": False, "logoUrl": None}, "There is no logo yet.", as_json=as_json)
        return
    rows = {
        "enabled": watermark.enabled,
        "logoUrl": watermark.logo_url,
        "fetchedAt": f"{watermark.fetched_at:%Y-%m-%dT%H:%M:%SZ}",
        "keptCopy": watermark.logo["key"],
    }
    show(rows, *(f"{name:<10} {value}" for name, value in rows.items()), as_json=as_json)


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
    service = Service()
    with service.reading() as session:
        account_id = account_named(session, account)
    try:
        watermarks.check_logo_url(logo)
    except TryOnError as error:
        fail(error.sentence)
    wanted = SetWatermarkInput(account_id=str(account_id), logo_url=logo, enabled=not off)
    try:
        setting = service.ask_temporal(lambda temporal: temporal.set_watermark(wanted))
    except TryOnError as error:
        fail(f"{error.sentence} What was set before stays as it was.")
    except TemporalAwayError as error:
        fail(f"Temporal cannot be reached: {error}")
    width, height = setting.logo.width, setting.logo.height
    widest = watermarks.widest_sharp_picture(width, service.settings.images)
    show(
        setting.model_dump(mode="json", by_alias=True),
        f"Fetched a logo of {width} x {height} pixels; it is {_state(setting.enabled)}.",
        f"It is sharp on pictures up to {widest} pixels wide and enlarged on wider ones.",
        as_json=as_json,
    )


@app.command("on")
def switch_on(account: AccountName) -> None:
    """Put the stored logo on results."""
    _switch(account, enabled=True)


@app.command("off")
def switch_off(account: AccountName) -> None:
    """Leave the logo off results, but keep it."""
    _switch(account, enabled=False)


def _switch(account: str, *, enabled: bool) -> None:
    with Service().transaction() as session:
        switch_watermark(session, account_id=account_named(session, account), enabled=enabled)
    typer.echo(f"The watermark is {_state(enabled)}.")


@app.command("remove")
def remove(account: AccountName) -> None:
    """Forget the setting and delete the logo."""
    service = Service()
    with service.transaction() as session:
        removed = remove_watermark(session, account_id=account_named(session, account))
    if removed is None:
        typer.echo("There was no logo.")
        return
    key = watermarks.key_of(removed)
    try:
        asyncio.run(service.store.delete_prefix(key))
    except ObjectStoreUnavailableError:
        fail(
            f"The setting is gone, but the object store is away: delete {key} there, or set a logo again, "
            "which deletes the ones before."
        )
    typer.echo("The logo is deleted.")


@app.command("preview")
def preview(
    account: AccountName,
    photo: Annotated[Path, typer.Argument(help="A JPEG, PNG or WebP file.", exists=True, dir_okay=False)],
    out: Annotated[Path, typer.Argument(help="The JPEG to write.")],
) -> None:
    """Put the stored logo on a picture of your own, to see how it will look."""
    service = Service()
    images = service.settings.images
    watermark = _watermark_of(service, account)
    if watermark is None:
        fail("There is no logo yet: tryon watermark set --logo https://…")
    try:
        picture = decode_image(photo.read_bytes(), images.limits())
    except ImageError as error:
        fail(sentence_of(error.code))
    try:
        logo = asyncio.run(watermarks.read_logo(service.store, watermark))
        jpeg = watermarks.stamped_jpeg(picture, logo, images)
    except (ObjectMissingError, ObjectStoreUnavailableError, ImageError) as error:
        fail(f"The logo cannot be read: {error}")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(jpeg)
    typer.echo(f"Wrote {out}. The watermark is {_state(watermark.enabled)}.")


def _watermark_of(service: Service, account: str) -> Watermark | None:
    with service.reading() as session:
        return find_watermark(session, account_id=account_named(session, account))


def _state(enabled: bool) -> str:
    return "on" if enabled else "off"
