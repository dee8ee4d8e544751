"""What came of a run, as JSON with the facts that `tests.faults.page` tells."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any


def write_run(file: Path, found: dict[str, Any]) -> None:
    """Write it, with the version, the machine and the moment."""
    facts = {
        "version": metadata.version("tryon-service"),
        "machine": platform.platform(),
        "cores": os.cpu_count(),
        "at": datetime.now(UTC).isoformat(),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({**facts, **found}, indent=1) + "\n")
