"""FASHN VTON v1.5 as a painter: set up once, then one garment a call, calls drawn together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from engines.accelerator import device_failure, found_device, free_cached_memory, memory_readings
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
from engines.fashn.sampler import Sampler, start_noise
from engines.fashn.showing import Shown, shown
from engines.generative.engine import GenerativeEngine
from engines.generative.painter import PaintRequest
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

_NOT_FINITE = "The network made numbers that are no colours."


class FashnPainter:
    """Draws one garment a pass; calls that come together share the passes of the network.

    Args:
        weights: The folder, with names as published.
        device: ``cpu``, ``cuda`` or ``cuda:1`` and so on.
        dtype: What the network is computed in; None for bfloat16 on a GPU and float32 on a CPU.
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
        dtype: torch.dtype | None = None,
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
        # A step at full size may take minutes on a CPU, without any fault.
        still_s = math.inf if device == "cpu" else STILL_S
        self._batcher: MicroBatcher[Shown, Tensor] = MicroBatcher(
            self._draw, most=batch_size, wait_s=batch_wait_s, still_s=still_s
        )
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
        """Load the weights and draw once for nobody, so that the first customer does not wait for it.

        Raises:
            EngineUnavailable: The device is missing, too small or cannot draw, or the weights are missing, corrupt or
                not the right ones.
        """
        device = found_device(self._device_name, FASHN.name)
        dtype = self._dtype or (torch.bfloat16 if device.type == "cuda" else torch.float32)
        try:
            network = load_network(self._weights, device=device, dtype=dtype)
            if self._compile:
                # For every size of batch at once: torch gives up on a function that it had to compile eight times.
                network.compile_repeated_blocks(dynamic=True)  # type: ignore[no-untyped-call]  # diffusers is untyped
            cuda_device = (device.index or 0) if device.type == "cuda" else None
            poses = PoseFinder(self._weights, cuda_device=cuda_device, threads=self._threads)
            # One picture on a CPU, which takes long enough; its memory needs no test.
            for count in sorted({1, self._batch_size} if device.type == "cuda" else {1}):
                _warm_up(network, count, device)
        except (RuntimeError, ValueError, ImportError, EngineError) as error:
            if isinstance(device_failure(error, self._device_name), DeviceOutOfMemory):
                raise EngineUnavailable(
                    f"{self._weights / WEIGHTS_FILE} and a batch of {self._batch_size} do not fit into the memory of "
                    f"{self._device_name}; choose a smaller batch."
                ) from None
            raise EngineUnavailable(f"The engine fashn cannot draw on {device}: {first_line(error)}") from error
        self._parts = network, poses, device

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


def _warm_up(network: FashnNetwork, count: int, device: torch.device) -> None:
    """Draw ``count`` pictures of nothing in the fewest steps.

    Raises:
        EngineError: The network makes numbers that are no colours, which no picture will change.
    """
    frame = network.shape.input_shape
    conditions = Conditions.of_nothing(count, frame, device)
    noise = start_noise(range(count), frame).to(device)
    sampler = Sampler(network, steps=_WARM_UP_STEPS, guidance=GUIDANCE)
    if not sampler.sample(conditions, noise, lambda _: None, lambda: False).isfinite().all():
        raise EngineError("result_not_usable", _NOT_FINITE)


def build(options: FashnOptions, workplace: Workplace) -> GenerativeEngine:
    """The engine with the settings of a worker, not yet loaded."""
    painter = FashnPainter(
        workplace.weights,
        device=workplace.device,
        steps=options.steps,
        guidance=options.guidance,
        batch_size=options.batch_size,
        batch_wait_s=options.batch_wait_ms / 1000,
        threads=workplace.threads,
        compile=workplace.compile,
    )
    return GenerativeEngine(painter, workplace.segmenter)
