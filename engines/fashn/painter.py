"""FASHN VTON v1.5 as a painter: set up once, then one garment a call, calls drawn together."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from engines.accelerator import (
    chosen_dtype,
    device_failure,
    found_device,
    free_cached_memory,
    memory_readings,
    name_of,
    named_device,
)
from engines.base import (
    DeviceBroken,
    DeviceOutOfMemory,
    EngineError,
    EngineInfo,
    EngineUnavailable,
    Garment,
    OnStep,
    Picture,
    ShouldStop,
)
from engines.errors import first_line
from engines.fashn.about import ENGINE, FASHN, REVISION, FashnOptions, refusal
from engines.fashn.batching import STILL_S, MicroBatcher
from engines.fashn.checkpoint import WEIGHTS_FILE, load_network
from engines.fashn.network import Conditions, FashnNetwork
from engines.fashn.poses.finder import PoseFinder
from engines.fashn.preprocess import as_picture
from engines.fashn.sampler import UNGUIDED_STEPS, Sampler, start_noise
from engines.fashn.showing import Shown, shown
from engines.generative.engine import GenerativeEngine
from engines.generative.painter import PaintRequest
from engines.pace import Pace
from engines.registration import Workplace
from engines.weights.origin import info_of

STEPS = 30
GUIDANCE = 1.5
"""The publishers' defaults."""

BATCH_SIZE = 4
BATCH_WAIT_S = 0.02
"""Long compared with the time between jobs that arrive together, short compared with a batch of several seconds."""

_WARM_UP_STEPS = 2
"""One with guidance and one without, as every picture has them."""

_QUICK_SECONDS = 5.0
"""A step that takes less is measured a second time, when the device has warmed up to it."""

_STILL_STEPS = 10
"""A batch that has not moved for as many of its steps as this hangs."""

_NOT_FINITE = "The network made numbers that are no colours."


