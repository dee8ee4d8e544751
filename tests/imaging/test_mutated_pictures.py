"""Pictures of every format, damaged in every way at hand: each is decoded or refused, soon, and nothing grows.

``MUTATED_PICTURES=100000`` looks longer than the suite does; see ``make hostile``.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import psutil
from PIL import Image

from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError
from tests.imaging.pictures import exif_with_orientation, quarters, saved, textured

NUMBER = int(os.environ.get("MUTATED_PICTURES", "200"))

LONGEST_SECONDS = 2.0

MOST_GROWTH_BYTES = 64 * 2**20
"""Of the decoding processes together, from the first tenth of the pictures to the end."""

DIED = "the decoder died of it"
"""In the refusal of a picture that ended the process which decoded it."""

GREY, CLEAR = Image.fromarray(quarters()).convert("L"), Image.fromarray(textured(96, 120)).convert("RGBA")
SEEDS = [
    saved(quarters(), "JPEG", quality=90, exif=exif_with_orientation(6)),
    saved(textured(96, 120), "JPEG", progressive=True),
    saved(GREY, "JPEG"),
    saved(Image.fromarray(textured(96, 120)).convert("CMYK"), "JPEG"),
    saved(quarters(), "PNG"),
    saved(CLEAR, "PNG"),
    saved(GREY.convert("P"), "PNG"),
    saved(Image.fromarray(np.arange(96 * 120, dtype=np.uint16).reshape(120, 96)), "PNG"),
    saved(quarters(), "WEBP"),
    saved(CLEAR, "WEBP", lossless=True),
]

NUMBERS = (b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x00\x00\xff\xff", b"\x80\x00\x00\x00")


def flipped(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.choice((1, 1, 2, 8, 64))):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def numbered(data: bytearray, dice: random.Random) -> None:
    """A length or a size that is not so, mostly near the beginning, where those are."""
    at = dice.randrange(min(len(data) - 4, dice.choice((64, 512, len(data)))))
    number = dice.choice(NUMBERS)
    data[at : at + len(number)] = number


def cut(data: bytearray, dice: random.Random) -> None:
    del data[dice.randrange(8, len(data)) :]


def without_a_part(data: bytearray, dice: random.Random) -> None:
    at = dice.randrange(len(data))
    del data[at : at + dice.choice((1, 2, 16, 256))]


def repeated(data: bytearray, dice: random.Random) -> None:
    at, length = dice.randrange(len(data)), dice.choice((2, 32, 1024))
    data[at:at] = data[at : at + length] * dice.choice((1, 4, 100))


def spliced(data: bytearray, dice: random.Random) -> None:
    other = dice.choice(SEEDS)
    at = dice.randrange(len(data))
    data[at:] = other[dice.randrange(len(other)) :]


MUTATIONS: tuple[Callable[[bytearray, random.Random], None], ...] = (
    *(flipped, flipped, numbered, numbered),
    *(cut, without_a_part, repeated, spliced),
)


def mutated(number: int) -> bytes:
    dice = random.Random(number)
    data = bytearray(dice.choice(SEEDS))
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        if len(data) > 16:
            dice.choice(MUTATIONS)(data, dice)
    return bytes(data)


def memory() -> int:
    """Of this process and of those that decode for it."""
    this = psutil.Process()
    return sum(each.memory_info().rss for each in (this, *this.children(recursive=True)))


async def test_damaged_pictures_are_decoded_or_refused_within_two_seconds(
    record_testsuite_property: Callable[[str, str], None],
) -> None:
    pool = DecoderPool(1)
    outcomes, died, slow, before = Counter[str](), 0, list[tuple[int, float]](), 0
    try:
        for number in range(NUMBER):
            began = time.monotonic()
            try:
                pixels = await pool.decode("somebody", mutated(number))
            except ImageError as refusal:
                outcomes[refusal.code] += 1
                died += DIED in str(refusal)
            else:
                assert pixels.ndim == 3
                outcomes["decoded"] += 1
            spent = time.monotonic() - began
            if spent > LONGEST_SECONDS and number:  # the first one starts the process
                slow.append((number, round(spent, 2)))
            before = before or (memory() if number >= NUMBER // 10 else 0)
        grown = memory() - before
    finally:
        await pool.close()
    record_testsuite_property("decoded", f"{outcomes['decoded']:,}; the decoder died of {died:,}")
    assert slow == []
    assert grown < MOST_GROWTH_BYTES, f"{grown / 2**20:.0f} MiB more"
    assert outcomes["decoded"] > NUMBER / 20, outcomes
    assert sum(outcomes.values()) - outcomes["decoded"] > NUMBER / 5, outcomes
