"""Pictures that were sent, before anything is kept of them."""

from __future__ import annotations

from unittest.mock import AsyncMock

import pytest

from domain.errors import TryOnError
from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import PHOTO_LIMITS
from intake.job import Picture, inspect_pictures


@pytest.mark.parametrize(("retryable", "code"), [(False, "image_too_complex"), (True, "busy")])
async def test_a_picture_is_not_blamed_for_a_machine_that_had_no_time(retryable: bool, code: str) -> None:
    decoders = AsyncMock(spec=DecoderPool)
    decoders.inspect.side_effect = ImageError(ImageErrorCode.TOO_COMPLEX, "", retryable=retryable)
    with pytest.raises(TryOnError) as refused:
        await inspect_pictures([Picture("personImageUrl", b"")], PHOTO_LIMITS, decoders, "a")
    assert refused.value.code == code
