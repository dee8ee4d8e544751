"""The device that a network computes on: finding it by name, understanding its errors, and reading its memory."""

from __future__ import annotations

import gc
import re

import torch

from engines.base import DeviceBroken, DeviceOutOfMemory, EngineUnavailable

_OUT_OF_MEMORY = re.compile(r"out of memory|ALLOC(ATION)?_FAILED|[Ff]ailed to allocate memory|valid cuDNN algorithm")
"""Parts of the messages by which CUDA and its libraries report that memory ran out. cuDNN reports that it finds no
algorithm when no algorithm gets the memory it needs."""

_OF_THE_DEVICE = re.compile(r"\bCUDA\b|cublas|cudnn", re.IGNORECASE)
"""In lower case, ``cuda:0`` is the name of a device, and the message is about a mistake in the code."""

_A_DEVICES_NAME = re.compile(r"\bcuda(:\d+)?\b")


def found_device(name: str, engine: str) -> torch.device:
    """The device of a name, where there is one.

    Args:
        name: ``cuda``, ``cuda:1``, ``cpu``.
        engine: Whose name the sentences say.

    Raises:
        EngineUnavailable: There is no such device here.
    """
    try:
        device = torch.device(name)
    except RuntimeError:
        raise EngineUnavailable(f"{name!r} is not the name of a device; use cuda, cuda:0 or cpu.") from None
    if device.type not in {"cuda", "cpu"}:
        raise EngineUnavailable(f"The engine {engine} runs on cuda or cpu, not on {name}.")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise EngineUnavailable(
            f"The engine {engine} needs a CUDA GPU and torch finds none; use the engine warp, or set the device to cpu "
            "and wait minutes for each picture."
        )
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise EngineUnavailable(f"There is no GPU {name}; torch finds {torch.cuda.device_count()}.")
    return torch.device("cuda", torch.cuda.current_device()) if name == "cuda" else device


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


def memory_readings(device: torch.device | None) -> dict[str, float]:
    """Allocated bytes of a GPU, now and at most, by the names of `Engine.readings`; empty for other devices."""
    if device is None or device.type != "cuda":
        return {}
    return {
        "memory_bytes": torch.cuda.memory_allocated(device),
        "memory_peak_bytes": torch.cuda.max_memory_allocated(device),
    }
