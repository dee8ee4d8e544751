"""From the names of the published checkpoint to those of diffusers' blocks, strict both ways.

Each published tensor becomes one or several of ours: what the publishers keep as one tall matrix, diffusers keeps as
several. The last modulation gives shift and scale there, scale and shift here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import torch
from torch import Tensor

from engines.fashn.shape import NetworkShape

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
"""Name of a tensor to the lengths of its axes."""


@dataclass(frozen=True)
class Rule:
    """How one published tensor is made into ours.

    Attributes:
        published: Its name in the published file.
        ours: Names of the tensors that it is, one below the other.
        swapped: Whether its two halves change places.
    """

    published: str
    ours: tuple[str, ...]
    swapped: bool = False


def rules(shape: NetworkShape) -> list[Rule]:
    """Every tensor of a network of that size."""
    found = [
        Rule("patch_mixer_token", ("patch_mixer_token",)),
        Rule("y_embedder.weight", ("category_embed.weight",)),
        *_layer("t_embedder.mlp.in_layer", "time_embed.linear_1"),
        *_layer("t_embedder.mlp.out_layer", "time_embed.linear_2"),
        *_layer("x_embedder.proj", "person_embed"),
        *_layer("garment_embedder.proj", "garment_embed"),
        *_layer("final_layer.linear", "proj_out"),
        *_layer("final_layer.adaLN_modulation.1", "norm_out.linear", swapped=True),
    ]
    for number in range(shape.patch_mixer_depth):
        found += _single_block(f"x_patch_mixer.{number}", f"person_blocks.{number}")
    for number in range(shape.single_blocks_depth):
        found += _single_block(f"single_blocks.{number}", f"single_blocks.{number}")
    for number in range(shape.double_blocks_depth):
        found += _double_block(f"double_blocks.{number}", f"double_blocks.{number}")
    return found


def published_shapes(shape: NetworkShape, ours: Shapes) -> dict[str, tuple[int, ...]]:
    """The tensors that a published file of a network must hold.

    Args:
        shape: The size of the network.
        ours: Its own tensors.

    Raises:
        ValueError: A rule names a tensor that the network does not have, or no rule names one of its tensors.
    """
    expected: dict[str, tuple[int, ...]] = {}
    left = set(ours)
    for rule in rules(shape):
        if not left.issuperset(rule.ours):
            raise ValueError(f"{rule.published} has no place in the network")
        left.difference_update(rule.ours)
        parts = [ours[name] for name in rule.ours]
        expected[rule.published] = (sum(part[0] for part in parts), *parts[0][1:])
    if left:
        raise ValueError(f"{min(left)} comes from nowhere")
    return expected


def converted(published: Mapping[str, Tensor], shape: NetworkShape, ours: Shapes) -> dict[str, Tensor]:
    """Rename, split and swap.

    Args:
        published: Tensors by their published names, of the shapes that `published_shapes` gives.
        shape: The size of the network.
        ours: The network's own tensors.

    Returns:
        Tensors by our names; those of one published tensor share its memory.

    Raises:
        KeyError: A published tensor is missing.
        ValueError: One is unknown, or of another shape.
    """
    left = dict(published)
    found: dict[str, Tensor] = {}
    for rule in rules(shape):
        tensor = left.pop(rule.published)
        parts = [ours[name] for name in rule.ours]
        if tensor.numel() != sum(prod(part) for part in parts) or tensor.shape[1:] != parts[0][1:]:
            raise ValueError(f"{rule.published} has the shape {tuple(tensor.shape)}")
        if rule.swapped:
            tensor = torch.cat(tensor.chunk(2)[::-1])
        found.update(zip(rule.ours, torch.split(tensor, [part[0] for part in parts]), strict=True))
    if left:
        raise ValueError(f"{min(left)} is no part of this network")
    return found


def _layer(published: str, *ours: str, swapped: bool = False) -> list[Rule]:
    """Weight and bias of one layer."""
    return [Rule(f"{published}.{kind}", tuple(f"{name}.{kind}" for name in ours), swapped) for kind in _WEIGHT_AND_BIAS]


_WEIGHT_AND_BIAS = ("weight", "bias")


def _norms(published: str, query: str, key: str) -> list[Rule]:
    return [Rule(f"{published}.query_norm.scale", (query,)), Rule(f"{published}.key_norm.scale", (key,))]


def _single_block(published: str, ours: str) -> list[Rule]:
    attention = f"{ours}.attn"
    projections = (*(f"{attention}.to_{letter}" for letter in "qkv"), f"{ours}.proj_mlp")
    return [
        *_layer(f"{published}.linear1", *projections),
        *_layer(f"{published}.linear2", f"{ours}.proj_out"),
        *_layer(f"{published}.modulation.lin", f"{ours}.norm.linear"),
        *_norms(f"{published}.norm", f"{attention}.norm_q.weight", f"{attention}.norm_k.weight"),
    ]


def _double_block(published: str, ours: str) -> list[Rule]:
    attention = f"{ours}.attn"
    person, garment = f"{published}.img", f"{published}.txt"
    return [
        *_layer(f"{person}_mod.lin", f"{ours}.norm1.linear"),
        *_layer(f"{person}_attn.qkv", *(f"{attention}.to_{letter}" for letter in "qkv")),
        *_norms(f"{person}_attn.norm", f"{attention}.norm_q.weight", f"{attention}.norm_k.weight"),
        *_layer(f"{person}_attn.proj", f"{attention}.to_out.0"),
        *_layer(f"{person}_mlp.0", f"{ours}.ff.net.0.proj"),
        *_layer(f"{person}_mlp.2", f"{ours}.ff.net.2"),
        *_layer(f"{garment}_mod.lin", f"{ours}.norm1_context.linear"),
        *_layer(f"{garment}_attn.qkv", *(f"{attention}.add_{letter}_proj" for letter in "qkv")),
        *_norms(f"{garment}_attn.norm", f"{attention}.norm_added_q.weight", f"{attention}.norm_added_k.weight"),
        *_layer(f"{garment}_attn.proj", f"{attention}.to_add_out"),
        *_layer(f"{garment}_mlp.0", f"{ours}.ff_context.net.0.proj"),
        *_layer(f"{garment}_mlp.2", f"{ours}.ff_context.net.2"),
    ]
