"""Whether the weight files of one network hold what it needs, found out before any of it is loaded."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import torch

from engines.base import EngineUnavailable
from engines.klein.repository import FETCH, read_json
from engines.weights.header import read_header

FLOATS = frozenset({"BF16", "F16", "F32"})
"""Kinds of numbers that are loaded as they are. FP8 files come with scales beside each tensor, and loading them without
those would draw noise."""

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


def check_component(folder: Path, stem: str, network: torch.nn.Module, optional: Collection[str] = ()) -> None:
    """See that the files hold exactly the tensors of a network.

    Args:
        folder: Of the component.
        stem: Name of the file without ``.safetensors``; of several, that of their index.
        network: On the meta device: names and shapes count, values do not.
        optional: Names that files may lack, since the network takes them from elsewhere.

    Raises:
        EngineUnavailable: Names the file and the first key that is missing, unknown, of another shape or another kind.
    """
    expected = network.state_dict()
    seen: dict[str, Path] = {}
    files = weight_files(folder, stem)
    for path in files:
        for name, entry in read_header(path).items():
            tensor = expected.get(name)
            if tensor is None:
                raise EngineUnavailable(f"{path} holds {name}, which is no part of this network.")
            if entry.shape != tuple(tensor.shape):
                raise EngineUnavailable(f"{path}: {name} has the shape {entry.shape} instead of {tuple(tensor.shape)}.")
            if tensor.is_floating_point() and entry.dtype not in FLOATS:
                raise EngineUnavailable(f"{path}: {name} is {entry.dtype}, which this engine does not load.")
            seen[name] = path
    for name in expected:
        if name not in seen and name not in optional:
            place = files[0] if len(files) == 1 else folder / f"{stem}.safetensors.index.json"
            raise EngineUnavailable(f"{place} does not hold the tensor {name}.")


def weight_files(folder: Path, stem: str) -> list[Path]:
    """The one file, or those that an index names.

    Raises:
        EngineUnavailable: There are none, the index is not one, or the weights are pickles.
    """
    whole, index = folder / f"{stem}.safetensors", folder / f"{stem}.safetensors.index.json"
    if whole.is_file():
        return [whole]
    if index.is_file():
        return _pieces(index)
    pickle = next((path for pattern in PICKLES for path in sorted(folder.glob(pattern))), None)
    if pickle is not None:
        raise EngineUnavailable(f"{pickle} is a pickle; only safetensors files are loaded. Fetch them with {FETCH}.")
    raise EngineUnavailable(f"The weights {whole} are missing; fetch them with {FETCH}.")


def _pieces(index: Path) -> list[Path]:
    places = read_json(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise EngineUnavailable(f"{index} has no weight_map.")
    names = sorted({str(name) for name in places.values()})
    stray = next((name for name in names if Path(name).name != name or not name.endswith(".safetensors")), None)
    if stray is not None:
        raise EngineUnavailable(f"{index} names {stray}, which is not a safetensors file beside it.")
    return [index.parent / name for name in names]
