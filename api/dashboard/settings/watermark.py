"""The account's logo on its results: fetched, looked at, switched, removed."""

from __future__ import annotations

import asyncio

import structlog
from fastapi import APIRouter, Request
from starlette.responses import Response

from api.administration import watermarks
from api.dashboard.forms import PageRefused, read_form
from api.dashboard.rendering import redirect
from api.dashboard.settings.sample import Ground, sample_picture
from api.dashboard.settings.showing import show_settings
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from domain.errors import TryOnError
from domain.watermarks import find_watermark, remove_watermark, switch_watermark
from gateway.calls import TemporalAwayError
from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError
from workflows.contracts import SetWatermarkInput

FETCH_SECONDS = 20.0
"""Longest that a page waits for a logo; fetching goes on behind it."""

MAX_URL_LENGTH = 2048

log = structlog.get_logger(__name__)

router = APIRouter()


@router.post("/settings/watermark")
async def fetch_logo(request: Request) -> Response:
    """Fetch a logo and keep a copy. Where that fails, what was set before stays as it was."""
    form = await read_form(request)
    parts = parts_of(request)
    url, enabled = form.text("logo_url"), "enabled" in form
    try:
        watermarks.check_logo_url(url)
        wanted = SetWatermarkInput(account_id=str(visitor_of(request).account_id), logo_url=url, enabled=enabled)
        await asyncio.wait_for(parts.temporal.set_watermark(wanted), FETCH_SECONDS)
    except TimeoutError:
        return redirect("/settings", "logo_takes_long")
    except TryOnError as error:
        return await _refused(request, error, url, enabled=enabled)
    except TemporalAwayError as error:
        log.warning("a logo could not be fetched: Temporal did not answer", reason=str(error)[:200])
        return await _refused(request, TryOnError("storage_unavailable"), url, enabled=enabled)
    return redirect("/settings", "logo_on" if enabled else "logo_kept")


@router.post("/settings/watermark/switch")
async def switch(request: Request) -> Response:
    """Put the logo on results from now on, or leave it off and keep it."""
    form = await read_form(request)
    parts = parts_of(request)
    enabled = form.text("to") == "on"
    try:
        await parts.database.write(switch_watermark, account_id=visitor_of(request).account_id, enabled=enabled)
    except ValueError:
        return await show_settings(request, 422, errors={"logo_url": "There is no logo yet. Add one first."})
    return redirect("/settings", "logo_on" if enabled else "logo_off")


@router.post("/settings/watermark/remove")
async def remove(request: Request) -> Response:
    """Forget the setting and delete the logo."""
    await read_form(request)
    parts = parts_of(request)
    removed = await parts.database.write(remove_watermark, account_id=visitor_of(request).account_id)
    if removed is not None:
        try:
            await parts.store.delete_prefix(watermarks.key_of(removed))
        except ObjectStoreUnavailableError:
            # It lies there unused until the account's next logo or its end, which delete the ones before.
            log.warning("a logo that was removed could not be deleted", key=watermarks.key_of(removed))
    return redirect("/settings", "logo_removed")


@router.get("/settings/watermark/preview.jpg")
async def preview(request: Request, ground: Ground = Ground.LIGHT) -> Response:
    """The logo on a picture of nobody, as results will carry it, switched on or not.

    Raises:
        PageRefused: There is no logo, or it cannot be read.
    """
    parts = parts_of(request)
    watermark = await parts.database.read(find_watermark, account_id=visitor_of(request).account_id)
    if watermark is None:
        raise PageRefused(404, "There is no logo yet.")
    try:
        logo = await watermarks.read_logo(parts.store, watermark)
        decoders: DecoderPool = request.app.state.page_decoders
        jpeg = await decoders.in_thread(
            watermark.account_id, watermarks.stamped_jpeg, sample_picture(ground), logo, parts.settings.images
        )
    except (ObjectMissingError, ImageError):
        raise PageRefused(404, "The logo is missing. Fetch it again.") from None
    return Response(jpeg, media_type="image/jpeg")


async def _refused(request: Request, error: TryOnError, url: str, *, enabled: bool) -> Response:
    """The page with the form as it was sent."""
    kept = "" if error.code == "logo_url_refused" else " What was set before stays as it was."
    errors = {"logo_url": f"{error.sentence}{kept}"}
    values = {"logo_url": url[:MAX_URL_LENGTH], "enabled": "yes" if enabled else ""}
    return await show_settings(request, error.entry.status or 422, errors=errors, values=values)
