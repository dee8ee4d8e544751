"""``watermark``: from the engine's lossless picture to the JPEG that the client gets."""

from __future__ import annotations

import asyncio

from temporalio import activity

from activities.failures import expected_failures
from activities.heartbeat import heartbeats
from activities.objects import get_object, put_object
from domain.object_keys import result_key
from imaging.decode import decode_image
from imaging.encode import digital_source_xmp, encode_jpeg
from imaging.limits import STORED_LIMITS
from runtime.object_store import ObjectStore
from workflows import steps
from workflows.contracts import WatermarkedPicture, WatermarkInput


class WatermarkActivities:
    """The last step that touches pixels."""

    def __init__(self, store: ObjectStore, jpeg_quality: int) -> None:
        self._store = store
        self._jpeg_quality = jpeg_quality

    @activity.defn(name=steps.WATERMARK.name)
    async def watermark(self, request: WatermarkInput) -> WatermarkedPicture:
        """Mark and encode; the picture carries no metadata but the mark of a trained model's work."""
        with expected_failures():
            async with heartbeats():
                data = await get_object(self._store, request.picture)
                jpeg = await asyncio.to_thread(self._to_jpeg, data, trained=request.trained)
                result = await put_object(self._store, result_key(request.job_id), jpeg, "image/jpeg")
        return WatermarkedPicture(result=result)

    def _to_jpeg(self, data: bytes, *, trained: bool) -> bytes:
        picture = decode_image(data, STORED_LIMITS)
        return encode_jpeg(picture, self._jpeg_quality, xmp=digital_source_xmp() if trained else None)
