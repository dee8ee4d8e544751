"""How long a picture may take on this machine, computed before any weights are here.

Once an engine is set up it has measured a step, see `engines.pace.Pace`, and nobody needs this any more.
"""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from engines.registration import AUTO

SLOWER_THAN_PRODUCTS = 3.0
"""How much longer a network may take than matrix products with as many operations. FASHN VTON at full size took 1.2
times as long on two cores of an AMD EPYC in bfloat16; attention is about half of its operations, and not every device
is as quick at it."""

FASTER_THAN_FLOAT32 = 10.0
"""How much faster than NumPy in float32 a CPU may be in bfloat16; two cores of an AMD EPYC were six times as fast."""

_ROWS, _COLUMNS = 1024, 1280
"""Of the product that is timed: about what these networks multiply."""

_GPU_SIDE = 8192
"""The same for a GPU, which has to be kept busy for long enough to be timed."""

_TIMED_SECONDS = 1.0
"""Shorter, and a CPU that is fast for a moment says too much."""


@dataclass(frozen=True)
class Estimate:
    """Between which times one picture lies.

    Attributes:
        device: What would draw it, in words.
        least: Seconds.
        most: Seconds.
    """

    device: str
    least: float
    most: float


def estimated(engine: str, tflop: float, device: str = AUTO, precision: str = AUTO) -> Estimate | None:
    """Time matrix products and compute the time of a picture; None where nothing can be known yet.

    Args:
        engine: Its name, for the sentence of the error.
        tflop: What a picture takes, in 10^12 operations, see `engines.registration.EngineOptions.picture_tflop`.
        device: As the setting says it.
        precision: As the setting says it.

    Raises:
        EngineUnavailable: There is no such device here.
    """
    if find_spec("torch") is not None:
        return _by_torch(engine, tflop, device, precision)
    if shutil.which("nvidia-smi") or (platform.system(), platform.machine()) == ("Darwin", "arm64"):
        return None  # there seems to be a GPU, of which only torch can say how fast it is
    left, right = np.ones((_ROWS, _COLUMNS), np.float32), np.ones((_COLUMNS, _COLUMNS), np.float32)
    seconds = tflop / _tflop_per_second(lambda: left @ right, _ROWS * _COLUMNS * _COLUMNS)
    return Estimate("this CPU", seconds / FASTER_THAN_FLOAT32, seconds * SLOWER_THAN_PRODUCTS)


def title_of(device: str) -> str:
    """What a device is called by those who sell it, where torch can say: ``NVIDIA H100 80GB HBM3``, else ``cpu``."""
    import torch  # here, for it takes seconds to load and is not installed everywhere

    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def _by_torch(engine: str, tflop: float, device_name: str, precision: str) -> Estimate:
    import torch  # here, for it takes seconds to load and is not installed everywhere

    from engines.accelerator import chosen_dtype, found_device, name_of, wait_for

    device = found_device(device_name, engine)
    dtype = chosen_dtype(precision, str(device))
    rows, columns = (_ROWS, _COLUMNS) if device.type == "cpu" else (_GPU_SIDE, _GPU_SIDE)
    left = torch.ones(rows, columns, dtype=dtype, device=device)
    right = torch.ones(columns, columns, dtype=dtype, device=device)

    def multiply() -> None:
        torch.mm(left, right)
        wait_for(device)

    multiply()  # the first one also starts the device
    seconds = tflop / _tflop_per_second(multiply, rows * columns * columns)
    return Estimate(f"{title_of(str(device))} in {name_of(dtype)}", seconds, seconds * SLOWER_THAN_PRODUCTS)


def _tflop_per_second(multiply: Callable[[], object], multiplications: int) -> float:
    """On average, since what else runs here slows the picture too; each multiplication comes with an addition."""
    began, done = time.perf_counter(), 0
    while (spent := time.perf_counter() - began) < _TIMED_SECONDS or done == 0:
        multiply()
        done += 1
    return 2 * multiplications * done / spent / 1e12
