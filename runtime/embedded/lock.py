"""One supervisor in a data folder at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK_FILE = "up.lock"
"""Stays in the folder; what counts is who holds it."""


class FolderInUseError(Exception):
    """Somebody else is at work in the data folder."""


@contextmanager
def sole_use(data_dir: Path) -> Iterator[None]:
    """Hold the data folder for the length of a block; the kernel lets go of it if this process is killed.

    Raises:
        FolderInUseError: Another process holds it.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    with (data_dir / LOCK_FILE).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUseError(
                f"{data_dir} is in use: a stack is starting, running or stopping there, or a backup is being restored."
            ) from None
        yield
