"""``fetch_garment``: from wherever a garment's pictures are to pictures that an engine can use."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from temporalio import activity

from activities.device import heartbeats
from activities.failures import expected_failures
from activities.objects import get_object, holder, put_object
from domain.object_keys import is_product_picture, work_key
from imaging.decoder_pool import DecoderPool
from imaging.encode import encode_png
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from imaging.remote import RemoteImageFetcher
from runtime.object_store import ObjectStore
from workflows import steps
from workflows.contracts import FetchedGarment, FetchGarmentInput, ObjectRef

WORKING_SIDE = 1536
"""Longer side in pixels of a garment handed to an engine; more detail than that is lost on the body."""


@dataclass
class GarmentActivities:
    """Steps that deal with one garment."""

    store: ObjectStore
    fetcher: RemoteImageFetcher
    limits: ImageLimits
    decoders: DecoderPool

    @activity.defn(name=steps.FETCH_GARMENT.name)
    async def fetch_garment(self, request: FetchGarmentInput) -> FetchedGarment:
        """Download where needed, decode, turn upright and shrink."""
        garment = request.garment
        with expected_failures():
            async with heartbeats():
                front, back = await asyncio.gather(
                    self._normalised(request, "front", garment.picture, garment.picture_url),
                    self._normalised(request, "back", garment.back_picture, garment.back_picture_url),
                )
        if front is None:
            raise ValueError("a garment needs a picture or an address")
        return FetchedGarment(
            index=garment.index, category=garment.category, hints=garment.hints, picture=front, back_picture=back
        )

    async def _normalised(
        self, request: FetchGarmentInput, side: str, stored: ObjectRef | None, url: str | None
    ) -> ObjectRef | None:
        if stored is not None and is_product_picture(stored.key):
            return stored  # normalised when it was registered
        if stored is not None:
            data = await get_object(self.store, stored)
        elif url is not None:
            data = await self.fetcher.fetch(url)
        else:
            return None
        png = await garment_png(data, self.limits, self.decoders, remote=stored is None)
        return await put_object(
            self.store, work_key(request.job_id, f"garment-{request.garment.index}-{side}.png"), png, "image/png"
        )


async def garment_png(data: bytes, limits: ImageLimits, decoders: DecoderPool, *, remote: bool) -> bytes:
    """Turn a garment's picture, a JPEG, PNG or WebP, upright and shrink it, for an engine to work with.

    Raises:
        ImageError: ``garment_url_not_an_image`` for one from an address, any of the ``image_…`` codes for another.
    """
    try:
        pixels = await decoders.decode(holder(), data, limits, max_side=WORKING_SIDE)
    except ImageError as error:
        if remote:
            raise ImageError(ImageErrorCode.URL_NOT_AN_IMAGE, f"{error.code}: {error.detail}") from error
        raise
    return await decoders.in_thread(holder(), encode_png, pixels)
