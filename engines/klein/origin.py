"""Where the weights in use come from, and under which licence they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engines.base import EngineInfo
from engines.klein.about import KLEIN, LICENCES, UNKNOWN_LICENCE
from engines.weights.fetch import read_manifest

NO_REVISION = "unknown"


def info_of(model: str, revision: str, device: str) -> EngineInfo:
    """What the engine is with these weights.

    A folder is what its manifest says. Where there is none, or the repository is not one whose licence is known, nobody
    can say that the weights may earn money.

    Args:
        model: Folder or hub id.
        revision: The commit of a hub's repository.
        device: Where pictures are drawn.
    """
    folder = Path(model).expanduser()
    source = model
    if folder.is_dir():
        source, revision = _fetched_from(folder) or (str(folder), NO_REVISION)
    licence = LICENCES.get(source, UNKNOWN_LICENCE)
    return replace(
        KLEIN,
        source=source,
        revision=revision,
        weights_licence=licence,
        commercial_use=licence != UNKNOWN_LICENCE,
        device=device,
    )


def _fetched_from(folder: Path) -> tuple[str, str] | None:
    """Repository and commit of a folder's manifest."""
    sources = read_manifest(folder).get("sources")
    first = sources[0] if isinstance(sources, list) and sources else None
    if not isinstance(first, dict):
        return None
    return str(first.get("repository")), str(first.get("revision"))
