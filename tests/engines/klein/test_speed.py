from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import AutoencoderKLFlux2, Flux2KleinPipeline, Flux2Transformer2DModel

from engines.base import EngineUnavailable
from engines.klein.painter import KleinPainter
from engines.klein.speed import Fp8, Speed, apply_speed
from tests.engines.klein.tiny import request


@pytest.fixture
def transformer(stock: Flux2KleinPipeline) -> Iterator[Flux2Transformer2DModel]:
    fresh = Flux2Transformer2DModel.from_config(stock.transformer.config)
    fresh.load_state_dict(stock.transformer.state_dict())
    yield fresh
    fresh.reset_attention_backend()


@pytest.fixture
def vae(stock: Flux2KleinPipeline) -> AutoencoderKLFlux2:
    fresh = AutoencoderKLFlux2.from_config(stock.vae.config)
    fresh.load_state_dict(stock.vae.state_dict())
    return fresh


def test_nothing_is_changed_unasked(transformer: Flux2Transformer2DModel, vae: AutoencoderKLFlux2) -> None:
    before = {name: tensor.clone() for name, tensor in transformer.state_dict().items()}
    apply_speed(transformer, vae, Speed(), torch.float32)
    assert not any(module._compiled_call_impl for module in transformer.modules())
    for name, tensor in transformer.state_dict().items():
        assert tensor.dtype == before[name].dtype
        assert torch.equal(tensor, before[name])


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")  # torch's compiler
def test_the_repeated_blocks_and_the_vae_are_compiled(
    transformer: Flux2Transformer2DModel, vae: AutoencoderKLFlux2
) -> None:
    apply_speed(transformer, vae, Speed(compile=True), torch.float32)
    compiled = [module for module in transformer.modules() if module._compiled_call_impl is not None]
    assert compiled == [*transformer.transformer_blocks, *transformer.single_transformer_blocks]
    assert [module for module in vae.modules() if module._compiled_call_impl is not None] == [vae.encoder, vae.decoder]


def test_compiling_and_casting_exclude_each_other(
    transformer: Flux2Transformer2DModel, vae: AutoencoderKLFlux2
) -> None:
    with pytest.raises(EngineUnavailable, match="exclude each other"):
        apply_speed(transformer, vae, Speed(compile=True, fp8=Fp8.STORAGE), torch.float32)


def test_weights_lie_in_eight_bits_and_draw_nearly_the_same(weights: Path, painter: KleinPainter) -> None:
    small = KleinPainter(str(weights), device="cpu", dtype="float32", fp8="storage")
    small.setup()
    assert small._networks is not None
    block = small._networks.transformer.transformer_blocks[0]
    assert block.ff.linear_in.weight.dtype == torch.float8_e4m3fn
    assert block.attn.norm_q.weight.dtype == torch.float32
    pictures = [one.paint(request(), lambda _: None, lambda: False).astype(float) for one in (small, painter)]
    difference = np.abs(pictures[0] - pictures[1])
    assert 0 < difference.mean() < 8


def test_an_attention_backend_is_taken_up(transformer: Flux2Transformer2DModel, vae: AutoencoderKLFlux2) -> None:
    apply_speed(transformer, vae, Speed(attention_backend="_native_math"), torch.float32)
    backends = {module.processor._attention_backend for module in transformer.modules() if hasattr(module, "processor")}
    assert [backend.value for backend in backends] == ["_native_math"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("quick", "is not known; there are .*native"),
        ("_flash_3_hub", "fetches code from a hub"),
        ("sage", "cannot be used here"),
        ("flash", "cannot be used here"),
    ],
)
def test_backends_that_cannot_be_used(
    transformer: Flux2Transformer2DModel, vae: AutoencoderKLFlux2, name: str, reason: str
) -> None:
    with pytest.raises(EngineUnavailable, match=reason):
        apply_speed(transformer, vae, Speed(attention_backend=name), torch.float32)
