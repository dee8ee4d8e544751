"""Turns prompts into embeddings, with a text encoder that may rest on another device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import torch
from diffusers.pipelines.flux2.pipeline_flux2_klein import Flux2KleinPipeline
from transformers.models.qwen2.tokenization_qwen2 import Qwen2Tokenizer
from transformers.models.qwen3.modeling_qwen3 import Qwen3ForCausalLM

from engines.base import OnStep, RenderStopped, ShouldStop

STAGE = "encode words"

LAYERS_READ, DEEPEST_LAYER = 3, 27
"""How many layers of the text encoder the stock pipeline puts side by side, and which is the deepest of them."""


class WordEncoder(Protocol):
    """Makes prompt embeddings."""

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        ...

    def encode(self, prompt: str, on_step: OnStep, should_stop: ShouldStop) -> torch.Tensor:
        """The embedding of a prompt, ``(1, tokens, values)``, on the CPU; one call at a time."""
        ...


class QwenEncoder:
    """The pipeline's own text encoder.

    Args:
        model: At rest on ``rest``.
        tokenizer: Its tokenizer.
        device: Where it computes.
        rest: Where it lies between prompts; where this is another device, its weights are copied to ``device`` for
            each prompt and thrown away after it.
    """

    def __init__(
        self, model: Qwen3ForCausalLM, tokenizer: Qwen2Tokenizer, *, device: torch.device, rest: torch.device
    ) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._device, self._rest = device, rest

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self._device

    def encode(self, prompt: str, on_step: OnStep, should_stop: ShouldStop) -> torch.Tensor:
        """The embedding that the stock pipeline makes of a prompt, on the CPU.

        Args:
            prompt: The words.
            on_step: Called at every layer.
            should_stop: Asked as often.

        Raises:
            RenderStopped: ``should_stop`` said so; the encoder is back at rest.
        """
        with self._at_work(), self._watched(on_step, should_stop), torch.no_grad():
            embedding: torch.Tensor = Flux2KleinPipeline._get_qwen3_prompt_embeds(self._model, self._tokenizer, prompt)  # noqa: SLF001
            return embedding.cpu()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Put copies of the weights on the other device; those at rest are never moved, so nothing is copied back."""
        if self._device == self._rest:
            yield
            return
        tensors = [*self._model.parameters(), *self._model.buffers()]
        resting = [tensor.data for tensor in tensors]
        try:
            for tensor in tensors:
                tensor.data = tensor.data.to(self._device, copy=True)
            yield
        finally:
            for tensor, rest in zip(tensors, resting, strict=True):
                tensor.data = rest

    @contextmanager
    def _watched(self, on_step: OnStep, should_stop: ShouldStop) -> Iterator[None]:
        def look_up(_module: torch.nn.Module, _arguments: object) -> None:
            on_step(STAGE)
            if should_stop():
                raise RenderStopped

        hooks = [layer.register_forward_pre_hook(look_up) for layer in self._model.model.layers]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
