"""How large the network is: the published size, or the one in a checkpoint's metadata."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

MLP_RATIO = 4
"""How much wider the hidden layers are; diffusers' two-stream block supports no other factor."""

COLOURS = 3
"""Channels of a picture."""

POSE_CHANNELS = 1
"""Channels of a pose map."""

_LARGEST, _DEEPEST, _LONGEST_SIDE = 100_000, 1_000, 4_096
"""The largest length, number of blocks and side of a picture in pixels that a configuration may have. They stop files
that are made to exhaust the memory: blocks are built before any other check fails."""


@dataclass(frozen=True)
class NetworkShape:
    """Sizes of the network; the defaults are those of the published weights.

    Attributes:
        input_shape: Height and width of all pictures in pixels, multiples of ``patch_size``.
        hidden_size: Length of a token's vector.
        n_heads: Heads of attention.
        double_blocks_depth: Blocks in which person and garment keep weights of their own.
        single_blocks_depth: Blocks that treat both alike.
        patch_mixer_depth: Blocks before them, for the person alone.
        patch_size: Side of the square that is one token, in pixels.
        axes_dim: Channels of a head that turn with the picture number, the row and the column; in sum one head.
        mlp_ratio: Width of the hidden layers in units of ``hidden_size``.
    """

    input_shape: tuple[int, int] = (864, 576)
    hidden_size: int = 1280
    n_heads: int = 10
    double_blocks_depth: int = 8
    single_blocks_depth: int = 16
    patch_mixer_depth: int = 4
    patch_size: int = 12
    axes_dim: tuple[int, int, int] = (16, 56, 56)
    mlp_ratio: int = MLP_RATIO

    def __post_init__(self) -> None:
        """Refuse sizes that fit no network.

        Raises:
            ValueError: Says which.
        """
        single = (self.hidden_size, self.n_heads, self.double_blocks_depth, self.single_blocks_depth)
        numbers = (*single, self.patch_mixer_depth, self.patch_size, *self.input_shape, *self.axes_dim)
        if not all(type(number) is int and 0 < number <= _LARGEST for number in numbers):
            raise ValueError("every size must be a whole number of at least 1")
        if max(self.double_blocks_depth, self.single_blocks_depth, self.patch_mixer_depth) > _DEEPEST:
            raise ValueError(f"there can be at most {_DEEPEST} blocks of a kind")
        if max(self.input_shape) > _LONGEST_SIDE:
            raise ValueError(f"input_shape can have at most {_LONGEST_SIDE} pixels along a side")
        if self.mlp_ratio != MLP_RATIO:
            raise ValueError(f"mlp_ratio must be {MLP_RATIO}")
        if self.hidden_size != self.n_heads * self.head_size:
            raise ValueError("hidden_size must be n_heads times the sum of axes_dim")
        if any(length % self.patch_size for length in self.input_shape):
            raise ValueError("input_shape must be made of whole patches")

    @property
    def head_size(self) -> int:
        """Channels of one head."""
        return sum(self.axes_dim)

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of tokens in one picture."""
        return self.input_shape[0] // self.patch_size, self.input_shape[1] // self.patch_size

    @property
    def patch_values(self) -> int:
        """Colour values of one token."""
        return COLOURS * self.patch_size**2


FULL_SIZE = NetworkShape()
"""The published network: 972 million parameters."""


def parse_shape(text: str) -> NetworkShape:
    """Read the configuration in a checkpoint's metadata; what it leaves out is as in the published network.

    Args:
        text: A JSON object with names of `NetworkShape`.

    Raises:
        TypeError: It is no such object.
        ValueError: It is no JSON at all, names something unknown, or its sizes fit no network.
    """
    given: Any = json.loads(text)
    if not isinstance(given, dict):
        raise TypeError("the configuration is no JSON object")
    known = {field.name for field in fields(NetworkShape)}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"the configuration knows no {unknown[0]}")
    for name, length in (("input_shape", 2), ("axes_dim", 3)):
        if name in given:
            if not isinstance(given[name], list) or len(given[name]) != length:
                raise ValueError(f"{name} must hold {length} numbers")
            given[name] = tuple(given[name])
    return NetworkShape(**given)
