"""The machine: room on the disk of what the service keeps here, and who else can read it."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import psutil

from api.dashboard.outbox import is_own
from cli.diagnosis.findings import Case, Finding, Subject, counted
from runtime.embedded.record import has_secrets, is_private
from runtime.embedded.servers import GIB, LEAST_FREE_SHARE
from runtime.settings import Settings, StackSettings, TemporalSettings

DISK = Subject("disk")

COMFORTABLE_SHARE = 0.15

COMFORTABLE_BYTES = GIB
"""Below either there is a warning. The embedded store stops taking pictures before a disk is quite full, and deleting
does not make room at once."""

NOTHING_LEFT_BYTES = 200 * (1 << 20)  # a few requests' worth of pictures
FOLDER = Subject("data folder")
TEMPORAL_PORT = Subject("port of Temporal")
FIRST_OF_PEOPLE = 1000  # accounts below belong to the system, nearly everywhere
NOBODY = 65534
NO_SHELLS = ("nologin", "false", "sync", "halt", "shutdown")
SHOWN = 3


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
    file = settings.database.file()
    wanted = [settings.stack.data_dir, *([file.parent] if file else [])]
    by_disk: dict[int, Path] = {}
    for folder in wanted:
        there = next(place for place in (folder.resolve(), *folder.resolve().parents) if place.is_dir())
        by_disk.setdefault(there.stat().st_dev, there)
    return list(by_disk.values())


async def look_at_privacy(case: Case) -> AsyncGenerator[Finding, None]:
    """Look at rights in the file system, and at who has an account here; nothing is changed."""
    yield judged_folder(case.settings.stack)
    yield judged_temporal(case.settings.temporal, other_people())


def judged_folder(settings: StackSettings) -> Finding:
    """Whether the data folder of an embedded stack is its owner's alone."""
    folder = settings.data_dir.resolve()
    if not has_secrets(folder):
        return FOLDER.skipped(f"no stack has run in {folder}")
    if is_private(folder):
        return FOLDER.ok(f"{folder} is its owner's alone")
    return FOLDER.error(
        f"{folder} is open to other users of this machine: photos, secrets, mail with links that let people in",
        f"chmod -R go= {folder}; `tryon up` does so when it starts",
    )


def judged_temporal(settings: TemporalSettings, people: list[str]) -> Finding:
    """Whether anybody but us can reach a Temporal that asks for nothing."""
    if settings.tls or settings.api_key:
        return TEMPORAL_PORT.ok(f"{settings.address} is spoken to over TLS")
    if not is_own(settings.address.rpartition(":")[0]):
        return TEMPORAL_PORT.skipped(f"{settings.address} is not on this machine; let nobody but the service reach it")
    if not people:
        return TEMPORAL_PORT.ok(f"{settings.address} asks for no key, and nobody else has an account on this machine")
    shown = ", ".join(people[:SHOWN]) + (", …" if len(people) > SHOWN else "")
    return TEMPORAL_PORT.warning(
        f"{settings.address} asks for no key, and {counted(len(people), 'other user')} can log in here ({shown}): each "
        "can read, end and start runs",
        "Run the service on a machine, or in a container, where nobody else logs in; see docs/deployment.md.",
    )


def other_people() -> list[str]:
    """Names of others who can log in on this machine or have done so, but for its administrator."""
    accounts = {account.pw_name: account for account in pwd.getpwall()}
    named = {
        name
        for name, account in accounts.items()
        if account.pw_uid >= FIRST_OF_PEOPLE
        and account.pw_uid != NOBODY
        and account.pw_shell.rpartition("/")[2] not in NO_SHELLS
    }
    # Accounts of a directory service are not in the list until they are asked for by name.
    named |= {user.name for user in psutil.users()}
    own = {name for name, account in accounts.items() if account.pw_uid in (0, os.getuid())}
    return sorted(named - own)
