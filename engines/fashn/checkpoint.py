"""The network's weights on disk: checked before anything is loaded, then put into diffusers' blocks."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import nn

from engines.base import EngineUnavailable
from engines.fashn.key_map import Shapes, converted, published_shapes
from engines.fashn.network import FashnNetwork
from engines.fashn.poses.finder import DETECTOR_FILE, ESTIMATOR_FILE
from engines.fashn.shape import FULL_SIZE, NetworkShape, parse_shape
from engines.weights.header import check_header, read_header

WEIGHTS_FILE = "model.safetensors"
"""Name in the folder, as published."""

CONFIGURATION = "config"
"""Name of the metadata that hold the size of the network; the published file has none and is of full size."""

_NUMBERS = frozenset({"BF16", "F16", "F32"})

_RANDOM_SPREAD = 0.02
"""Standard deviation of weights that stand for trained ones."""


def load_network(folder: Path, *, device: torch.device, dtype: torch.dtype) -> FashnNetwork:
    """Load the network from a folder.

    Args:
        folder: Holds `WEIGHTS_FILE` under its published names.
        device: Where it goes.
        dtype: What it is computed in.

    Raises:
        EngineUnavailable: The file is missing, corrupt or no safetensors file, or its tensors are not exactly those of
            the network; names the file and the first wrong key.
    """
    path = folder / WEIGHTS_FILE
    shape = checked_shape(path)
    network = _unfilled(shape)
    ours = _shapes_of(network)
    try:
        published = load_file(path, device=str(device))
    except SafetensorError as error:
        raise EngineUnavailable(f"{path} cannot be loaded: {error}.") from None
    network.load_state_dict(converted(published, shape, ours), strict=True, assign=True)
    return _ready(nn.Module.to(network, device=device, dtype=dtype))


def checked_shape(path: Path) -> NetworkShape:
    """Read the header of a checkpoint and see that it is whole and right, without loading it.

    Returns:
        The size of its network.

    Raises:
        EngineUnavailable: As `load_network` says.
    """
    header = read_header(path)
    shape = _shape_in(path)
    check_header(path, published_shapes(shape, _shapes_of(_unfilled(shape))))
    for name, entry in header.items():
        if entry.dtype not in _NUMBERS:
            raise EngineUnavailable(f"{path}: {name} is of the type {entry.dtype}, which no weights are.")
    return shape


def check_weights(folder: Path) -> None:
    """See that a folder holds this engine's weights; nothing is loaded.

    Args:
        folder: Holds `WEIGHTS_FILE` and the files of the pose networks.

    Raises:
        EngineUnavailable: Names the file, and the key where one is wrong.
    """
    checked_shape(folder / WEIGHTS_FILE)
    for name in (DETECTOR_FILE, ESTIMATOR_FILE):
        if not (folder / name).is_file():
            raise EngineUnavailable(f"The weights {folder / name} are missing.")


def full_size(*, device: torch.device, dtype: torch.dtype) -> FashnNetwork:
    """The network at its published size with random weights: as fast and as large as the trained one, but untrained.

    Args:
        device: Where it goes.
        dtype: What it is computed in.
    """
    network = nn.Module.to(_unfilled(FULL_SIZE), dtype=dtype).to_empty(device=device)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=_RANDOM_SPREAD)
        for buffer in network.buffers():
            buffer.zero_()
    return _ready(network)


def _shape_in(path: Path) -> NetworkShape:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
    except SafetensorError as error:
        raise EngineUnavailable(f"{path} cannot be opened: {error}.") from None
    if CONFIGURATION not in metadata:
        return FULL_SIZE
    try:
        return parse_shape(metadata[CONFIGURATION])
    except (ValueError, TypeError) as error:
        raise EngineUnavailable(f"{path}: the configuration in its metadata cannot be used: {error}.") from None


def _unfilled(shape: NetworkShape) -> FashnNetwork:
    """A network that has shapes and no numbers yet."""
    with torch.device("meta"):
        return FashnNetwork(shape)


def _shapes_of(network: FashnNetwork) -> Shapes:
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


def _ready(network: FashnNetwork) -> FashnNetwork:
    network.requires_grad_(requires_grad=False)
    network.eval()
    return network
