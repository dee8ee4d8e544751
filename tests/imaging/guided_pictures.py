"""``python -m tests.imaging.guided_pictures TARGET FOLDER [options of libFuzzer]``: pictures that reach new code.

libFuzzer changes the pictures in the folder. What reaches a branch that nothing has reached is kept there, and changed
further. Atheris counts the branches of the Python code, ours and Pillow's; those of Pillow's C libraries nobody counts.
It ends with 0 if everything was decoded or refused.
"""

from __future__ import annotations

import random
import struct
import sys
import zlib
from dataclasses import replace

import atheris

with atheris.instrument_imports(include=["imaging", "PIL"]):
    from PIL import Image

    from imaging.decode import decode_image, decode_logo
    from imaging.errors import ImageError
    from imaging.limits import PHOTO_LIMITS
    from imaging.opening import PNG_SIGNATURE, inspect_image

    Image.init()  # it imports the parsers

LIMITS = replace(PHOTO_LIMITS, min_side=8)
"""Small pictures are quick."""


def decoded_or_refused(data: bytes) -> None:
    """What the decoders' processes do: anything else than a picture or an `ImageError` ends the search."""
    try:
        inspect_image(data, LIMITS)
        assert decode_image(data, LIMITS).shape[2:] == (3,)
        assert decode_logo(data, LIMITS).shape[2:] == (4,)
    except ImageError:
        pass


def trips_over_white(data: bytes) -> None:
    """A decoder with a fault that no picture shows as it is, for the proof that one is found."""
    try:
        last = decode_image(data, LIMITS)[-1, -1]
    except ImageError:
        return
    if last.min() > 200:
        raise KeyError(last.tolist())


TARGETS = {each.__name__: each for each in (decoded_or_refused, trips_over_white)}


def changed(data: bytes, longest: int, seed: int) -> bytes:
    """One change; in a PNG mostly with right checksums after it, or none would be seen behind them."""
    data = atheris.Mutate(data, longest)
    return with_right_checksums(data) if random.Random(seed).random() < 0.8 else data


def with_right_checksums(data: bytes) -> bytes:
    """A PNG with those of its chunks; anything else as it is."""
    if not data.startswith(PNG_SIGNATURE):
        return data
    mended, at = bytearray(data), len(PNG_SIGNATURE)
    while (end := at + 8 + int.from_bytes(data[at : at + 4])) + 4 <= len(data):
        struct.pack_into(">I", mended, end, zlib.crc32(data[at + 4 : end]))
        at = end + 4
    return bytes(mended)


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGETS[sys.argv[1]], custom_mutator=changed)
    atheris.Fuzz()
