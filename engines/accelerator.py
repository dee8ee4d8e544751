"""The device that a network computes on: choosing it and its numbers, understanding its errors, reading its memory."""

from __future__ import annotations

import gc
import re
import time

import torch

from engines.base import DeviceBroken, DeviceOutOfMemory, EngineUnavailable
from engines.registration import AUTO

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
"""Kinds of numbers by the names that settings use."""

_OUT_OF_MEMORY = re.compile(
    r"out of memory|ALLOC(ATION)?_FAILED|[Ff]ailed to allocate memory|valid cuDNN algorithm|can't allocate memory"
)
"""Parts of the messages by which torch, CUDA and its libraries report that memory ran out. cuDNN reports that it finds
no algorithm when no algorithm gets the memory it needs; the last is torch's own for a CPU."""

_OF_THE_DEVICE = re.compile(r"\bCUDA\b|cublas|cudnn", re.IGNORECASE)
"""In lower case, ``cuda:0`` is the name of a device, and the message is about a mistake in the code."""

_A_DEVICES_NAME = re.compile(r"\bcuda(:\d+)?\b")


def named_device(name: str) -> str:
    """The name of a device, with `AUTO` replaced by the fastest kind that torch finds: ``cuda``, ``mps``, ``cpu``."""
    if name != AUTO:
        return name
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def found_device(name: str, engine: str) -> torch.device:
    """The device of a name, where there is one.

    Args:
        name: ``auto``, ``cuda``, ``cuda:1``, ``mps``, ``cpu``.
        engine: Whose name the sentences say.

    Raises:
        EngineUnavailable: There is no such device here.
    """
    name = named_device(name)
    try:
        device = torch.device(name)
    except RuntimeError:
        raise EngineUnavailable(f"{name!r} is not the name of a device; use auto, cuda, cuda:0, mps or cpu.") from None
    if device.type not in {"cuda", "mps", "cpu"}:
        raise EngineUnavailable(f"The engine {engine} runs on cuda, mps or cpu, not on {name}.")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise EngineUnavailable(
            f"The engine {engine} needs a CUDA GPU and torch finds none; use the engine warp, or set the device to "
            "auto and wait minutes for each picture."
        )
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise EngineUnavailable(f"The engine {engine} finds no GPU of Apple's; set the device to auto or cpu.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise EngineUnavailable(f"There is no GPU {name}; torch finds {torch.cuda.device_count()}.")
    return torch.device("cuda", torch.cuda.current_device()) if name == "cuda" else device


def chosen_dtype(precision: str, device: str) -> torch.dtype:
    """What a network is computed in on a device.

    Generative weights are published in bfloat16. CUDA GPUs compute in it; a CPU may be five times as fast in it as in
    float32, or much slower, so both are tried; Apple's GPUs know it from macOS 14 on. float16 is never chosen by
    itself: numbers of these networks may be larger than it holds.

    Args:
        precision: One of `DTYPES`, or ``auto``.
        device: Its name, not ``auto``; it need not be there.
    """
    if precision != AUTO:
        return DTYPES[precision]
    if device.startswith("cuda"):
        return torch.bfloat16
    if device == "mps":
        return torch.bfloat16 if _can_multiply(device, torch.bfloat16) else torch.float32
    faster = _product_seconds(torch.bfloat16) < _product_seconds(torch.float32)
    return torch.bfloat16 if faster else torch.float32


def name_of(dtype: torch.dtype) -> str:
    """Such as ``bfloat16``, by which settings name it."""
    return str(dtype).removeprefix("torch.")


def _can_multiply(device: str, dtype: torch.dtype) -> bool:
    try:
        square = torch.ones(8, 8, dtype=dtype, device=device)
        return bool((square @ square).isfinite().all())
    except (RuntimeError, TypeError):  # a TypeError where Apple's system is too old
        return False


def _product_seconds(dtype: torch.dtype) -> float:
    """The time of a matrix product on the CPU as these networks make them; the best of three."""
    tokens, weights = torch.ones(1024, 1280, dtype=dtype), torch.ones(1280, 1280, dtype=dtype)

    def once() -> float:
        began = time.perf_counter()
        torch.mm(tokens, weights)
        return time.perf_counter() - began

    return min(once() for _ in range(3))


def device_failure(error: Exception, device: str) -> DeviceOutOfMemory | DeviceBroken | None:
    """The device error that an error of a network stands for; None if the device is not at fault.

    The result does not refer to the original error, whose traceback keeps tensors on the device alive.

    Args:
        error: Raised by torch or by ONNX Runtime.
        device: Its name, for the sentence.
    """
    # ONNX Runtime raises plain exceptions. An operator that is not implemented for CUDA is our mistake.
    of_libraries = isinstance(error, RuntimeError) or type(error).__module__.startswith("onnxruntime")
    if not of_libraries or isinstance(error, NotImplementedError):
        return None
    said = str(error)
    if isinstance(error, torch.OutOfMemoryError) or _OUT_OF_MEMORY.search(said):
        return DeviceOutOfMemory(f"The memory of {device} did not suffice.")
    if isinstance(error, torch.AcceleratorError) or _OF_THE_DEVICE.search(_A_DEVICES_NAME.sub("", said)):
        return DeviceBroken(f"{device} failed: {said.splitlines()[0] if said else type(error).__name__}")
    return None


def free_cached_memory(device: str) -> None:
    """Give back what torch keeps for later; nothing on a CPU, where it keeps nothing."""
    if device.startswith("cuda") and torch.cuda.is_available():
        gc.collect()  # what failed may hang on in cycles
        torch.cuda.empty_cache()
    if device == "mps" and torch.backends.mps.is_available():
        gc.collect()
        torch.mps.empty_cache()


def wait_for(device: torch.device) -> None:
    """Wait until a GPU has done what it was given; a CPU has."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def memory_readings(device: torch.device | None) -> dict[str, float]:
    """Allocated bytes of a GPU, now and at most, by the names of `Engine.readings`; empty for other devices."""
    if device is None or device.type == "cpu":
        return {}
    if device.type == "mps":  # which keeps no record of the most
        return {"memory_bytes": torch.mps.current_allocated_memory()}
    return {
        "memory_bytes": torch.cuda.memory_allocated(device),
        "memory_peak_bytes": torch.cuda.max_memory_allocated(device),
    }
