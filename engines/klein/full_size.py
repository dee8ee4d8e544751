"""The networks at full size with random weights, for measuring time and memory without the real weights.

The cost of a picture does not depend on the values of the weights. The pictures are noise.
"""

from __future__ import annotations

import math
from typing import TypeVar

import torch
from diffusers.models.autoencoders.autoencoder_kl_flux2 import AutoencoderKLFlux2
from diffusers.models.transformers.transformer_flux2 import Flux2Transformer2DModel
from diffusers.schedulers.scheduling_flow_match_euler_discrete import FlowMatchEulerDiscreteScheduler

from engines.base import OnStep, ShouldStop
from engines.klein.networks import Networks

TOKENS, EMBEDDING_VALUES = 512, 7680
"""Shape of a prompt embedding: three layers of 2560 values for each token."""

TRANSFORMER = {
    "in_channels": 128,
    "num_layers": 5,
    "num_single_layers": 20,
    "attention_head_dim": 128,
    "num_attention_heads": 24,
    "joint_attention_dim": EMBEDDING_VALUES,
    "guidance_embeds": False,
}
"""What sets the network of 4 B apart from the class's own defaults, from the conversion script of diffusers. The VAE is
built from its class's defaults."""

Network = TypeVar("Network", bound=torch.nn.Module)


class RandomWords:
    """Stands in for the text encoder, which is left out: an embedding of the right shape, another for each prompt."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = dtype

    @property
    def device(self) -> torch.device:
        """The CPU."""
        return torch.device("cpu")

    def encode(self, prompt: str, on_step: OnStep, should_stop: ShouldStop) -> torch.Tensor:
        """``(1, TOKENS, EMBEDDING_VALUES)`` of noise; takes no notice of the callbacks, for it takes no time."""
        del on_step, should_stop
        generator = torch.Generator().manual_seed(int.from_bytes(prompt.encode()[-7:], "big"))
        return torch.randn(1, TOKENS, EMBEDDING_VALUES, generator=generator).to(self._dtype)


def full_size(device: torch.device | str, dtype: torch.dtype) -> Networks:
    """All networks but the text encoder, for `engines.klein.painter.KleinPainter`'s argument ``networks``.

    Args:
        device: Where the weights are made; ``meta`` makes none.
        dtype: Of the weights; in bfloat16 they take 7.9 GB.
    """
    device = torch.device(device)
    with torch.device("meta"):
        transformer, vae = Flux2Transformer2DModel(**TRANSFORMER), AutoencoderKLFlux2()
    return Networks(
        FlowMatchEulerDiscreteScheduler(shift=3.0, use_dynamic_shifting=True),
        _filled(vae, device, dtype),
        _filled(transformer, device, dtype),
        RandomWords(dtype),
        is_distilled=True,
    )


def _filled(network: Network, device: torch.device, dtype: torch.dtype) -> Network:
    """The network with weights so large that values keep their size from layer to layer."""
    # Not diffusers' own method, which warns of modules that it would keep in float32; there are none.
    torch.nn.Module.to(network, dtype)
    network.eval().requires_grad_(requires_grad=False)
    if device.type == "meta":
        return network
    network.to_empty(device=device)
    generator = torch.Generator(device).manual_seed(0)
    for name, tensor in network.state_dict().items():
        if tensor.ndim > 1:
            tensor.normal_(std=1 / math.sqrt(tensor[0].numel()), generator=generator)
        else:
            tensor.fill_(0.0 if name.endswith(("bias", "running_mean", "num_batches_tracked")) else 1.0)
    return network
