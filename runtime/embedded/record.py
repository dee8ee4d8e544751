"""What the running stack leaves in its data folder for other commands: who runs it, and where its parts listen."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
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
class StackRecord:
    """A stack that is up, or was when its supervisor died."""

    supervisor: ProcessIdentity
    children: dict[str, ProcessIdentity]
    addresses: dict[str, str]

    @classmethod
    def read(cls, data_dir: Path) -> StackRecord | None:
        """The record in this folder, if there is one that can be read."""
        try:
            raw: dict[str, Any] = json.loads((data_dir / RECORD_FILE).read_text())
            return cls(
                ProcessIdentity(**raw["supervisor"]),
                {name: ProcessIdentity(**identity) for name, identity in raw["children"].items()},
                raw["addresses"],
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, data_dir: Path) -> None:
        write_privately(data_dir / RECORD_FILE, json.dumps(asdict(self), indent=2))

    @staticmethod
    def remove(data_dir: Path) -> None:
        (data_dir / RECORD_FILE).unlink(missing_ok=True)

    def stop_leftovers(self) -> list[str]:
        """End children whose supervisor died without them; returns their names."""
        left = {name: process for name, identity in self.children.items() if (process := identity.find())}
        for process in left.values():
            process.terminate()
        _, alive = psutil.wait_procs(list(left.values()), timeout=10)
        for process in alive:
            process.kill()
        return list(left)


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
    path = data_dir / SECRETS_FILE
    if not path.exists():
        made = {"s3_secret_key": secrets.token_urlsafe(32), "key_pepper": secrets.token_urlsafe(48)}
        write_privately(path, json.dumps(made, indent=2))
    kept: dict[str, str] = json.loads(path.read_text())
    return kept