class FashnPainter:
    """Draws one garment a pass; calls that come together share the passes of the network.

    Args:
        weights: The folder, with names as published.
        device: ``cpu``, ``mps``, ``cuda`` or ``cuda:1`` and so on.
        dtype: What the network is computed in, see `engines.accelerator.chosen_dtype`.
        steps: How many steps a picture takes.
        guidance: How far to go beyond the prediction without conditions.
        batch_size: Pictures drawn at a time at most.
        batch_wait_s: How long the first of them waits for others.
        compile: Whether the blocks of the network are compiled, which makes `setup` take minutes.
        threads: Of the CPU, for finding a pose; 0 leaves the choice to ONNX Runtime.
    """

    def __init__(
        self,
        weights: Path,
        *,
        device: str,
        dtype: torch.dtype = torch.float32,
        steps: int = STEPS,
        guidance: float = GUIDANCE,
        batch_size: int = BATCH_SIZE,
        batch_wait_s: float = BATCH_WAIT_S,
        compile: bool = False,  # noqa: A002 - torch's own word for it
        threads: int = 0,
    ) -> None:
        self._weights = weights
        self._device_name = device
        self._dtype = dtype
        self._steps = steps
        self._guidance = guidance
        self._batch_size = batch_size
        self._compile = compile
        self._threads = threads
        info = info_of(FASHN, ENGINE.licences, str(weights), revision=REVISION, device=device)
        self._info = replace(info, parallel=batch_size)
        self._batcher: MicroBatcher[Shown, Tensor] = MicroBatcher(self._draw, most=batch_size, wait_s=batch_wait_s)
        self._batches = 0
        self._pictures = 0
        self._parts: tuple[FashnNetwork, PoseFinder, torch.device] | None = None

    @property
    def info(self) -> EngineInfo:
        """What this engine is; its licence is that of the weights in use."""
        return self._info

    @property
    def garments_per_pass(self) -> int:
        """The network is shown one garment."""
        return 1

    def setup(self) -> None:
        """Load the weights, draw for nobody, so that the first customer does not wait for it, and measure a step.

        Raises:
            EngineUnavailable: The device is missing, too small or cannot draw, or the weights are missing, corrupt or
                not the right ones.
        """
        device = found_device(self._device_name, FASHN.name)
        try:
            network = load_network(self._weights, device=device, dtype=self._dtype)
            if self._compile:
                # For every size of batch at once: torch gives up on a function that it had to compile eight times.
                network.compile_repeated_blocks(dynamic=True)  # type: ignore[no-untyped-call]  # diffusers is untyped
            cuda_device = (device.index or 0) if device.type == "cuda" else None
            poses = PoseFinder(self._weights, cuda_device=cuda_device, threads=self._threads)
            if device.type == "cuda":  # elsewhere a step takes long enough, and memory needs no test
                for count in sorted({1, self._batch_size}):
                    _draw_nothing(network, count, device, steps=_WARM_UP_STEPS)
            step_s = _step_seconds(network, device)
        except (RuntimeError, ValueError, ImportError, EngineError) as error:
            if isinstance(device_failure(error, self._device_name), DeviceOutOfMemory):
                raise EngineUnavailable(
                    f"{self._weights / WEIGHTS_FILE} and a batch of {self._batch_size} do not fit into the memory of "
                    f"{self._device_name}; choose a smaller batch."
                ) from None
            raise EngineUnavailable(f"The engine fashn cannot draw on {device}: {first_line(error)}") from error
        self._parts = network, poses, device
        self._info = replace(self._info, pace=Pace(str(device), name_of(self._dtype), step_s, self._steps, 1))
        # A CPU does not hang; it may only be busy with something else.
        self._batcher.still_s = math.inf if device.type == "cpu" else max(STILL_S, _STILL_STEPS * step_s)

    def paint(self, request: PaintRequest, on_step: OnStep, should_stop: ShouldStop) -> Picture:
        """Draw the person anew, wearing the garment.

        Args:
            request: One pass with one reference.
            on_step: Called at every step of the networks, and twice a second while waiting.
            should_stop: Asked as often.

        Returns:
            ``(h, w, 3)``, the frame of the person's photo as large as the network's frame has room for it.

        Raises:
            EngineError: ``person_not_found``, or ``result_not_usable`` where the network made numbers that are no
                colours.
            RenderStopped: ``should_stop`` said so.
            DeviceOutOfMemory: The picture did not fit into the device's memory, not even alone.
            DeviceBroken: The device failed; it may be that nothing can be drawn with it in this process.
        """
        job = self._shown(request, on_step, should_stop)
        return as_picture(self._batcher.submit(job, on_step, should_stop), job.place)

    def refusal(self, garment: Garment, name: str) -> str | None:
        """Why a hint that makes sense is not followed, by the hint's name; None where it is."""
        return refusal(garment, name)

    def free_memory(self) -> None:
        """Give cached memory of the GPU back, after a `DeviceOutOfMemory`."""
        free_cached_memory(self._device_name)

    def readings(self) -> Mapping[str, float]:
        """Batches drawn so far and the pictures in them, whether poses are found on the GPU, and the GPU's bytes."""
        figures: dict[str, float] = {"batches": self._batches, "batch_pictures": self._pictures}
        if self._parts is not None:
            figures["poses_on_gpu"] = int(self._parts[1].on_gpu)
            figures |= memory_readings(self._parts[2])
        return figures

    def _loaded(self) -> tuple[FashnNetwork, PoseFinder, torch.device]:
        if self._parts is None:
            raise RuntimeError("setup() has to come first")
        return self._parts

    def _shown(self, request: PaintRequest, on_step: OnStep, should_stop: ShouldStop) -> Shown:
        """What the network will be shown; the pose may be found on the GPU, which may fail."""
        network, poses, _ = self._loaded()
        (reference,) = request.references
        frame = network.shape.input_shape
        try:
            return shown(
                request.person,
                reference,
                request.seed,
                frame=frame,
                poses=poses,
                on_step=on_step,
                should_stop=should_stop,
            )
        except Exception as error:  # ONNX Runtime's errors have no common type
            failure = device_failure(error, self._device_name)
            if failure is None:
                raise
        raise failure

    def _draw(self, jobs: Sequence[Shown], on_step: OnStep, should_stop: ShouldStop) -> Sequence[Tensor | Exception]:
        """Draw a batch; pictures come back on the CPU, ``(3, height, width)`` each.

        What does not fit into the device's memory is drawn in halves, down to one picture.
        """
        try:
            drawn = self._sample(jobs, on_step, should_stop)
        except RuntimeError as error:
            failure = device_failure(error, self._device_name)
            if failure is None:
                raise
        else:
            self._batches += 1  # one batch at a time
            self._pictures += len(jobs)
            return [each if each.isfinite().all() else EngineError("result_not_usable", _NOT_FINITE) for each in drawn]
        # The first error is dropped here: its traceback keeps the tensors on the device alive.
        if isinstance(failure, DeviceBroken):
            raise failure
        self.free_memory()
        if len(jobs) == 1:
            return [failure]
        half = len(jobs) // 2
        return [
            *self._draw(jobs[:half], on_step, should_stop),
            *self._draw(jobs[half:], on_step, should_stop),
        ]

    def _sample(self, jobs: Sequence[Shown], on_step: OnStep, should_stop: ShouldStop) -> Tensor:
        network, _, device = self._loaded()
        conditions = Conditions.joined([job.conditions for job in jobs])
        noise = start_noise([job.seed for job in jobs], network.shape.input_shape)
        sampler = Sampler(network, steps=self._steps, guidance=self._guidance)
        on_device = conditions.each(lambda tensor: tensor.to(device))
        return sampler.sample(on_device, noise.to(device), on_step, should_stop).cpu()


def _step_seconds(network: FashnNetwork, device: torch.device) -> float:
    """How long one step takes for one picture: with guidance, which is a batch of two.

    Raises:
        EngineError: See `_draw_nothing`.
    """

    def unguided() -> float:
        began = time.perf_counter()
        _draw_nothing(network, 1, device, steps=UNGUIDED_STEPS)
        return time.perf_counter() - began

    first = unguided()
    return 2 * (first if first > _QUICK_SECONDS else min(first, unguided()))


def _draw_nothing(network: FashnNetwork, count: int, device: torch.device, *, steps: int) -> None:
    """Draw ``count`` pictures of nothing.

    Raises:
        EngineError: The network makes numbers that are no colours, which no picture will change.
    """
    frame = network.shape.input_shape
    conditions = Conditions.of_nothing(count, frame, device)
    noise = start_noise(range(count), frame).to(device)
    sampler = Sampler(network, steps=steps, guidance=GUIDANCE)
    if not sampler.sample(conditions, noise, lambda _: None, lambda: False).isfinite().all():
        raise EngineError("result_not_usable", _NOT_FINITE)


def build(options: FashnOptions, workplace: Workplace) -> GenerativeEngine:
    """The engine with the settings of a worker, not yet loaded."""
    device = named_device(workplace.device)
    painter = FashnPainter(
        workplace.weights,
        device=device,
        dtype=chosen_dtype(workplace.precision, device),
        steps=options.steps,
        guidance=options.guidance,
        # Other devices are busy with one picture; in a batch everybody would wait for all of them.
        batch_size=options.batch_size if device.startswith("cuda") else 1,
        batch_wait_s=options.batch_wait_ms / 1000,
        threads=workplace.threads,
        compile=workplace.compile,
    )
    return GenerativeEngine(painter, workplace.segmenter)
