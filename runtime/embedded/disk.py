"""Room on the disk: with hardly any left the embedded object store holds up every upload, and does not say why."""

from __future__ import annotations

import shutil
from pathlib import Path

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
