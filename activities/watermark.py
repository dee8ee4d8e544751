"""``watermark``: from the engine's lossless picture to the JPEG that the client gets."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Literal

import numpy as np
import structlog
from numpy.typing import NDArray
from temporalio import activity

from activities.device import heartbeats
from activities.failures import expected_failures
from activities.objects import ObjectChangedError, get_object, put_object
from domain import watermarks
from domain.object_keys import result_key
from imaging.decode import decode_image, decode_logo
from imaging.decoder_pool import DecoderPool
from imaging.encode import digital_source_xmp, encode_jpeg
from imaging.errors import ImageError
from imaging.limits import STORED_LIMITS
from imaging.watermark import stamp_logo
from runtime.database import Database
from runtime.object_store import ObjectMissingError, ObjectStore
from runtime.settings import ImageSettings
from workflows import steps
from workflows.contracts import ObjectRef, WatermarkedPicture, WatermarkInput

log = structlog.get_logger(__name__)

Logo = NDArray[np.uint8]
"""``(height, width, 4)``, straight alpha."""

LogoState = Literal["off", "stamped", "missing", "not_usable"]


class WatermarkActivities:
    """The last step that touches pixels."""

    def __init__(self, database: Database, store: ObjectStore, images: ImageSettings, decoders: DecoderPool) -> None:
        self._database = database
        self._store = store
        self._images = images
        self._decoders = decoders

    @activity.defn(name=steps.WATERMARK.name)
    async def watermark(self, request: WatermarkInput) -> WatermarkedPicture:
        """Stamp the account's logo where it wants one, and encode.

        The file carries no metadata but the mark of a trained model's work. A logo that is gone or damaged is no
        reason to lose the picture: it goes out without, and the log says so. A store or database that is away is
        tried again, like any fault of ours.
        """
        with expected_failures():
            async with heartbeats():
                data = await get_object(self._store, request.picture)
                state, logo = await self._logo(request)
                # The engine's picture and the kept logo are files of ours: no stranger's bytes are decoded here.
                encode = partial(self._to_jpeg, data, logo, trained=request.trained)
                jpeg = await self._decoders.in_thread(request.account_id, encode)
                result = await put_object(self._store, result_key(request.job_id), jpeg, "image/jpeg")
        return WatermarkedPicture(result=result, logo=state)

    async def _logo(self, request: WatermarkInput) -> tuple[LogoState, Logo | None]:
        ref = await self._wanted_logo(request.account_id)
        state: LogoState = "off"
        while ref is not None:
            try:
                data = await get_object(self._store, ref)
                return "stamped", await self._decoders.in_thread(request.account_id, decode_logo, data, STORED_LIMITS)
            except ObjectMissingError:
                state, reason = "missing", "it is not in the object store"
            except (ImageError, ObjectChangedError) as error:
                state, reason = "not_usable", f"it is damaged: {error}"
            tried, ref = ref, await self._wanted_logo(request.account_id)
            if ref == tried:
                log.warning(
                    "result without its logo",
                    job_id=request.job_id,
                    account_id=request.account_id,
                    key=tried.key,
                    reason=reason,
                )
                return state, None
            # The owner has set another one, or switched it off, while this step was reading.
        return "off", None

    async def _wanted_logo(self, account_id: str) -> ObjectRef | None:
        watermark = await self._database.read(watermarks.find_watermark, account_id=uuid.UUID(account_id))
        return ObjectRef.model_validate(watermark.logo) if watermark and watermark.enabled else None

    def _to_jpeg(self, data: bytes, logo: Logo | None, *, trained: bool) -> bytes:
        picture = decode_image(data, STORED_LIMITS)
        if logo is not None:
            images = self._images
            picture = stamp_logo(picture, logo, images.watermark_width_share, images.watermark_margin_share)
        return encode_jpeg(picture, self._images.jpeg_quality, xmp=digital_source_xmp() if trained else None)
