from __future__ import annotations

import pytest
import torch
from diffusers import AutoencoderKLFlux2, Flux2Transformer2DModel

from engines.klein import full_size as full_size_module
from engines.klein.full_size import EMBEDDING_VALUES, TOKENS, RandomWords, full_size
from engines.klein.painter import KleinPainter
from tests.engines.klein.tiny import request


def test_as_many_weights_as_were_published() -> None:
    networks = full_size("meta", torch.bfloat16)
    assert sum(parameter.numel() for parameter in networks.transformer.parameters()) == 3_875_544_576
    assert networks.transformer.dtype == networks.vae.dtype == torch.bfloat16
    assert networks.vae.config.latent_channels * 4 == networks.transformer.config.in_channels
    assert next(networks.transformer.parameters()).is_meta


def test_random_words_have_the_right_shape() -> None:
    words = RandomWords(torch.bfloat16)
    one, again, other = (words.encode(prompt, lambda _: None, lambda: False) for prompt in ("a", "a", "b"))
    assert one.shape == (1, TOKENS, EMBEDDING_VALUES)
    assert one.dtype == torch.bfloat16
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


@pytest.mark.timeout(600)  # half a minute where the processor has no bfloat16, and more beside the rest of the suite
def test_random_weights_draw_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same filling at a size that a CPU can draw with: neither all one colour nor out of bounds."""
    small = full_size_module.TRANSFORMER | {"num_layers": 1, "num_single_layers": 2, "num_attention_heads": 2}
    monkeypatch.setattr(full_size_module, "TRANSFORMER", small)
    monkeypatch.setattr(
        full_size_module, "AutoencoderKLFlux2", lambda: AutoencoderKLFlux2(block_out_channels=(32, 32, 32, 32))
    )
    networks = full_size("cpu", torch.bfloat16)
    assert isinstance(networks.transformer, Flux2Transformer2DModel)
    painter = KleinPainter(device="cpu", networks=networks)
    painter.setup()
    picture = painter.paint(request(), lambda _: None, lambda: False)
    assert picture.shape == (96, 64, 3)
    assert 10 < picture.std() < 120
