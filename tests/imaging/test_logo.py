from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from imaging.decode import decode_logo
from imaging.errors import ImageError, ImageErrorCode
from imaging.watermark import KEPT_SIDE, VISIBLE_ALPHA, KeptLogo, normalise_logo
from tests.imaging.pictures import quarters, saved


def kept_of(data: bytes) -> KeptLogo:
    return normalise_logo(decode_logo(data, max_side=KEPT_SIDE))


def test_what_is_kept_is_an_rgba_png_that_says_its_size() -> None:
    kept = kept_of(saved(quarters(320, 400), "JPEG", comment=b"secret"))
    image = Image.open(io.BytesIO(kept.png))
    assert (image.format, image.mode, image.size) == ("PNG", "RGBA", (320, 400))
    assert (kept.width, kept.height) == image.size
    assert b"secret" not in kept.png


def test_a_large_one_is_kept_smaller() -> None:
    kept = kept_of(saved(quarters(3000, 1500), "PNG"))
    assert (kept.width, kept.height) == (KEPT_SIDE, KEPT_SIDE // 2)


def test_left_overs_of_a_drawing_tool_do_not_count_as_logo() -> None:
    logo = np.zeros((300, 400, 4), np.uint8)
    logo[0, 0] = (9, 9, 9, VISIBLE_ALPHA - 1)
    logo[100:150, 120:320] = (9, 9, 9, VISIBLE_ALPHA)
    kept = kept_of(saved(Image.fromarray(logo), "PNG"))
    assert (kept.width, kept.height) == (200, 50)


def test_a_palette_keeps_its_transparency() -> None:
    palette = Image.new("P", (60, 40), 0)
    palette.putpalette([255, 0, 0, 0, 0, 255])
    palette.paste(1, (10, 10, 50, 30))
    kept = kept_of(saved(palette, "PNG", transparency=0))
    pixels = np.asarray(Image.open(io.BytesIO(kept.png)))
    assert pixels.shape == (20, 40, 4)
    assert (pixels == (0, 0, 255, 255)).all()


def test_nothing_to_be_seen_is_no_logo() -> None:
    with pytest.raises(ImageError) as caught:
        kept_of(saved(Image.new("RGBA", (50, 50)), "PNG"))
    assert caught.value.code == ImageErrorCode.NOT_READABLE
