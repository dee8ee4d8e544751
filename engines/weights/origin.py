"""Where the weights in use come from, and under which licence they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from engines.base import EngineInfo
from engines.weights.fetch import read_manifest

UNKNOWN = "unknown"
"""Stands for an unknown licence or commit."""


def info_of(about: EngineInfo, licences: Mapping[str, str], model: str, *, revision: str, device: str) -> EngineInfo:
    """The engine's information with the weights in use.

    The manifest of a folder tells what it holds. Without a manifest, or if the licence of one of its repositories is
    not known, commercial use cannot be assumed.

    Args:
        about: The engine with its published weights.
        licences: Repositories whose licence is known to allow commercial use, and that licence.
        model: Folder or hub id.
        revision: The commit of a hub's repository.
        device: Where pictures are drawn.
    """
    folder = Path(model).expanduser()
    sources = [(model, revision)]
    if folder.is_dir():
        sources = _fetched_from(folder) or [(str(folder), UNKNOWN)]
    (source, commit), *_ = sources
    found = [licences.get(name) for name, _ in sources]
    known = [licence for licence in found if licence is not None]
    is_known = len(known) == len(found)
    return replace(
        about,
        source=source,
        revision=commit,
        weights_licence=", ".join(dict.fromkeys(known)) if is_known else UNKNOWN,
        commercial_use=is_known,
        device=device,
    )


def _fetched_from(folder: Path) -> list[tuple[str, str]]:
    """Repositories and commits of a folder's manifest, the network's own first; none where one is unreadable."""
    sources = read_manifest(folder).get("sources")
    if not isinstance(sources, list) or not all(isinstance(source, dict) for source in sources):
        return []
    return [(str(source.get("repository")), str(source.get("revision"))) for source in sources]
