"""Options that make the networks faster or smaller; each is off by default."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import torch
from diffusers.models.attention_dispatch import AttentionBackendName
from diffusers.models.autoencoders.autoencoder_kl_flux2 import AutoencoderKLFlux2
from diffusers.models.transformers.transformer_flux2 import Flux2Transformer2DModel

from engines.base import EngineUnavailable


class Fp8(StrEnum):
    """What is kept in eight bits."""

    OFF = "off"
    STORAGE = "storage"
    """Weights lie in FP8 and are widened layer by layer as they are used: half the memory, not faster."""


@dataclass(frozen=True)
class Speed:
    """Settings of the networks.

    Attributes:
        compile: Compile the transformer's repeated blocks and both halves of the VAE, once for all sizes. The first
            pictures take long; they are drawn in setup.
        attention_backend: A name that diffusers knows, e.g. ``_native_cudnn``, ``flash`` or ``sage``; None leaves the
            choice to torch.
        fp8: What is kept in eight bits.
    """

    compile: bool = False
    attention_backend: str | None = None
    fp8: Fp8 = Fp8.OFF


def apply_speed(
    transformer: Flux2Transformer2DModel, vae: AutoencoderKLFlux2, speed: Speed, dtype: torch.dtype
) -> None:
    """Change loaded networks for good.

    Args:
        transformer: On its device.
        vae: On its device.
        speed: What to change.
        dtype: What the transformer computes in.

    Raises:
        EngineUnavailable: The attention backend is not known, not installed, or would fetch code; or two settings
            exclude each other.
    """
    if speed.compile and speed.fp8 is Fp8.STORAGE:
        # The casting is a hook in every layer, which leaves the compiler nothing worth compiling.
        raise EngineUnavailable("The settings compile and fp8=storage exclude each other; switch one of them off.")
    if speed.attention_backend is not None:
        _set_attention(transformer, speed.attention_backend)
    if speed.fp8 is Fp8.STORAGE:
        transformer.enable_layerwise_casting(storage_dtype=torch.float8_e4m3fn, compute_dtype=dtype)
    if speed.compile:
        # Sizes of photos and numbers of garments vary; a graph for each would mean compiling in the middle of jobs.
        transformer.compile_repeated_blocks(fullgraph=True, dynamic=True)  # type: ignore[no-untyped-call]
        # Norms over groups of channels take half of the VAE's time uncompiled (93 of 693 ms a picture on an H200).
        for half in (vae.encoder, vae.decoder):
            half.compile(dynamic=True)


def _set_attention(transformer: Flux2Transformer2DModel, name: str) -> None:
    known = sorted(backend.value for backend in AttentionBackendName if not _fetches_code(backend.value))
    if name not in known:
        reason = "fetches code from a hub" if _fetches_code(name) else "is not known"
        raise EngineUnavailable(f"The attention backend {name!r} {reason}; there are {', '.join(known)}.")
    try:
        transformer.set_attention_backend(name)
    except (RuntimeError, ValueError, ImportError) as error:
        raise EngineUnavailable(f"The attention backend {name!r} cannot be used here: {error}") from error


def _fetches_code(name: str) -> bool:
    return name.endswith("_hub")
