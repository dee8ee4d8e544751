"""``fetch_logo``, ``save_watermark`` and ``watermark``: an account's logo, and the JPEG that the client gets."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Literal

import numpy as np
import structlog
from numpy.typing import NDArray
from temporalio import activity

from activities.device import heartbeats
from activities.failures import count_refused_picture, expected_failures, failure, is_tried_again
from activities.objects import ObjectChangedError, get_object, put_object
from activities.rehearsal import ENGINE as REHEARSAL
from domain import watermarks
from domain.errors import ErrorCode
from domain.object_keys import logo_key, logo_prefix, result_key
from imaging.decode import decode_image, decode_logo
from imaging.decoder_pool import DecoderPool
from imaging.encode import TRAINED_COMPOSITE_XMP, encode_jpeg
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import STORED_LIMITS
from imaging.provenance import ALTERED, COMPOSITE, TRAINED, Origin, PictureSigner, SigningError
from imaging.remote import RemoteImageFetcher
from imaging.watermark import KEPT_SIDE, normalise_logo, stamp_logo
from runtime.database import Database
from runtime.object_store import ObjectMissingError, ObjectStore, ObjectStoreUnavailableError
from runtime.settings import ImageSettings
from workflows import contracts, steps
from workflows.contracts import ObjectRef, SaveWatermarkInput, WatermarkInput

log = structlog.get_logger(__name__)

LOGO_CODES: dict[ImageErrorCode, ErrorCode] = {
    ImageErrorCode.URL_REFUSED: "logo_url_refused",
    ImageErrorCode.URL_UNREACHABLE: "logo_unreachable",
    ImageErrorCode.URL_TOO_LARGE: "logo_too_large",
    ImageErrorCode.TOO_LARGE: "logo_too_large",
}
"""What the catalogue says of a logo where a garment or a photo has another code; all else is ``logo_not_usable``."""

Logo = NDArray[np.uint8]  # ``(height, width, 4)``, straight alpha

LogoState = Literal["off", "stamped", "missing", "not_usable"]


@dataclass
class WatermarkActivities:
    """The steps of `SetWatermarkWorkflow`, and the last one of a job that touches pixels."""

    database: Database
    store: ObjectStore
    fetcher: RemoteImageFetcher
    images: ImageSettings
    decoders: DecoderPool
    signer: PictureSigner | None = None

    @activity.defn(name=steps.FETCH_LOGO.name)
    async def fetch_logo(self, request: contracts.FetchLogoInput) -> contracts.FetchedLogo:
        """Download, judge, normalise and store; the logo that is in use stays where it is."""
        account, limits = request.account_id, self.images.logo_limits()
        try:
            async with heartbeats():
                data = await self.fetcher.fetch(request.logo_url, limits.max_bytes)
                pixels = await self.decoders.decode_logo(account, data, limits, max_side=KEPT_SIDE)
                logo = await self.decoders.in_thread(account, normalise_logo, pixels)
                unnamed = await asyncio.to_thread(ObjectRef.of, self.store.bucket, "", logo.png, "image/png")
                key = logo_key(str(uuid.UUID(account)), unnamed.sha256)
                await self.store.put(key, logo.png, unnamed.content_type)
        except ImageError as error:
            count_refused_picture(error)
            code = LOGO_CODES.get(error.code, "logo_not_usable")
            raise failure(code, str(error), retryable=is_tried_again(error)) from error
        picture = unnamed.model_copy(update={"key": key})
        return contracts.FetchedLogo(picture=picture, width=logo.width, height=logo.height)

    @activity.defn(name=steps.SAVE_WATERMARK.name)
    async def save_watermark(self, request: SaveWatermarkInput) -> contracts.WatermarkSetting:
        """Write the setting, then delete the logos that it no longer names."""
        try:
            await self.database.write(
                watermarks.save_watermark,
                account_id=uuid.UUID(request.account_id),
                logo_url=request.logo_url,
                logo=request.logo.picture.model_dump(mode="json"),
                enabled=request.enabled,
                now=datetime.now(UTC),
            )
        except ValueError as error:
            raise failure("internal", str(error)) from error
        try:
            for key in await self.store.list_keys(logo_prefix(request.account_id)):
                if key != request.logo.picture.key:
                    await self.store.delete_prefix(key)
        except ObjectStoreUnavailableError as error:
            # The setting is made; the next logo's step deletes what is left here.
            log.warning("an old logo is left behind", account_id=request.account_id, reason=str(error))
        return request.part(contracts.WatermarkSetting)

    @activity.defn(name=steps.WATERMARK.name)
    async def watermark(self, request: WatermarkInput) -> contracts.WatermarkedPicture:
        """Stamp the account's logo where it wants one, encode and sign.

        The file carries no metadata but the mark of a trained model's work and the signed manifest. A logo that is gone
        or damaged is no reason to lose the picture, nor is a certificate that has expired: it goes out without, and the
        log says so. A store or database that is away is tried again, like any fault of ours.
        """
        with expected_failures():
            async with heartbeats():
                data = await get_object(self.store, request.picture)
                state, logo = await self._logo(request)
                # The engine's picture and the kept logo are files of ours: no stranger's bytes are decoded here.
                encode = partial(self._to_jpeg, data, logo, request)
                jpeg = await self.decoders.in_thread(request.account_id, encode)
                result = await put_object(self.store, result_key(request.job_id), jpeg, "image/jpeg")
        return contracts.WatermarkedPicture(result=result, logo=state)

    async def _logo(self, request: WatermarkInput) -> tuple[LogoState, Logo | None]:
        ref = await self._wanted_logo(request.account_id)
        state: LogoState = "off"
        while ref is not None:
            try:
                data = await get_object(self.store, ref)
                return "stamped", await self.decoders.in_thread(request.account_id, decode_logo, data, STORED_LIMITS)
            except ObjectMissingError:
                state, reason = "missing", "it is not in the object store"
            except (ImageError, ObjectChangedError) as error:
                state, reason = "not_usable", f"it is damaged: {error}"
            tried, ref = ref, await self._wanted_logo(request.account_id)
            if ref == tried:
                about = {"job_id": request.job_id, "account_id": request.account_id, "key": tried.key}
                log.warning("result without its logo", **about, reason=reason)
                return state, None
            # The owner has set another one, or switched it off, while this step was reading.
        return "off", None

    async def _wanted_logo(self, account_id: str) -> ObjectRef | None:
        watermark = await self.database.read(watermarks.find_watermark, account_id=uuid.UUID(account_id))
        return ObjectRef.model_validate(watermark.logo) if watermark and watermark.enabled else None

    def _to_jpeg(self, data: bytes, logo: Logo | None, request: WatermarkInput) -> bytes:
        picture = decode_image(data, STORED_LIMITS)
        if logo is not None:
            images = self.images
            picture = stamp_logo(picture, logo, images.watermark_width_share, images.watermark_margin_share)
        jpeg = encode_jpeg(picture, self.images.jpeg_quality, xmp=TRAINED_COMPOSITE_XMP if request.trained else None)
        if self.signer is None or not request.engine:
            return jpeg
        region = request.region
        drawn_how = TRAINED if request.trained else COMPOSITE
        origin = Origin(
            engine=request.engine,
            revision=request.revision,
            source=ALTERED if request.engine == REHEARSAL else drawn_how,
            photo_sha256=request.photo_sha256,
            region=(region[0], region[1], region[2], region[3]) if len(region) == 4 else None,
            logo=logo is not None,
        )
        try:
            return self.signer.sign(jpeg, origin)
        except SigningError as error:  # the customer gets the picture
            log.error("result without its signature", job_id=request.job_id, reason=str(error))  # noqa: TRY400  # it says it all
            return jpeg
