"""Whether a folder still holds what was fetched into it."""

from __future__ import annotations

import hashlib
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


def _listed(folder: Path) -> dict[Path, str]:
    """Files of the manifest with their digests."""
    sources = read_manifest(folder).get("sources")
    return {
        folder / str(source.get("into", ".")) / path: digest
        for source in (sources if isinstance(sources, list) else [])
        for path, digest in source.get("sha256", {}).items()
    }
