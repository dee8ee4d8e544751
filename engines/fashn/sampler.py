"""From noise to a picture: Euler steps along the velocity that the network predicts, with guidance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from diffusers import FlowMatchEulerDiscreteScheduler
from torch import Tensor

from engines.accelerator import wait_for
from engines.base import OnStep, RenderStopped, ShouldStop
from engines.fashn.network import Conditions, FashnNetwork
from engines.fashn.shape import COLOURS
from engines.pace import Step

TIME_SHIFT = 1.5
"""How far the steps crowd towards noise; exponential shift of the published sampler."""

UNGUIDED_STEPS = 1
"""The last steps run without guidance, which would only sharpen noise there."""

STEP = "denoise"
"""Name of the stage, told at every step."""


def schedule(steps: int) -> Any:
    """The times at which the network is asked, ``sigmas`` from 0, noise, to 1, the picture.

    Args:
        steps: How often it is asked; ``sigmas`` holds one time more.

    Returns:
        A `diffusers.FlowMatchEulerDiscreteScheduler`, which says nothing about its types.
    """
    scheduler: Any = FlowMatchEulerDiscreteScheduler(  # type: ignore[no-untyped-call]
        invert_sigmas=True, use_dynamic_shifting=True, time_shift_type="exponential"
    )
    scheduler.set_timesteps(sigmas=np.linspace(1.0, 1.0 / steps, steps), mu=TIME_SHIFT)
    scheduler.set_begin_index(0)
    return scheduler


def start_noise(seeds: Sequence[int], frame: tuple[int, int]) -> Tensor:
    """The noise that the pictures start from; each depends only on its own seed, not on the device or on the batch.

    Args:
        seeds: One a picture.
        frame: Height and width.

    Returns:
        ``(n, 3, height, width)`` float32 on the CPU, normally distributed.
    """
    drawn = [torch.randn(COLOURS, *frame, generator=torch.Generator().manual_seed(seed)) for seed in seeds]
    return torch.stack(drawn)


class Sampler:
    """Draws batches of pictures.

    Args:
        network: Predicts the velocity.
        steps: How many steps a picture takes.
        guidance: How far beyond the unconditional prediction to go, 1 for not at all.
    """

    def __init__(self, network: FashnNetwork, *, steps: int, guidance: float) -> None:
        self._network = network
        self._steps = steps
        self._guidance = guidance

    @torch.inference_mode()
    def sample(self, conditions: Conditions, noise: Tensor, on_step: OnStep, should_stop: ShouldStop) -> Tensor:
        """Draw.

        Args:
            conditions: What the pictures are drawn from, ``n`` of each, on the network's device.
            noise: ``(n, 3, height, width)`` float32, on the same device.
            on_step: Called with the name `STEP` and its place, before each step.
            should_stop: Asked as often.

        Returns:
            ``(n, 3, height, width)`` float32, -1 to 1 and a little beyond.

        Raises:
            RenderStopped: ``should_stop`` said so.
        """
        scheduler = schedule(self._steps)
        doubled = conditions.with_null_branch()
        picture = noise
        for number, (time, timestep) in enumerate(zip(scheduler.sigmas, scheduler.timesteps, strict=False)):
            if should_stop():
                raise RenderStopped
            on_step(Step(STEP, number + 1, self._steps))
            now = time.to(noise.device).expand(len(noise))
            if number < self._steps - UNGUIDED_STEPS:
                velocity = self._guided(picture, now, doubled)
            else:
                velocity = self._network(picture, now, conditions).float()
            picture = scheduler.step(velocity, timestep, picture).prev_sample
            if noise.device.type == "mps":  # it would be given all steps at once, and could not be stopped
                wait_for(noise.device)
        return picture

    def _guided(self, picture: Tensor, now: Tensor, doubled: Conditions) -> Tensor:
        """The prediction pushed away from the one without conditions; both come from one call."""
        both = self._network(torch.cat([picture, picture]), torch.cat([now, now]), doubled).float()
        with_conditions, without = both.chunk(2)
        guided: Tensor = without + self._guidance * (with_conditions - without)
        return guided
