"""FASHN VTON v1.5: seconds per picture alone and in batches, and memory. Poses are not part of it, they take a CPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import torch

from bench.figures import Figure
from bench.gpu.device import peak_megabytes, settled
from engines.fashn.network import Conditions, FashnNetwork
from engines.fashn.sampler import Sampler, start_noise

STEPS, GUIDANCE = 20, 1.5
BATCHES = (1, 2, 4, 8)


def measure(
    network: Callable[[], FashnNetwork],
    device: str,
    *,
    batches: Sequence[int] = BATCHES,
    steps: int = STEPS,
    times: int = 5,
    compiled: Sequence[bool] = (False, True),
) -> Iterator[Figure]:
    """Measure each size of batch, and how much more a batch does per second than pictures one by one.

    Each figure comes as soon as it is known.

    Args:
        network: Makes it anew.
        device: Where it lies.
        batches: Pictures drawn together; the first one is compared with.
        steps: Per picture.
        times: Batches per figure, after one that is not counted.
        compiled: Whether the blocks are compiled; each is measured with a network of its own.
    """
    for compile_blocks in compiled:
        settled(device)
        made = network()
        if compile_blocks:
            made.compile_repeated_blocks(dynamic=True)  # type: ignore[no-untyped-call]  # diffusers is untyped
        name = "compiled" if compile_blocks else "as it is"
        alone = 0.0
        for count in batches:
            values = _milliseconds(made, count, steps, times, torch.device(device))
            goal = "<= 1500" if count == 1 else ""
            batch = Figure.of(f"fashn, batch of {count}, {steps} steps, {name}", "ms", values, goal)
            yield batch
            if count == batches[0]:
                alone = batch.p50 / count
            else:
                gain = [alone * count / value for value in values]
                goal = ">= 3" if count == BATCHES[-1] else ""
                yield Figure.of(f"fashn, throughput of {count} over 1, {name}", "x", gain, goal)
        yield Figure.of(f"fashn, largest memory, {name}", "MB", [peak_megabytes(device)])
        del made


def _milliseconds(network: FashnNetwork, count: int, steps: int, times: int, device: torch.device) -> list[float]:
    frame = network.shape.input_shape
    conditions = Conditions.of_nothing(count, frame, device)
    sampler = Sampler(network, steps=steps, guidance=GUIDANCE)
    spent = []
    for _ in range(times + 1):
        noise = start_noise(range(count), frame).to(device)
        began = time.perf_counter()
        # The copy to the CPU waits for the device.
        sampler.sample(conditions, noise, lambda _step: None, lambda: False).cpu()
        spent.append(1000 * (time.perf_counter() - began))
    return spent[1:]
