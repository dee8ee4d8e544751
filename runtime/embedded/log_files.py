"""Log files of the stack, kept from filling the disk."""

from __future__ import annotations

import shutil
from pathlib import Path

LONGEST_LOG_BYTES = 20 * 1024 * 1024
"""Of each process, and as much again of what came before: days of a busy service."""

EARLIER = ".1"
"""Ending of the one earlier file that is kept."""


def bound_log(log_file: Path, longest: int = LONGEST_LOG_BYTES) -> bool:
    """Put a log that has grown too long aside, over the one that was put aside before.

    Its writer keeps it open and goes on at the end of the file, wherever that is, so the file is copied and then
    emptied; what is written between the two is lost. A full disk takes no copy: then it is emptied all the same.

    Returns:
        Whether it was too long.
    """
    try:
        if log_file.stat().st_size <= longest:
            return False
    except OSError:
        return False
    earlier, copy = log_file.with_name(log_file.name + EARLIER), log_file.with_name(log_file.name + ".new")
    try:
        shutil.copyfile(log_file, copy)
        copy.replace(earlier)
    except OSError:
        copy.unlink(missing_ok=True)
    with log_file.open("r+b") as log:
        log.truncate(0)
    return True
