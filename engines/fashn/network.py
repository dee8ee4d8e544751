"""The network: it predicts the velocity that carries a noisy picture towards the person wearing the garment.

A rectified flow in pixels, made of diffusers' Flux blocks: patches of the person's picture and patches of the garment
are two streams of tokens that attend to each other, first with weights of their own, then with common ones. The time
of the flow runs from 0, noise, to 1, the picture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import torch
from diffusers.models.embeddings import TimestepEmbedding, Timesteps
from diffusers.models.modeling_utils import ModelMixin
from diffusers.models.normalization import AdaLayerNormContinuous
from diffusers.models.transformers.transformer_flux import (
    FluxPosEmbed,
    FluxSingleTransformerBlock,
    FluxTransformerBlock,
)
from torch import Tensor, nn

from engines.fashn.shape import COLOURS, FULL_SIZE, POSE_CHANNELS, NetworkShape

NO_CATEGORY = 0
"""The category of the unconditional branch."""

CATEGORIES = 4
"""No category, tops, bottoms, one-pieces."""

TIME_CHANNELS = 256
"""Number of sines and cosines that encode the time."""

TIME_SCALE = 1000
"""The time is scaled to this before it is encoded."""

ROTATION_BASE = 10_000
"""Of the rotary positions."""


@dataclass(frozen=True)
class Conditions:
    """What a batch of pictures is drawn from.

    Attributes:
        person: ``(n, 3, height, width)``, -1 to 1.
        person_pose: ``(n, 1, height, width)``, -1 to 1.
        garment: ``(n, 3, height, width)``, -1 to 1.
        garment_pose: ``(n, 1, height, width)``, -1 to 1; -1 all over where nobody wears it.
        category: ``(n,)`` int64, 1 to 3, or `NO_CATEGORY`.
    """

    person: Tensor
    person_pose: Tensor
    garment: Tensor
    garment_pose: Tensor
    category: Tensor

    def each(self, change: Callable[[Tensor], Tensor]) -> Conditions:
        """The same with every tensor changed."""
        return Conditions(*(change(getattr(self, field.name)) for field in fields(self)))

    @staticmethod
    def of_nothing(count: int, frame: tuple[int, int], device: torch.device) -> Conditions:
        """Grey people in grey tops, for trying a network out: ``count`` pictures of ``frame``, height and width."""

        def grey(channels: int) -> Tensor:
            return torch.zeros(count, channels, *frame, device=device)

        category = torch.ones(count, dtype=torch.long, device=device)
        return Conditions(grey(COLOURS), grey(POSE_CHANNELS), grey(COLOURS), grey(POSE_CHANNELS), category)

    @staticmethod
    def joined(parts: Sequence[Conditions]) -> Conditions:
        """One batch made of several."""
        named = {field.name: [getattr(part, field.name) for part in parts] for field in fields(Conditions)}
        return Conditions(**{name: torch.cat(tensors) for name, tensors in named.items()})

    def with_null_branch(self) -> Conditions:
        """Twice as many: these, and as many unconditional ones, which are 0 everywhere and not black."""
        return self.each(lambda tensor: torch.cat([tensor, torch.zeros_like(tensor)]))


class FashnNetwork(ModelMixin):
    """Predicts data minus noise for pictures between noise and data.

    Args:
        shape: How large it is.
    """

    _repeated_blocks = ["FluxTransformerBlock", "FluxSingleTransformerBlock"]  # noqa: RUF012 - so diffusers has it

    def __init__(self, shape: NetworkShape = FULL_SIZE) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # diffusers is untyped
        self.shape = shape
        size, heads, head_size, patch = shape.hidden_size, shape.n_heads, shape.head_size, shape.patch_size
        person_channels = 2 * COLOURS + POSE_CHANNELS
        self.person_embed = nn.Conv2d(person_channels, size, kernel_size=patch, stride=patch)
        self.garment_embed = nn.Conv2d(COLOURS + POSE_CHANNELS, size, kernel_size=patch, stride=patch)
        self.time_wave = Timesteps(TIME_CHANNELS, flip_sin_to_cos=True, downscale_freq_shift=0)
        self.time_embed = TimestepEmbedding(TIME_CHANNELS, size)
        self.category_embed = nn.Embedding(CATEGORIES, size)
        self.positions = FluxPosEmbed(theta=ROTATION_BASE, axes_dim=list(shape.axes_dim))
        self.person_blocks = nn.ModuleList(
            FluxSingleTransformerBlock(size, heads, head_size) for _ in range(shape.patch_mixer_depth)
        )
        self.double_blocks = nn.ModuleList(
            FluxTransformerBlock(size, heads, head_size) for _ in range(shape.double_blocks_depth)
        )
        self.single_blocks = nn.ModuleList(
            FluxSingleTransformerBlock(size, heads, head_size) for _ in range(shape.single_blocks_depth)
        )
        self.norm_out = AdaLayerNormContinuous(size, size, elementwise_affine=False, eps=1e-6)
        self.proj_out = nn.Linear(size, shape.patch_values)
        # Stood for masked patches in training. Nothing reads it, but the published file holds it.
        self.register_buffer("patch_mixer_token", torch.zeros(1, 1, shape.patch_values))

    def forward(self, noisy: Tensor, time: Tensor, conditions: Conditions) -> Tensor:
        """Predict the velocity.

        Args:
            noisy: ``(n, 3, height, width)``, pictures under way.
            time: ``(n,)``, 0 at noise to 1 at the picture.
            conditions: What they are drawn from, as many.

        Returns:
            Like ``noisy``, in the network's own type.
        """
        dtype = self.proj_out.weight.dtype
        given = conditions.each(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)
        person = torch.cat([noisy.to(dtype), given.person, given.person_pose], dim=1)
        garment = torch.cat([given.garment, given.garment_pose], dim=1)
        person = self.person_embed(person).flatten(2).transpose(1, 2)
        garment = self.garment_embed(garment).flatten(2).transpose(1, 2)
        state = self._state(time, given.category)
        cosine, sine = self.positions(self._places(person.device))
        nobody = person[:, :0]  # these blocks join two streams, of which the second is empty here
        for block in self.person_blocks:
            _, person = block(person, nobody, state, (cosine, sine))
        # A patch of the garment and the patch of the person at the same place share their position.
        both = torch.cat([cosine, cosine]), torch.cat([sine, sine])
        for block in (*self.double_blocks, *self.single_blocks):
            garment, person = block(person, garment, state, both)
        return self._picture(self.proj_out(self.norm_out(person, state)))

    def _state(self, time: Tensor, category: Tensor) -> Tensor:
        """Time and category in one vector, ``(n, hidden_size)``."""
        dtype = self.proj_out.weight.dtype
        # Rounded to the network's type before it is scaled, as it was in training.
        wave = self.time_wave(time.to(dtype) * TIME_SCALE)
        embedded: Tensor = self.time_embed(wave.to(dtype)) + self.category_embed(category)
        return embedded

    def _places(self, device: torch.device) -> Tensor:
        """Picture number, row and column of each token of one picture, ``(tokens, 3)``."""
        rows, columns = self.shape.grid
        place = torch.zeros(rows, columns, 3, device=device)
        place[..., 1] = torch.arange(rows, device=device)[:, None]
        place[..., 2] = torch.arange(columns, device=device)[None, :]
        return place.flatten(0, 1)

    def _picture(self, tokens: Tensor) -> Tensor:
        """Lay ``(n, tokens, patch_values)`` out as pictures; a token holds colour by colour, row by row."""
        side = self.shape.patch_size
        patches = tokens.reshape(len(tokens), *self.shape.grid, COLOURS, side, side)
        return patches.permute(0, 3, 1, 4, 2, 5).reshape(len(tokens), COLOURS, *self.shape.input_shape)
