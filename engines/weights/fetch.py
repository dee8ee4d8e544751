"""Fills a folder with an engine's weights from the Hugging Face hub: resumed, and verified against its own digests.

Nothing here runs unless somebody asks for it with ``tryon engines fetch``; engines read folders alone.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from engines.errors import EngineUnavailable, first_line

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

MANIFEST = "tryon-weights.json"
"""Written last into the folder: what it holds, where from, under which licence."""

_CHUNK = 1 << 22


@dataclass(frozen=True)
class Repository:
    """One repository of the hub, and which of its files are wanted.

    Attributes:
        name: Owner and name.
        revision: A commit, or a branch whose commit is written into the manifest.
        patterns: Of wanted paths, as in a shell.
        into: Folder below the weights' own.
        megabytes: About how much that is, to be told before the hub is asked.
    """

    name: str
    revision: str
    patterns: Sequence[str]
    into: str = "."
    megabytes: int = 0


@dataclass(frozen=True)
class _Wanted:
    """One file.

    Attributes:
        size: In bytes.
        sha256: Of its content; None for small text files, of which the hub has no such digest.
    """

    path: str
    size: int
    sha256: str | None


def fetch_weights(
    repositories: Sequence[Repository],
    folder: Path,
    *,
    licence: str,
    report: Callable[[str], None],
    endpoint: str | None = None,
) -> None:
    """Download missing files; complete files stay, partial downloads are resumed.

    Args:
        repositories: Where the files come from.
        folder: Made when absent.
        licence: Of the weights, for the manifest.
        report: Called with one sentence per thing done, for a person to read; progress bars go to the terminal.
        endpoint: The hub's address; None is the public one, or what ``HF_ENDPOINT`` says.

    Raises:
        EngineUnavailable: The hub does not answer or refuses, names a file outside the folder, the disk is too small,
            or a file is not the right one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _speaking_for_the_hub():
        sources = [_fetched(repository, folder, report, endpoint) for repository in repositories]
    manifest = {"licence": licence, "sources": sources}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def missing_megabytes(repository: Repository, folder: Path, endpoint: str | None = None) -> float:
    """How much `fetch_weights` would download of a repository now; the hub is asked, and nothing is written.

    Raises:
        EngineUnavailable: As `fetch_weights`.
    """
    with _speaking_for_the_hub():
        _, _, missing = _described(repository, folder, endpoint)
    return sum(file.size for file in missing) / 1e6


def read_manifest(folder: Path) -> dict[str, object]:
    """What `fetch_weights` wrote into a folder; empty where the folder was filled by other means."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


@contextmanager
def _speaking_for_the_hub() -> Iterator[None]:
    """Errors of the hub and of the way there in one sentence."""
    # The client of the hub sends its requests with httpx2, which it depends on, and lets through what that raises.
    from httpx2 import HTTPError
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield
    except (HfHubHTTPError, HTTPError, OSError) as error:
        raise EngineUnavailable(f"The hub does not give the weights: {first_line(error)}") from error


def _described(
    repository: Repository, folder: Path, endpoint: str | None
) -> tuple[ModelInfo, list[_Wanted], list[_Wanted]]:
    """What the hub says about a repository, the files that are wanted, and those of them that are not here whole."""
    from huggingface_hub import HfApi

    info = HfApi(endpoint=endpoint).model_info(repository.name, revision=repository.revision, files_metadata=True)
    wanted = _wanted(repository, info.siblings or [])
    missing = [file for file in wanted if not _is_whole(folder / repository.into / file.path, file)]
    return info, wanted, missing


def _fetched(
    repository: Repository, folder: Path, report: Callable[[str], None], endpoint: str | None
) -> dict[str, object]:
    """Download one repository's files; returns its part of the manifest."""
    from huggingface_hub import hf_hub_download

    info, wanted, missing = _described(repository, folder, endpoint)
    place = folder / repository.into
    _check_space(folder, sum(file.size for file in missing))
    total = sum(file.size for file in wanted) / 1e9
    report(f"{repository.name} at {info.sha}: {len(wanted)} files, {total:.2f} GB, {len(missing)} to fetch.")
    if missing:
        # The folder no longer matches its manifest from here on.
        (folder / MANIFEST).unlink(missing_ok=True)
    for file in missing:
        (place / file.path).unlink(missing_ok=True)
        hf_hub_download(repository.name, file.path, revision=info.sha, local_dir=place, endpoint=endpoint)
        if not _is_whole(place / file.path, file):
            raise EngineUnavailable(f"{place / file.path} is not the file that the hub describes (size or SHA-256).")
        report(f"{file.path}: {file.size / 1e6:.1f} MB, {'SHA-256' if file.sha256 else 'size'} verified.")
    digests = {file.path: file.sha256 for file in wanted if file.sha256}
    return {"repository": repository.name, "revision": info.sha, "into": repository.into, "sha256": digests}


def _wanted(repository: Repository, siblings: Sequence[RepoSibling]) -> list[_Wanted]:
    """The files that match; every pattern has to match some."""
    paths = [sibling.rfilename for sibling in siblings]
    for pattern in repository.patterns:
        if not any(fnmatch(path, pattern) for path in paths):
            raise EngineUnavailable(f"{repository.name} at {repository.revision} holds no {pattern}.")
    wanted = [
        _Wanted(sibling.rfilename, sibling.size or 0, sibling.lfs.sha256 if sibling.lfs else None)
        for sibling in siblings
        if any(fnmatch(sibling.rfilename, pattern) for pattern in repository.patterns)
    ]
    stray = next((file.path for file in wanted if _leads_out(file.path)), None)
    if stray is not None:
        raise EngineUnavailable(f"{repository.name} names {stray!r}, which would lie outside the folder of weights.")
    return wanted


def _leads_out(path: str) -> bool:
    """Whether a path may end outside the folder that it is put into."""
    return PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute() or ".." in re.split(r"[/\\]", path)


def _is_whole(path: Path, file: _Wanted) -> bool:
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    return file.sha256 is None or _digest(path) == file.sha256


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise EngineUnavailable(f"{folder} needs {needed / 1e9:.1f} GB more, and {free / 1e9:.1f} GB are free.")
