"""The networks that draw a picture together."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from diffusers.models.autoencoders.autoencoder_kl_flux2 import AutoencoderKLFlux2
from diffusers.models.transformers.transformer_flux2 import Flux2Transformer2DModel
from diffusers.schedulers.scheduling_flow_match_euler_discrete import FlowMatchEulerDiscreteScheduler

from engines.klein.memory import Offload
from engines.klein.text_encoding import WordEncoder


@dataclass(frozen=True)
class Networks:
    """All that the pipeline needs, loaded.

    Attributes:
        scheduler: Says how far each step goes.
        vae: Between pixels and latents.
        transformer: Draws.
        words: Turns a prompt into its embedding.
        is_distilled: Whether the transformer was taught to draw without guidance in a few steps.
        offload: What lies in main memory.
    """

    scheduler: FlowMatchEulerDiscreteScheduler
    vae: AutoencoderKLFlux2
    transformer: Flux2Transformer2DModel
    words: WordEncoder
    is_distilled: bool
    offload: Offload = Offload.NOTHING

    @property
    def device(self) -> torch.device:
        """Where pictures are drawn."""
        return self.vae.device
