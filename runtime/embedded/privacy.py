"""What the stack keeps is for the user who runs it: photos, secrets, mail with links that let people in."""

from __future__ import annotations

import itertools
import stat
from pathlib import Path

UMASK = 0o077
"""Of every ``tryon`` command, and so of every process that a stack starts."""

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def is_private(folder: Path) -> bool:
    """Whether users other than its owner are kept out of a folder, and so of everything in it."""
    return not folder.stat().st_mode & OTHERS


def make_private(folder: Path) -> list[Path]:
    """Take a folder, and everything in it, from everybody but the owner, whose own rights stay as they are.

    The folder alone would do; what is in it may be copied or moved. Links are not followed.

    Returns:
        What could not be taken: it belongs to another user.
    """
    left = []
    for path in itertools.chain([folder], folder.rglob("*")):
        try:
            mode = path.lstat().st_mode
            if mode & OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~OTHERS)
        except FileNotFoundError:
            continue  # gone meanwhile
        except PermissionError:
            left.append(path)
    return left
