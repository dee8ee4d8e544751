"""Room on the disk: with hardly any left the embedded object store holds up every upload, and does not say why."""

from __future__ import annotations

import shutil
from pathlib import Path

LEAST_FREE_SHARE = 0.01
"""SeaweedFS makes its volumes read-only below this share of the disk; ``weed mini`` takes no other."""

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
