"""The data folder: room on its disk, and who may look into it.

With hardly any room left the embedded object store holds up every upload, and does not say why. What lies there is for
the user who runs the stack: photos, secrets, mail with links that let people in.
"""

from __future__ import annotations

import itertools
import shutil
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


LEAST_FREE_SHARE = 0.01
"""SeaweedFS makes its volumes read-only below this share of the disk; ``weed mini`` takes no other."""

ENOUGH_AGAIN_SHARE = 0.015
"""A little above, so that a disk on the brink does not have the store started again and again."""

GIB = 1 << 30


class DiskFullError(Exception):
    """There is too little room for the embedded object store."""


def check_room(folder: Path) -> None:
    """See that the object store could write here.

    Args:
        folder: Where it keeps, or will keep, its objects; it exists.

    Raises:
        DiskFullError: It could not.
    """
    usage = shutil.disk_usage(folder)
    if usage.free < LEAST_FREE_SHARE * usage.total:
        raise DiskFullError(
            f"{usage.free / GIB:.1f} of {usage.total / GIB:.1f} GiB are free at {folder}; the embedded object store "
            f"takes no pictures below {LEAST_FREE_SHARE:.0%}. Make room, or name a folder on another disk in "
            "TRYON_DATA_DIR."
        )


class RoomRegained:
    """Tells, once, that there is room again where there was too little.

    SeaweedFS looks at the disk once a minute and takes nothing until then; started anew it looks at once.
    """

    def __init__(self, folder: Path) -> None:
        """Watch the disk of ``folder``."""
        self._folder = folder
        self._was_short = False

    def __call__(self) -> bool:
        """Look; asked often, it is as quick as one call of the system."""
        usage = shutil.disk_usage(self._folder)
        share = usage.free / usage.total
        if share < LEAST_FREE_SHARE:
            self._was_short = True
        regained = self._was_short and share >= ENOUGH_AGAIN_SHARE
        self._was_short = self._was_short and not regained
        return regained
