"""A colour profile written tag by tag (ICC.1:2010), since none of a phone's may be shipped."""

from __future__ import annotations

import struct

D50 = (0.9642, 1.0, 0.8249)
DISPLAY_P3 = ((0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407))
"""Red, green and blue primaries of Display P3, adapted to D50."""

SRGB_CURVE = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)


def _fixed(*values: float) -> bytes:
    return b"".join(struct.pack(">i", round(value * 65536)) for value in values)


def _text(words: str) -> bytes:
    encoded = words.encode("utf-16-be")
    return b"mluc" + struct.pack(">IIIHHII", 0, 1, 12, 0x656E, 0x5553, len(encoded), 28) + encoded


def display_p3() -> bytes:
    """The profile that phones put into their photos."""
    curve = b"para" + struct.pack(">IHH", 0, 3, 0) + _fixed(*SRGB_CURVE)
    tags = {b"desc": _text("Display P3"), b"cprt": _text("none"), b"wtpt": b"XYZ \0\0\0\0" + _fixed(*D50)}
    for letter, primary in zip((b"r", b"g", b"b"), DISPLAY_P3, strict=True):
        tags[letter + b"XYZ"] = b"XYZ \0\0\0\0" + _fixed(*primary)
        tags[letter + b"TRC"] = curve
    table, body = b"", b""
    start = 128 + 4 + 12 * len(tags)
    for name, content in tags.items():
        table += name + struct.pack(">II", start + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    header = struct.pack(">I4sI4s4s4s", start + len(body), bytes(4), 0x04000000, b"mntr", b"RGB ", b"XYZ ")
    header += bytes(12) + b"acsp" + bytes(28) + _fixed(*D50)
    return header.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body
