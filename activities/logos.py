"""``fetch_logo`` and ``save_watermark``: from the address of a logo to an account's setting."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import structlog
from temporalio import activity

from activities.device import heartbeats
from activities.failures import count_refused_picture, failure
from activities.objects import put_object
from domain import watermarks
from domain.errors import ErrorCode
from domain.object_keys import logo_key, logo_prefix
from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from imaging.remote import RemoteImageFetcher
from imaging.watermark import KEPT_SIDE, normalise_logo
from runtime.database import Database
from runtime.object_store import ObjectStore, ObjectStoreUnavailableError
from workflows import steps
from workflows.contracts import ObjectRef
from workflows.logo_contracts import FetchedLogo, FetchLogoInput, SaveWatermarkInput, WatermarkSetting

log = structlog.get_logger(__name__)

LOGO_CODES: dict[ImageErrorCode, ErrorCode] = {
    ImageErrorCode.URL_REFUSED: "logo_url_refused",
    ImageErrorCode.URL_UNREACHABLE: "logo_unreachable",
    ImageErrorCode.URL_TOO_LARGE: "logo_too_large",
    ImageErrorCode.TOO_LARGE: "logo_too_large",
}
"""What the catalogue says of a logo where a garment or a photo has another code; all else is ``logo_not_usable``."""


class LogoActivities:
    """Steps of `SetWatermarkWorkflow`. Nothing that is set changes before the new logo is stored."""

    def __init__(
        self,
        database: Database,
        store: ObjectStore,
        fetcher: RemoteImageFetcher,
        limits: ImageLimits,
        decoders: DecoderPool,
    ) -> None:
        self._database = database
        self._store = store
        self._fetcher = fetcher
        self._limits = limits
        self._decoders = decoders

    @activity.defn(name=steps.FETCH_LOGO.name)
    async def fetch_logo(self, request: FetchLogoInput) -> FetchedLogo:
        """Download, judge, normalise and store; the logo that is in use stays where it is."""
        with _logo_failures():
            async with heartbeats():
                data = await self._fetcher.fetch(request.logo_url, self._limits.max_bytes)
                pixels = await self._decoders.decode_logo(request.account_id, data, self._limits, max_side=KEPT_SIDE)
                logo = await self._decoders.in_thread(request.account_id, normalise_logo, pixels)
                ref = await asyncio.to_thread(self._describe, request.account_id, logo.png)
                await put_object(self._store, ref.key, logo.png, ref.content_type)
        return FetchedLogo(picture=ref, width=logo.width, height=logo.height)

    @activity.defn(name=steps.SAVE_WATERMARK.name)
    async def save_watermark(self, request: SaveWatermarkInput) -> WatermarkSetting:
        """Write the setting, then delete the logos that it no longer names."""
        try:
            await self._database.write(
                watermarks.save_watermark,
                account_id=uuid.UUID(request.account_id),
                logo_url=request.logo_url,
                logo=request.logo.picture.model_dump(mode="json"),
                enabled=request.enabled,
                now=datetime.now(UTC),
            )
        except ValueError as error:
            raise failure("internal", str(error)) from error
        await self._delete_others(request)
        return WatermarkSetting(enabled=request.enabled, logo_url=request.logo_url, logo=request.logo)

    def _describe(self, account_id: str, png: bytes) -> ObjectRef:
        unnamed = ObjectRef.of(self._store.bucket, "", png, "image/png")
        return unnamed.model_copy(update={"key": logo_key(str(uuid.UUID(account_id)), unnamed.sha256)})

    async def _delete_others(self, request: SaveWatermarkInput) -> None:
        try:
            for key in await self._store.list_keys(logo_prefix(request.account_id)):
                if key != request.logo.picture.key:
                    await self._store.delete_prefix(key)
        except ObjectStoreUnavailableError as error:
            # The setting is made; the next logo's step deletes what is left here.
            log.warning("an old logo is left behind", account_id=request.account_id, reason=str(error))


@contextmanager
def _logo_failures() -> Iterator[None]:
    """Turn what the address or the file is to blame for into a failure with a code for logos."""
    try:
        yield
    except ImageError as error:
        count_refused_picture(error)
        code = LOGO_CODES.get(error.code, "logo_not_usable")
        raise failure(code, str(error), retryable=error.retryable) from error
