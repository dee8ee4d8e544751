"""The header of a ``.safetensors`` file: which tensors it holds, read without loading or trusting them.

The format is eight bytes of little-endian length, that many bytes of JSON, then the tensors' bytes
(https://github.com/huggingface/safetensors). Nothing is executed, unlike with a pickle.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from engines.base import EngineUnavailable

LONGEST_HEADER = 100_000_000
"""Bytes; the format's own bound."""

BITS = {
    "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "U16": 16, "I16": 16, "F16": 16, "BF16": 16, "U32": 32, "I32": 32, "F32": 32,
    "U64": 64, "I64": 64, "F64": 64, "C64": 64,
}  # fmt: skip
"""Of one value of each type that the format knows."""

_PICKLE_OR_ZIP = (b"\x80", b"PK\x03\x04")


@dataclass(frozen=True)
class TensorEntry:
    """One tensor of a file.

    Attributes:
        dtype: As the format spells it, e.g. ``BF16``.
        shape: Lengths of its axes.
    """

    dtype: str
    shape: tuple[int, ...]


def read_header(path: Path) -> dict[str, TensorEntry]:
    """Names and shapes of the tensors in a file, whose length is checked against them.

    Raises:
        EngineUnavailable: The file is missing, is no safetensors file, or was cut short or changed.
    """
    if not path.is_file():
        raise EngineUnavailable(f"The weights {path} are missing.")
    with path.open("rb") as file:
        start, opening = file.read(8), file.read(1)
        # The length of a header may happen to look like the start of a pickle; but then its JSON begins like JSON.
        if start.startswith(_PICKLE_OR_ZIP) and opening != b"{":
            raise EngineUnavailable(f"{path} is a pickle; only safetensors files are loaded.")
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 0 < length <= LONGEST_HEADER:
            raise EngineUnavailable(f"{path} is not a safetensors file.")
        text = opening + file.read(length - 1)
    try:
        entries = json.loads(text)
        entries.pop("__metadata__", None)
        header = {name: TensorEntry(str(entry["dtype"]), _numbers(entry["shape"])) for name, entry in entries.items()}
        places = {name: _numbers(entry["data_offsets"], 2) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise EngineUnavailable(f"{path} is not a safetensors file: its header cannot be read.") from None
    if path.stat().st_size != 8 + length + max((end for _, end in places.values()), default=0):
        raise EngineUnavailable(f"{path} is corrupt: it is not as long as its header says. Fetch it again.")
    for name, (begin, end) in places.items():
        _check_length(path, name, header[name], end - begin)
    return header


def check_header(path: Path, expected: Mapping[str, tuple[int, ...]]) -> None:
    """See that a file holds exactly the tensors that a network needs.

    Raises:
        EngineUnavailable: Names the file and the first key that is missing, unknown or of another shape.
    """
    header = read_header(path)
    for name, shape in expected.items():
        if name not in header:
            raise EngineUnavailable(f"{path} does not hold the tensor {name}.")
        if header[name].shape != tuple(shape):
            raise EngineUnavailable(f"{path}: {name} has the shape {header[name].shape} instead of {tuple(shape)}.")
    unknown = next((name for name in header if name not in expected), None)
    if unknown is not None:
        raise EngineUnavailable(f"{path} holds {unknown}, which is no part of this network.")


def _numbers(value: object, count: int | None = None) -> tuple[int, ...]:
    """A list of whole numbers from nought on, of a certain length where one is given."""
    if not isinstance(value, list) or count not in (None, len(value)):
        raise TypeError
    if not all(type(number) is int and number >= 0 for number in value):
        raise ValueError
    return tuple(value)


def _check_length(path: Path, name: str, entry: TensorEntry, length: int) -> None:
    """See that a tensor takes as many bytes as its shape and type say."""
    bits = BITS.get(entry.dtype)
    if bits is None:
        raise EngineUnavailable(f"{path}: {name} is of the type {entry.dtype}, which safetensors does not know.")
    if bits * prod(entry.shape) != 8 * length:
        raise EngineUnavailable(f"{path} is corrupt: {name} is not as long as its shape says. Fetch it again.")
