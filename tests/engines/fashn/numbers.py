"""Reference numbers: what the published implementation made of random weights and inputs."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from engines.fashn.checkpoint import CONFIGURATION
from engines.fashn.network import Conditions
from engines.fashn.shape import NetworkShape, parse_shape

DATA = Path(__file__).parent / "data"
TINY = DATA / "fashn-vton-1.5-tiny.safetensors"
KEYS = DATA / "fashn-vton-1.5-keys.json"
POSES = DATA / "fashn-vton-1.5-preprocess.npz"

CLOSE = 1e-5
"""Largest difference between two float32 ways of computing the same."""


class Numbers:
    """The tiny network: its configuration, weights, inputs and what must come out."""

    def __init__(self) -> None:
        with safe_open(TINY, framework="pt") as file:
            self.configuration: str = file.metadata()[CONFIGURATION]
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
        self.weights = self._part(tensors, "weights.")
        self.input = self._part(tensors, "input.")
        self.expected = self._part(tensors, "expected.")

    @staticmethod
    def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}

    @property
    def shape(self) -> NetworkShape:
        return parse_shape(self.configuration)

    @property
    def conditions(self) -> Conditions:
        names = ("person", "person_pose", "garment", "garment_pose", "category")
        return Conditions(*(self.input[name] for name in names))


def published_keys() -> dict[str, tuple[int, ...]]:
    return {name: tuple(shape) for name, shape in json.loads(KEYS.read_text()).items()}


def masked(conditions: Conditions, keep: Tensor) -> Conditions:
    """Rows that are not kept say nothing."""
    return conditions.each(lambda rows: torch.where(keep.view(-1, *[1] * (rows.ndim - 1)), rows, 0))
