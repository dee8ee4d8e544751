"""A stack's data folder: its lock, its record, its secrets, and the processes that a supervisor left that was killed.

All of it is for the user who runs the stack: photos, secrets, mail with links that let people in.

The record tells other commands who runs the stack, and where its parts listen. The kernel asks every child to end when
the supervisor dies; one that hangs does not listen, and children of children are not asked. The record may be gone or
unreadable as well. So every process of a stack carries a mark in its environment, which its own children inherit.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import secrets
import signal
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import structlog
from pydantic import TypeAdapter, ValidationError

LOCK_FILE = "up.lock"  # stays in the folder; what counts is who holds it

UP_LOG = "up.log"  # among the logs: the output of a supervisor without a terminal

log = structlog.get_logger(__name__)


class FolderInUseError(Exception):
    """Another process uses the data folder."""


@contextmanager
def sole_use(data_dir: Path) -> Iterator[None]:
    """Hold the data folder for the length of a block; the kernel lets go of it if this process is killed.

    Its files are made private first: an older version, or another program, may have left them open to other users.

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


OTHERS = stat.S_IRWXG | stat.S_IRWXO


def is_private(folder: Path) -> bool:
    """Whether only its owner can enter a folder."""
    return not folder.stat().st_mode & OTHERS


def make_private(folder: Path) -> list[Path]:
    """Remove all rights of other users from a folder and everything in it; the owner's rights stay.

    The folder alone would do, but its content may be copied or moved. Links are not followed.

    Returns:
        Paths that belong to another user, and so could not be changed.
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


RECORD_FILE, SECRETS_FILE = "stack.json", "secrets.json"


@dataclass(frozen=True)
class ProcessIdentity:
    """A process id with its start time, since ids are used again."""

    pid: int
    started: float

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity:
        return cls(pid, psutil.Process(pid).create_time())

    def find(self) -> psutil.Process | None:
        """The process, if it still runs."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) < 1.0 and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return None
        return process if same else None


@dataclass(frozen=True)
class Endings:
    """How often a process ended by itself since the stack came up, and its last exit code."""

    count: int
    exit_code: int


@dataclass(frozen=True)
class StackRecord:
    """A stack that is up, or was when its supervisor died.

    Attributes:
        supervisor: Who runs it.
        children: Its processes that run, by name.
        addresses: Addresses that a person may want to open, by name.
        endings: How processes ended by themselves, by name.
    """

    supervisor: ProcessIdentity
    children: dict[str, ProcessIdentity]
    addresses: dict[str, str]
    endings: dict[str, Endings] = field(default_factory=dict)

    @classmethod
    def read(cls, data_dir: Path) -> StackRecord | None:
        """The record in this folder, if there is one that can be read."""
        try:
            return TypeAdapter(cls).validate_json((data_dir / RECORD_FILE).read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, data_dir: Path) -> None:
        write_privately(data_dir / RECORD_FILE, TypeAdapter(StackRecord).dump_json(self, indent=2).decode())

    @staticmethod
    def remove(data_dir: Path) -> None:
        (data_dir / RECORD_FILE).unlink(missing_ok=True)


def write_privately(path: Path, text: str) -> None:
    """Write a file that only its owner may read; a reader sees the old text or the new, never half of it."""
    temporary = path.with_suffix(path.suffix + ".new")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    temporary.replace(path)


def write_environment(path: Path, variables: Mapping[str, str]) -> None:
    """An env file with quoted values."""
    write_privately(path, "".join(f'{name}="{value}"\n' for name, value in sorted(variables.items())))


def stack_secrets(data_dir: Path) -> dict[str, str]:
    """Secrets of this stack, made at its first start."""
    if not has_secrets(data_dir):
        keep_secrets(data_dir, {"s3_secret_key": secrets.token_urlsafe(32), "key_pepper": secrets.token_urlsafe(48)})
    kept: dict[str, str] = json.loads((data_dir / SECRETS_FILE).read_text())
    return kept


def has_secrets(data_dir: Path) -> bool:
    """Whether a stack has run in this folder, or was restored there."""
    return (data_dir / SECRETS_FILE).exists()


def keep_secrets(data_dir: Path, kept: Mapping[str, str]) -> None:
    """Replace the secrets of this stack: ``s3_secret_key``, ``key_pepper``, perhaps ``key_pepper_previous``.

    With ``signing_key`` goes ``signing_certificates``, and perhaps ``signing_earlier``, all as PEM.
    """
    write_privately(data_dir / SECRETS_FILE, json.dumps(dict(kept), indent=2))


STACK_MARK = "TRYON_CHILD_OF_STACK"
"""Environment variable of every process that a stack starts; its value is the stack's data folder."""


def marked_environment(data_dir: Path) -> dict[str, str]:
    """The environment of this process, with the mark of the stack in ``data_dir``, however the folder is named."""
    return {**os.environ, STACK_MARK: str(data_dir.resolve())}


STOP_SECONDS = 10.0  # how long leftovers may take to end before they are killed


def stop_leftovers(data_dir: Path, record: StackRecord | None) -> list[str]:
    """End the processes that a dead supervisor left behind; the caller has sole use of the folder.

    Returns:
        The names of the processes.
    """
    left, mark = {}, str(data_dir.resolve())
    for process in psutil.process_iter():
        # Processes of other users do not show their environment, and some have just ended.
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(STACK_MARK) == mark:
                left[process.pid] = process.name()
    for name, identity in record.children.items() if record else ():
        if identity.find():
            left[identity.pid] = name
    processes = [psutil.Process(pid) for pid in left if psutil.pid_exists(pid)]
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
            process.send_signal(signal.SIGCONT)  # one that was stopped would not hear the first
    _, alive = psutil.wait_procs(processes, timeout=STOP_SECONDS)
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=STOP_SECONDS)
    return sorted(left.values())
