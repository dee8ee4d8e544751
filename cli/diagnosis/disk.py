"""The machine: room on the disk of what the service keeps here."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

from sqlalchemy import make_url

from cli.diagnosis.findings import Case, Finding, Subject
from runtime.embedded.disk import GIB, LEAST_FREE_SHARE
from runtime.settings import Settings

DISK = Subject("disk")

COMFORTABLE_SHARE = 0.15
COMFORTABLE_BYTES = GIB
"""Below either there is a warning. The embedded store stops taking pictures before a disk is quite full, and deleting
does not make room at once."""

NOTHING_LEFT_BYTES = 200 * (1 << 20)
"""A few requests' worth of pictures."""


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask each disk once."""
    for folder in _folders(case.settings):
        usage = shutil.disk_usage(folder)
        yield judged(folder, total=usage.total, free=usage.free)


def judged(folder: Path, *, total: int, free: int) -> Finding:
    """Whether there is room."""
    sentence = f"{free / GIB:.1f} of {total / GIB:.1f} GiB free at {folder}"
    remedy = f"See what takes it: du -xh --max-depth=2 {folder} | sort -h | tail"
    if free < NOTHING_LEFT_BYTES or free < LEAST_FREE_SHARE * total:
        return DISK.error(sentence, remedy)
    if free < COMFORTABLE_BYTES or free < COMFORTABLE_SHARE * total:
        return DISK.warning(sentence, remedy)
    return DISK.ok(sentence)


def _folders(settings: Settings) -> list[Path]:
    """Where data lies on this machine, one folder for each disk."""
    url = make_url(settings.database.url)
    wanted = [settings.stack.data_dir]
    if url.get_backend_name() == "sqlite" and url.database:
        wanted.append(Path(url.database).parent)
    by_disk: dict[int, Path] = {}
    for folder in wanted:
        there = next(place for place in (folder.resolve(), *folder.resolve().parents) if place.is_dir())
        by_disk.setdefault(there.stat().st_dev, there)
    return list(by_disk.values())
