"""One supervisor in a data folder at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from runtime.embedded.privacy import make_private

LOCK_FILE = "up.lock"
"""Stays in the folder; what counts is who holds it."""


log = structlog.get_logger(__name__)


class FolderInUseError(Exception):
    """Somebody else is at work in the data folder."""


@contextmanager
def sole_use(data_dir: Path) -> Iterator[None]:
    """Hold the data folder for the length of a block; the kernel lets go of it if this process is killed.

    What is in it is taken from every other user first: an older version, or another program, may have left it open.

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
        left = make_private(data_dir)
        if left:
            log.warning("open to other users, and not ours to close", path=str(left[0]), and_more=len(left) - 1)
        yield
