"""Which device and which kind of number the networks use."""

from __future__ import annotations

import torch

from engines.base import EngineUnavailable

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
"""Kinds of numbers by the names that settings use; the weights were published in bfloat16."""


def found_device(name: str) -> torch.device:
    """The device of a name, where there is one.

    Args:
        name: ``cuda``, ``cuda:1``, ``cpu``.

    Raises:
        EngineUnavailable: There is no such device here.
    """
    try:
        device = torch.device(name)
    except RuntimeError:
        raise EngineUnavailable(f"{name!r} is not the name of a device; use cuda, cuda:0 or cpu.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise EngineUnavailable(
            "The engine klein needs a CUDA GPU and torch finds none; use the engine warp, or set the device to cpu "
            "and wait minutes for each picture."
        )
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise EngineUnavailable(f"There is no GPU {name}; torch finds {torch.cuda.device_count()}.")
    if device.type not in {"cuda", "cpu"}:
        raise EngineUnavailable(f"The engine klein runs on cuda or cpu, not on {name}.")
    return torch.device("cuda", torch.cuda.current_device()) if name == "cuda" else device
