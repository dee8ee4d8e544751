"""``rehearse``: what takes an engine's place in jobs of test keys."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from temporalio import activity

from activities.device import heartbeats
from activities.failures import expected_failures, failure
from activities.objects import get_object, holder, put_object
from domain.errors import known_code
from domain.object_keys import work_key
from imaging.decoder_pool import DecoderPool
from imaging.encode import encode_png
from imaging.limits import STORED_LIMITS
from runtime.object_store import ObjectStore
from workflows import steps
from workflows.contracts import RehearseInput, RenderedPicture, RenderReport

ENGINE = "rehearsal"
WORD = "TEST"
WIDTH_SHARE, HEIGHT_SHARE = 0.6, 0.2
"""Largest size of the word as shares of the picture's; the band is twice as high as the word."""


def mark_as_test(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Write the word across the middle, white on a dark band: nobody should take this for a try-on.

    Args:
        picture: ``(height, width, 3)`` sRGB; it is not changed.
    """
    marked = picture.copy()
    height, width = picture.shape[:2]
    font = cv2.FONT_HERSHEY_DUPLEX
    (unit_width, unit_height), _ = cv2.getTextSize(WORD, font, 1.0, 1)
    scale = min(WIDTH_SHARE * width / unit_width, HEIGHT_SHARE * height / unit_height)
    thickness = max(1, round(2 * scale))
    word_height = unit_height * scale
    band = slice(max(0, round(height / 2 - word_height)), min(height, round(height / 2 + word_height)))
    marked[band] //= 3
    origin = (round((width - unit_width * scale) / 2), round(height / 2 + word_height / 2))
    cv2.putText(marked, WORD, origin, font, scale, (255, 255, 255), thickness, cv2.LINE_AA)
    return marked


@dataclass
class RehearsalActivities:
    """The step of test keys."""

    store: ObjectStore
    decoders: DecoderPool

    @activity.defn(name=steps.REHEARSE.name)
    async def rehearse(self, request: RehearseInput) -> RenderedPicture:
        """Return the customer's photo with a mark, or fail as the script says."""
        if request.error_code is not None:
            raise failure(known_code(request.error_code), "as the test key asked")
        with expected_failures():
            async with heartbeats():
                data = await get_object(self.store, request.person)
                photo = await self.decoders.decode(holder(), data, STORED_LIMITS)
                png = await self.decoders.in_thread(holder(), lambda: encode_png(mark_as_test(photo)))
                picture = await put_object(self.store, work_key(request.job_id, "rendered.png"), png, "image/png")
        return RenderedPicture(picture=picture, report=RenderReport(engine=ENGINE))
