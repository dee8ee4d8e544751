"""Figures and how they are shown."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured quantity.

    Attributes:
        name: What was measured.
        unit: ``ms``, ``s`` or ``MB``.
        samples: How many times.
        p50: Median.
        p95: 95th percentile; the largest where there are few samples.
        goal: What it should be, in words.
    """

    name: str
    unit: str
    samples: int
    p50: float
    p95: float
    goal: str = ""

    @classmethod
    def of(cls, name: str, unit: str, values: Sequence[float], goal: str = "") -> Figure:
        """Summarise measured values."""
        ordered = sorted(values)
        p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
        return cls(name, unit, len(ordered), round(statistics.median(ordered), 1), round(p95, 1), goal)


def table(figures: Sequence[Figure]) -> str:
    """Rows for a terminal."""
    rows = [("measured", "n", "p50", "p95", "", "goal")]
    rows += [(f.name, str(f.samples), f"{f.p50:g}", f"{f.p95:g}", f.unit, f.goal) for f in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in (0, 4, 5) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def write_json(path: Path, figures: Sequence[Figure], more: Mapping[str, Any] | None = None) -> None:
    """The same figures with the machine they were taken on, and whatever else belongs into the document."""
    machine = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "at": datetime.now(UTC).isoformat(),
        "machine": machine,
        "figures": [asdict(figure) for figure in figures],
        **(more or {}),
    }
    path.write_text(json.dumps(document, indent=2) + "\n")
