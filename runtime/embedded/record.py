"""What the running stack leaves in its data folder for other commands: who runs it, and where its parts listen."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

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
    """How often a process of the stack ended by itself since the stack came up, and how the last time."""

    count: int
    exit_code: int


@dataclass(frozen=True)
class StackRecord:
    """A stack that is up, or was when its supervisor died.

    Attributes:
        supervisor: Who runs it.
        children: Its processes that run, by name.
        addresses: What a person wants to open, by name.
        endings: Those of its processes that have ended by themselves.
    """

    supervisor: ProcessIdentity
    children: dict[str, ProcessIdentity]
    addresses: dict[str, str]
    endings: dict[str, Endings] = field(default_factory=dict)

    @classmethod
    def read(cls, data_dir: Path) -> StackRecord | None:
        """The record in this folder, if there is one that can be read."""
        try:
            raw: dict[str, Any] = json.loads((data_dir / RECORD_FILE).read_text())
            return cls(
                ProcessIdentity(**raw["supervisor"]),
                {name: ProcessIdentity(**identity) for name, identity in raw["children"].items()},
                raw["addresses"],
                {name: Endings(**endings) for name, endings in raw.get("endings", {}).items()},
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def write(self, data_dir: Path) -> None:
        write_privately(data_dir / RECORD_FILE, json.dumps(asdict(self), indent=2))

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
    """Replace the secrets of this stack: ``s3_secret_key``, ``key_pepper``, perhaps ``key_pepper_previous``."""
    write_privately(data_dir / SECRETS_FILE, json.dumps(dict(kept), indent=2))
