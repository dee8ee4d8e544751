"""What came of a run, as JSON with the facts that `tests.faults.page` tells."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any


@cache
def commit() -> str:
    """The commit, with ``+`` where files differ from it, when it is first asked for."""
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--exclude=*", "--dirty=+"]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def p95(values: Sequence[float]) -> float | None:
    """The value that a twentieth of them are above, never more than the largest; none for fewer than two."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else None


def write_run(file: Path, found: dict[str, Any]) -> None:
    """Write it, with the version, the commit, the machine and the moment; each row keeps those of its first writing."""
    now = {"commit": commit(), "at": datetime.now(UTC).isoformat()}
    for row in found.get("rows", ()):
        row.update(now | row)
    facts = {
        "version": metadata.version("tryon-service"),
        "machine": platform.platform(),
        "cores": os.cpu_count(),
        **now,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({**facts, **found}, indent=1) + "\n")
