"""A whole pipeline with random weights, small enough for a CPU to draw with in a moment, and requests for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKLFlux2, FlowMatchEulerDiscreteScheduler, Flux2KleinPipeline, Flux2Transformer2DModel
from transformers import Qwen2TokenizerFast, Qwen3Config, Qwen3ForCausalLM

from engines.base import Category, Garment, Hints, PersonMap, Picture
from engines.generative.painter import PaintRequest, Reference
from engines.klein.networks import Networks
from engines.klein.painter import KleinPainter

PICTURE_SIDE = 64
HIDDEN = 8
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n"
)


def save_tiny_pipeline(folder: Path) -> None:
    """All five components as diffusers lays them out; the text encoder has as many layers as are read."""
    torch.manual_seed(0)
    vae = AutoencoderKLFlux2(
        block_out_channels=(4, 4, 4, 4), layers_per_block=1, latent_channels=4, norm_num_groups=2, sample_size=64
    )
    # As trained ones, these are not 0 and 1.
    vae.bn.running_mean.normal_()
    vae.bn.running_var.uniform_(0.5, 2.0)
    transformer = Flux2Transformer2DModel(
        in_channels=16,
        num_layers=1,
        num_single_layers=2,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=3 * HIDDEN,
        timestep_guidance_channels=16,
        axes_dims_rope=(4, 4, 4, 4),
        guidance_embeds=False,
    )
    tokenizer = tiny_tokenizer()
    encoder = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=HIDDEN,
            intermediate_size=16,
            num_hidden_layers=28,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
            tie_word_embeddings=True,
        )
    )
    scheduler = FlowMatchEulerDiscreteScheduler(shift=3.0, use_dynamic_shifting=True)
    pipeline = Flux2KleinPipeline(scheduler, vae, encoder, tokenizer, transformer, is_distilled=True)
    pipeline.save_pretrained(folder)


def tiny_tokenizer() -> Qwen2TokenizerFast:
    """The real class with single bytes for tokens; without merges no word is ever put together."""
    letters = [chr(code) for code in range(33, 127)] + ["\u0120", "\u010a"]  # byte-level names of blank and newline
    vocabulary = {letter: number for number, letter in enumerate(letters)}
    vocabulary["<|endoftext|>"] = len(vocabulary)
    tokenizer = Qwen2TokenizerFast(vocab=vocabulary, merges=[])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def noise(height: int, width: int, seed: int) -> Picture:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def person_map(photo: Picture) -> PersonMap:
    empty = np.zeros(photo.shape[:2], np.uint8)
    return PersonMap(empty, empty, np.zeros((33, 4), np.float32), 1.0)


def reference(
    seed: int, hints: Hints | None = None, category: Category = Category.UPPER_BODY, *, back: bool = False
) -> Reference:
    picture = noise(PICTURE_SIDE, PICTURE_SIDE, seed)
    behind = noise(PICTURE_SIDE, 2 * PICTURE_SIDE, seed + 1000) if back else None
    garment = Garment(picture, category, hints or Hints(), behind)
    return Reference(garment, picture, np.full(picture.shape[:2], 255, np.uint8), behind)


def request(*references: Reference, seed: int = 7, size: tuple[int, int] = (96, 64)) -> PaintRequest:
    photo = noise(*size, seed=99)
    return PaintRequest(photo, person_map(photo), references or (reference(1),), seed)


def ignore(_stage: str) -> None:
    pass


def go_on() -> bool:
    return False


def networks_of(painter: KleinPainter) -> Networks:
    assert painter._networks is not None
    return painter._networks
