"""The device that is measured."""

from __future__ import annotations

import gc

import torch


def name_of(device: str) -> str:
    """What the GPU calls itself; the figures belong to it alone."""
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else "CPU"


def settled(device: str) -> None:
    """Free what earlier measurements left, and begin to watch the memory anew."""
    if device.startswith("cuda"):
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def peak_megabytes(device: str) -> float:
    """The most memory that was allocated since `settled`, in 10^6 bytes; 0 on a CPU, where torch does not count."""
    return torch.cuda.max_memory_allocated(device) / 1e6 if device.startswith("cuda") else 0.0
