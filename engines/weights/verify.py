"""Whether a folder still holds what was fetched into it."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from engines.base import EngineUnavailable
from engines.weights.fetch import read_manifest
from engines.weights.header import read_header


def check_folder(folder: Path, *, digests: bool) -> int:
    """See that a folder's weights are whole; nothing is loaded.

    Args:
        folder: One that `engines.weights.fetch.fetch_weights` filled, or of the operator's own, which has no manifest.
        digests: Read every file of the manifest and compare its SHA-256; otherwise lengths are compared with headers.

    Returns:
        How many files were looked at.

    Raises:
        EngineUnavailable: Names the file that is missing or damaged, or says that there is nothing to compare with.
    """
    if not folder.is_dir():
        raise EngineUnavailable(f"There is no folder {folder}.")
    listed = _listed(folder)
    for path in listed:
        if not path.is_file():
            raise EngineUnavailable(f"The weights {path} are missing.")
    tensors = sorted(folder.rglob("*.safetensors"))
    if not tensors:
        raise EngineUnavailable(f"{folder} holds no safetensors file.")
    for path in tensors:
        read_header(path)
    if not digests:
        return len(tensors)
    if not listed:
        raise EngineUnavailable(f"{folder} has no manifest with digests to compare with.")
    for path, expected in listed.items():
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                raise EngineUnavailable(f"{path} is damaged: it has another SHA-256 than when it was fetched.")
    return len(listed)


@dataclass(frozen=True)
class Tensors:
    """What a folder's weights consist of.

    Attributes:
        count: How many tensors there are.
        values: How many numbers in them.
        kinds: How many tensors there are of each kind of number, such as ``BF16``.
    """

    count: int
    values: int
    kinds: dict[str, int]


def read_tensors(folder: Path) -> Tensors:
    """Read every tensor in a folder, one at a time, and see that each number in it is one.

    Raises:
        EngineUnavailable: Names the file and the first tensor that holds infinity or no number; or a file that cannot
            be read.
    """
    from safetensors import SafetensorError, safe_open  # here, for its library is not installed everywhere

    kinds: Counter[str] = Counter()
    values = 0
    for path in sorted(folder.rglob("*.safetensors")):
        header = read_header(path)
        try:
            with safe_open(path, framework="pt") as file:
                for name, entry in header.items():
                    tensor = file.get_tensor(name)
                    if not tensor.isfinite().all():
                        raise EngineUnavailable(f"{path}: {name} holds what are no finite numbers.")
                    kinds[entry.dtype] += 1
                    values += tensor.numel()
        except SafetensorError as error:
            raise EngineUnavailable(f"{path} cannot be read: {error}.") from None
    return Tensors(kinds.total(), values, dict(kinds))


def _listed(folder: Path) -> dict[Path, str]:
    """Files of the manifest with their digests."""
    sources = read_manifest(folder).get("sources")
    return {
        folder / str(source.get("into", ".")) / path: digest
        for source in (sources if isinstance(sources, list) else [])
        for path, digest in source.get("sha256", {}).items()
    }
