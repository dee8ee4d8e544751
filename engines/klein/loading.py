"""Loads the networks from a folder: checked first, from safetensors only, without running or fetching other code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, TypeVar

import torch
from diffusers.models.autoencoders.autoencoder_kl_flux2 import AutoencoderKLFlux2
from diffusers.models.transformers.transformer_flux2 import Flux2Transformer2DModel
from diffusers.schedulers.scheduling_flow_match_euler_discrete import FlowMatchEulerDiscreteScheduler
from safetensors import SafetensorError
from transformers.models.qwen2.tokenization_qwen2 import Qwen2Tokenizer
from transformers.models.qwen3.configuration_qwen3 import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import Qwen3ForCausalLM

from engines.base import EngineUnavailable
from engines.errors import first_line
from engines.klein.memory import Offload, lend_blocks
from engines.klein.networks import Networks
from engines.klein.repository import model_folder, read_index, read_json
from engines.klein.text_encoding import DEEPEST_LAYER, LAYERS_READ, QwenEncoder
from engines.klein.weight_files import check_component

DIFFUSERS_STEM, TRANSFORMERS_STEM = "diffusion_pytorch_model", "model"
"""Names that the two libraries give to weight files."""

TOKEN_VALUES = 4
"""Latent pixels, two by two, that make one token."""

Loaded = TypeVar("Loaded")

ChooseOffload: TypeAlias = Callable[[Flux2Transformer2DModel, AutoencoderKLFlux2, Qwen3ForCausalLM], Offload]


def load_networks(
    model: str,
    revision: str,
    *,
    device: torch.device,
    dtype: torch.dtype,
    text_encoder_device: torch.device | None,
    offload: ChooseOffload = lambda *_networks: Offload.NOTHING,
) -> Networks:
    """Check everything, then load it.

    Args:
        model: Folder or hub id, see `engines.klein.repository.model_folder`.
        revision: Commit of the hub's repository.
        device: For VAE and transformer.
        dtype: Of all weights.
        text_encoder_device: Where the text encoder lies and computes; None lets it lie on the CPU, and leaves to
            ``offload`` whether it computes there or on ``device``, where it is copied for each new prompt.
        offload: Chooses what stays in main memory, by the networks as they are loaded.

    Raises:
        EngineUnavailable: Something is missing or wrong; the sentence names the file and the key.
    """
    folder = model_folder(model, revision)
    check_weights(folder)
    transformer = _loaded(folder / "transformer", Flux2Transformer2DModel, dtype=dtype)
    vae = _loaded(folder / "vae", AutoencoderKLFlux2, dtype=dtype)
    encoder = _loaded(folder / "text_encoder", Qwen3ForCausalLM, dtype=dtype)
    tokenizer = _from_files(
        folder / "tokenizer", lambda path: Qwen2Tokenizer.from_pretrained(path, local_files_only=True)
    )
    if not tokenizer.chat_template:
        raise EngineUnavailable(f"The tokenizer in {folder / 'tokenizer'} has no chat template.")
    way = offload(transformer, vae, encoder)
    rest = text_encoder_device or torch.device("cpu")
    torch.nn.Module.to(encoder, rest)
    computing = text_encoder_device or (device if way is Offload.NOTHING else rest)
    words = QwenEncoder(encoder, tokenizer, device=computing, rest=rest)
    scheduler = _from_files(
        folder / "scheduler", lambda path: FlowMatchEulerDiscreteScheduler.from_pretrained(path, local_files_only=True)
    )
    distilled = bool(read_index(folder).get("is_distilled", False))
    if way is Offload.BLOCKS:
        lend_blocks(transformer, device)
    else:
        transformer.to(device)
    return Networks(scheduler, vae.to(device), transformer, words, distilled, way)


def check_weights(folder: Path) -> None:
    """See that a folder holds this pipeline, whole, and networks that fit each other; nothing is loaded.

    Raises:
        EngineUnavailable: Names the file and the key.
    """
    read_index(folder)
    transformer = _outline(folder / "transformer", lambda path: Flux2Transformer2DModel.from_config(read_json(path)))
    check_component(folder / "transformer", DIFFUSERS_STEM, transformer)
    vae = _outline(folder / "vae", lambda path: AutoencoderKLFlux2.from_config(read_json(path)))
    check_component(folder / "vae", DIFFUSERS_STEM, vae)
    encoder = _outline(folder / "text_encoder", lambda path: Qwen3ForCausalLM(Qwen3Config.from_dict(read_json(path))))
    tied = set(encoder._tied_weights_keys or ()) if encoder.config.tie_word_embeddings else set()  # noqa: SLF001
    check_component(folder / "text_encoder", TRANSFORMERS_STEM, encoder, optional=tied)
    pairs = {
        "joint_attention_dim": (transformer.config.joint_attention_dim, LAYERS_READ * encoder.config.hidden_size),
        "in_channels": (transformer.config.in_channels, TOKEN_VALUES * vae.config.latent_channels),
    }
    for key, (found, expected) in pairs.items():
        if found != expected:
            raise EngineUnavailable(
                f"{folder / 'transformer' / 'config.json'}: {key} is {found}, but the other networks need {expected}."
            )
    if encoder.config.num_hidden_layers < DEEPEST_LAYER:
        raise EngineUnavailable(
            f"{folder / 'text_encoder' / 'config.json'}: num_hidden_layers is {encoder.config.num_hidden_layers}, "
            f"but layer {DEEPEST_LAYER} is read."
        )


def _outline(folder: Path, build: Callable[[Path], Loaded]) -> Loaded:
    """The network of a configuration without memory for its weights."""
    path = folder / "config.json"
    try:
        with torch.device("meta"):
            return build(path)
    except (TypeError, ValueError, KeyError, AttributeError, RuntimeError, ZeroDivisionError) as error:
        raise EngineUnavailable(f"{path} does not describe this network: {first_line(error)}") from error


def _loaded(folder: Path, network: type[Loaded], **options: torch.dtype) -> Loaded:
    def load(path: Path) -> Loaded:
        loaded = network.from_pretrained(path, use_safetensors=True, local_files_only=True, **options)  # type: ignore[attr-defined]
        return loaded.eval().requires_grad_(False)  # type: ignore[no-any-return]

    return _from_files(folder, load)


def _from_files(folder: Path, load: Callable[[Path], Loaded]) -> Loaded:
    try:
        return load(folder)
    except torch.OutOfMemoryError:
        raise
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, SafetensorError) as error:
        raise EngineUnavailable(f"{folder} cannot be loaded: {first_line(error)}") from error
