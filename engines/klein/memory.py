"""How the networks fit into a GPU: what stays in main memory, how many bytes that leaves, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import torch
from diffusers.models.transformers.transformer_flux2 import Flux2Transformer2DModel
from torch import nn

from engines.base import EngineUnavailable

GB = 1e9


class Offload(StrEnum):
    """What lies in main memory, from the fastest way to the smallest."""

    NOTHING = "nothing"
    """The text encoder alone, which is lent the GPU for each new prompt."""
    TEXT_ENCODER = "text_encoder"
    """The text encoder, which computes on the CPU."""
    BLOCKS = "blocks"
    """And the blocks of the transformer, each of which is lent the GPU for its turn in a step."""


_ON_THE_CPU = "The text encoder computes on the CPU: a new prompt takes seconds to minutes, and is kept from then on"

COSTS = {
    Offload.NOTHING: "",
    Offload.TEXT_ENCODER: f"{_ON_THE_CPU}.",
    Offload.BLOCKS: f"{_ON_THE_CPU}; each step copies the network's 7.4 GB to the GPU, most of a second over PCIe 3.",
}
"""For operators, what each way costs."""

WORKING_BYTES = round(2.7 * GB)
"""Beside the weights, for four garments with their backs at one megapixel: on an H200 10.52 GB were in use at most
(bench/results/gpu-h200.json), and the weights of transformer and VAE are 7.92 of these. It grows with the pixels."""

FP8_SAVES = 2.5 / 7.75
"""Of the transformer's bytes, measured there: 8.00 instead of 10.52 GB. In part the layers in use are widened."""

MARGIN_BYTES = round(0.5 * GB)
"""For what lies in the memory in pieces too small to be used; not measured."""


@dataclass(frozen=True)
class Footprint:
    """Bytes of the networks and of what is made with them.

    Attributes:
        transformer: All of it, less what FP8 saves.
        lent: Of it, what is on the GPU at a time where blocks are lent: what belongs to no block, and two of the
            largest, of which one is copied while the other computes.
        vae: All of it.
        text_encoder: All of it.
        working: For the picture, and for latents of garments that are kept.
    """

    transformer: int
    lent: int
    vae: int
    text_encoder: int
    working: int

    @classmethod
    def of(
        cls,
        transformer: Flux2Transformer2DModel,
        vae: nn.Module,
        text_encoder: nn.Module,
        *,
        megapixels: float,
        cache_bytes: int,
        fp8: bool,
    ) -> Footprint:
        """Of networks as they are loaded, on whatever device.

        Args:
            transformer: In the precision in which it computes.
            vae: The same.
            text_encoder: The same.
            megapixels: Of the largest picture.
            cache_bytes: For latents of garments.
            fp8: Whether the transformer's weights will lie in eight bits.
        """
        blocks = [*transformer.transformer_blocks, *transformer.single_transformer_blocks]
        whole, sizes = _bytes_of(transformer), [_bytes_of(block) for block in blocks]
        return cls(
            transformer=round(whole * (1 - FP8_SAVES)) if fp8 else whole,
            lent=whole - sum(sizes) + 2 * max(sizes),
            vae=_bytes_of(vae),
            text_encoder=_bytes_of(text_encoder),
            working=round(WORKING_BYTES * max(megapixels, 1.0)) + cache_bytes + MARGIN_BYTES,
        )

    def needs(self, offload: Offload) -> int:
        """Bytes of the GPU at most."""
        if offload is Offload.BLOCKS:
            return self.lent + self.vae + self.working
        beside = self.text_encoder if offload is Offload.NOTHING else 0  # which works when no picture is drawn
        return self.transformer + self.vae + max(self.working, beside + MARGIN_BYTES)


def fitting(footprint: Footprint, free_bytes: int, *, blocks: bool) -> Offload:
    """The fastest way in which the networks fit.

    Args:
        footprint: Of the networks.
        free_bytes: Of the GPU.
        blocks: Whether blocks may be lent.

    Raises:
        EngineUnavailable: There is none.
    """
    ways = [way for way in Offload if blocks or way is not Offload.BLOCKS]
    for way in ways:
        if footprint.needs(way) <= free_bytes:
            return way
    hint = "" if blocks else " or switch compile and fp8 off, so that blocks can be lent"
    needed, free = footprint.needs(ways[-1]) / GB, free_bytes / GB
    raise EngineUnavailable(
        f"The engine klein needs {needed:.1f} GB of the GPU's memory and {free:.1f} GB are free: free some"
        f"{hint or ' or use a larger GPU'}."
    )


def lend_blocks(transformer: Flux2Transformer2DModel, device: torch.device) -> None:
    """Have each block copied to the device for its turn; on a GPU the next one is copied meanwhile.

    The numbers are the same as without.

    Args:
        transformer: On the CPU.
        device: Where it computes.
    """
    transformer.enable_group_offload(
        onload_device=device,
        offload_device=torch.device("cpu"),
        offload_type="block_level",
        num_blocks_per_group=1,
        use_stream=device.type == "cuda",
    )


def _bytes_of(network: nn.Module) -> int:
    return sum(tensor.nbytes for tensor in (*network.parameters(), *network.buffers()))
