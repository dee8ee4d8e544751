"""FLUX.2 [klein] 4B: seconds per picture by number of garments and by speed setting, and memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from bench.figures import Figure
from bench.gpu.device import peak_megabytes, settled
from bench.gpu.scenes import paint_request
from engines.base import EngineUnavailable
from engines.generative.painter import PaintRequest
from engines.klein.networks import Networks
from engines.klein.painter import KleinPainter

GOALS = {1: "<= 600", 4: "<= 1200"}
"""Milliseconds on a GPU of the H200's class, by the number of garments."""

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "cudnn attention": {"attention_backend": "_native_cudnn"},
    "fp8 storage": {"fp8": "storage"},
    "compiled": {"compile": True},
}
"""Name of a setting to arguments of `KleinPainter`; each is measured with networks of its own."""


def measure(
    networks: Callable[[], Networks],
    device: str,
    *,
    settings: Mapping[str, Mapping[str, Any]] = SETTINGS,
    times: int = 10,
    request: Callable[[int], PaintRequest] = paint_request,
    dtype: str = "bfloat16",
) -> Iterator[Figure]:
    """Measure each setting with one and with four garments; each figure comes as soon as it is known.

    Args:
        networks: Makes them anew.
        device: Where they lie.
        settings: See `SETTINGS`.
        times: Pictures per figure, after one that is not counted.
        request: Makes a pass with so many garments.
        dtype: Of the networks.
    """
    for name, arguments in settings.items():
        settled(device)
        try:
            # Nothing here holds the painter, so that its networks are gone before the next ones are made.
            painted = _measured(
                KleinPainter(device=device, dtype=dtype, networks=networks(), **arguments), request, device, times
            )
        except EngineUnavailable as error:
            print(f"klein, {name}: {error}")
            continue
        for garments, goal in GOALS.items():
            yield Figure.of(f"klein, {garments} garments, {name}", "ms", painted[garments], goal)
        yield Figure.of(f"klein, largest memory without text encoder, {name}", "MB", [peak_megabytes(device)])


def _measured(
    painter: KleinPainter, request: Callable[[int], PaintRequest], device: str, times: int
) -> dict[int, list[float]]:
    """Milliseconds of each picture by the number of garments."""
    painter.setup()
    return {
        garments: [_milliseconds(painter, request(garments), device) for _ in range(times + 1)][1:]
        for garments in GOALS
    }


def _milliseconds(painter: KleinPainter, request: PaintRequest, device: str) -> float:
    began = time.perf_counter()
    painter.paint(request, lambda _step: None, lambda: False)
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - began)
