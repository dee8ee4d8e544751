"""FASHN VTON v1.5 as a painter: set up once, then one garment a call, calls drawn together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from engines.base import (
    DeviceOutOfMemory,
    EngineInfo,
    EngineUnavailable,
    Garment,
    OnStep,
    Picture,
    ShouldStop,
)
from engines.fashn import hints
from engines.fashn.about import FASHN
from engines.fashn.batching import MicroBatcher
from engines.fashn.checkpoint import WEIGHTS_FILE, load_network
from engines.fashn.network import Conditions, FashnNetwork
from engines.fashn.poses.finder import PoseFinder
from engines.fashn.preprocess import as_picture
from engines.fashn.sampler import Sampler, start_noise
from engines.fashn.shape import COLOURS, POSE_CHANNELS
from engines.fashn.showing import Shown, shown
from engines.generative.painter import PaintRequest

STEPS = 30
GUIDANCE = 1.5
"""The publishers' defaults."""

BATCH_SIZE = 8
BATCH_WAIT_S = 0.01
"""Long against the time between jobs that arrive together, short against the seconds of a batch."""

_WARM_UP_STEPS = 2
"""One with guidance and one without, as every picture has them."""

_CATEGORY = 1

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
    ) -> None:
        self._weights = weights
        self._device_name = device
        self._dtype = dtype
        self._steps = steps
        self._guidance = guidance
        self._batch_size = batch_size
        self._compile = compile
        self._batcher: MicroBatcher[Shown, Tensor] = MicroBatcher(self._draw, most=batch_size, wait_s=batch_wait_s)
        self._batches = 0
        self._pictures = 0
        self._parts: tuple[FashnNetwork, PoseFinder, torch.device] | None = None

    @property
    def info(self) -> EngineInfo:
        """What this engine is."""
        return replace(FASHN, device=self._device_name, parallel=self._batch_size)

    @property
    def garments_per_pass(self) -> int:
        """The network is shown one garment."""
        return 1

    def setup(self) -> None:
        """Load the weights and draw nothing once, so that the first customer does not wait for it.

        Raises:
            EngineUnavailable: The device is missing or too small, or the weights are missing, corrupt or not the right
                ones.
        """
        device = _device(self._device_name)
        dtype = self._dtype or (torch.bfloat16 if device.type == "cuda" else torch.float32)
        try:
            network = load_network(self._weights, device=device, dtype=dtype)
            if self._compile:
                network.compile_repeated_blocks()  # type: ignore[no-untyped-call]
            poses = PoseFinder(self._weights, cuda_device=device.index or 0 if device.type == "cuda" else None)
            # On a CPU, whose memory is not counted here, one picture takes long enough.
            for count in sorted({1, self._batch_size} if device.type == "cuda" else {1}):
                _warm_up(network, count, device)
        except torch.OutOfMemoryError:
            raise EngineUnavailable(
                f"{self._weights / WEIGHTS_FILE} and a batch of {self._batch_size} do not fit into the memory of "
                f"{self._device_name}; choose a smaller batch."
            ) from None
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
            EngineError: ``person_not_found``.
            RenderStopped: ``should_stop`` said so.
            DeviceOutOfMemory: The batch did not fit into the device's memory.
        """
        network, poses, _ = self._loaded()
        (reference,) = request.references
        job = shown(
            request.person,
            reference,
            request.seed,
            frame=network.shape.input_shape,
            poses=poses,
            on_step=on_step,
            should_stop=should_stop,
        )
        return as_picture(self._batcher.submit(job, on_step, should_stop), job.place)

    def refusal(self, garment: Garment, name: str) -> str | None:
        """Why a hint that makes sense is not followed, by the hint's name; None where it is."""
        return hints.refusal(garment, name)

    def free_memory(self) -> None:
        """Give cached memory of the GPU back, after a `DeviceOutOfMemory`."""
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def readings(self) -> Mapping[str, float]:
        """Batches drawn so far and the pictures in them, and bytes of the GPU."""
        figures = {"batches": self._batches, "batch_pictures": self._pictures}
        if self._parts is not None and self._parts[2].type == "cuda":
            figures["memory_bytes"] = torch.cuda.memory_allocated(self._parts[2])
            figures["memory_peak_bytes"] = torch.cuda.max_memory_allocated(self._parts[2])
        return figures

    def _loaded(self) -> tuple[FashnNetwork, PoseFinder, torch.device]:
        if self._parts is None:
            raise RuntimeError("setup() has to come first")
        return self._parts

    def _draw(self, jobs: Sequence[Shown], on_step: OnStep, should_stop: ShouldStop) -> Sequence[Tensor | Exception]:
        """Draw a batch; pictures come back on the CPU, ``(3, height, width)`` each."""
        try:
            drawn = self._sample(jobs, on_step, should_stop)
        except torch.OutOfMemoryError as error:
            reason = str(error)
        else:
            self._batches += 1  # one batch at a time
            self._pictures += len(jobs)
            return [each if each.isfinite().all() else ArithmeticError(_NOT_FINITE) for each in drawn]
        # Raised here, where the first error is forgotten: its traceback keeps the tensors on the device alive.
        raise DeviceOutOfMemory(reason)

    def _sample(self, jobs: Sequence[Shown], on_step: OnStep, should_stop: ShouldStop) -> Tensor:
        network, _, device = self._loaded()
        conditions = Conditions.joined([job.conditions for job in jobs])
        noise = start_noise([job.seed for job in jobs], network.shape.input_shape)
        sampler = Sampler(network, steps=self._steps, guidance=self._guidance)
        on_device = conditions.each(lambda tensor: tensor.to(device))
        return sampler.sample(on_device, noise.to(device), on_step, should_stop).cpu()


def _device(name: str) -> torch.device:
    """The device of that name, if it is there.

    Raises:
        EngineUnavailable: It is not.
    """
    try:
        device = torch.device(name)
    except RuntimeError:
        raise EngineUnavailable(f"There is no device called {name}; it is cpu, cuda or cuda:1 and so on.") from None
    if device.type not in {"cpu", "cuda"}:
        raise EngineUnavailable(f"The fashn engine runs on cpu and cuda, not on {name}.")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise EngineUnavailable("The fashn engine needs a CUDA device and none was found here.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise EngineUnavailable(f"There is no device {name}: {torch.cuda.device_count()} CUDA devices were found here.")
    return device


def _warm_up(network: FashnNetwork, count: int, device: torch.device) -> None:
    """Draw ``count`` pictures of nothing in the fewest steps."""
    frame = network.shape.input_shape
    conditions = Conditions(
        person=torch.zeros(count, COLOURS, *frame, device=device),
        person_pose=torch.zeros(count, POSE_CHANNELS, *frame, device=device),
        garment=torch.zeros(count, COLOURS, *frame, device=device),
        garment_pose=torch.zeros(count, POSE_CHANNELS, *frame, device=device),
        category=torch.full((count,), _CATEGORY, device=device),
    )
    noise = start_noise(range(count), frame).to(device)
    sampler = Sampler(network, steps=_WARM_UP_STEPS, guidance=GUIDANCE)
    sampler.sample(conditions, noise, lambda _: None, lambda: False)
