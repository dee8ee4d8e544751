from __future__ import annotations

import pytest
import torch
from diffusers import Flux2KleinPipeline

from engines.base import RenderStopped
from engines.klein.text_encoding import STAGE, QwenEncoder

CPU = torch.device("cpu")


OTHER = torch.device("cpu", 0)
"""By its name another device than `CPU`, so that weights are copied to it."""


def places(model: torch.nn.Module) -> list[int]:
    return [tensor.data_ptr() for tensor in (*model.parameters(), *model.buffers())]


def test_as_the_stock_pipeline_embeds(stock: Flux2KleinPipeline) -> None:
    encoder = QwenEncoder(stock.text_encoder, stock.tokenizer, device=CPU, rest=CPU)
    steps: list[str] = []
    embedding = encoder.encode("a red coat", steps.append, lambda: False)
    expected, _ = stock.encode_prompt("a red coat")
    assert torch.equal(embedding, expected)
    assert embedding.shape == (1, 512, 24)
    assert steps == [STAGE] * len(stock.text_encoder.model.layers)
    assert not torch.equal(embedding, encoder.encode("a blue coat", steps.append, lambda: False))


def test_copies_go_to_work_and_are_thrown_away(stock: Flux2KleinPipeline) -> None:
    model, at_work = stock.text_encoder, list[list[int]]()
    at_rest = places(model)
    encoder = QwenEncoder(model, stock.tokenizer, device=OTHER, rest=CPU)
    embedding = encoder.encode("a", lambda _: at_work.append(places(model)), lambda: False)
    assert not set(at_work[0]) & set(at_rest)
    assert places(model) == at_rest
    assert model.lm_head.weight is model.model.embed_tokens.weight
    assert torch.equal(embedding, stock.encode_prompt("a")[0])


def test_it_stays_where_it_works(stock: Flux2KleinPipeline) -> None:
    model, at_work = stock.text_encoder, list[list[int]]()
    encoder = QwenEncoder(model, stock.tokenizer, device=CPU, rest=CPU)
    encoder.encode("a", lambda _: at_work.append(places(model)), lambda: False)
    assert at_work[0] == places(model)


def test_stopped_within_it_is_back_at_rest(stock: Flux2KleinPipeline) -> None:
    steps, at_rest = list[str](), places(stock.text_encoder)
    encoder = QwenEncoder(stock.text_encoder, stock.tokenizer, device=OTHER, rest=CPU)
    with pytest.raises(RenderStopped):
        encoder.encode("a", steps.append, lambda: len(steps) == 3)
    assert len(steps) == 3
    assert places(stock.text_encoder) == at_rest
    assert not any(layer._forward_pre_hooks for layer in stock.text_encoder.model.layers)
