"""Points of a curve, and curves drawn."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Point:
    """What something costs at a size.

    Attributes:
        curve: What is measured.
        size: How much there is.
        value: Median of what it costs.
        unit: ``ms``, ``s``, ``MB`` or ``/s``.
    """

    curve: str
    size: int
    value: float
    unit: str


def milliseconds(call: Callable[[], object], times: int) -> float:
    """Median of so many calls, after one that is not counted."""
    spent = []
    for _ in range(times + 1):
        began = time.perf_counter()
        call()
        spent.append(1000 * (time.perf_counter() - began))
    return median(spent[1:] or spent)


def draw(points: Iterable[Point], path: Path, *, title: str, sizes: str, values: str) -> None:
    """Write an SVG with one line for each curve, both axes logarithmic.

    Args:
        points: Of all curves.
        path: The file; its folder has to be there.
        title: Above the picture.
        sizes: What the horizontal axis counts.
        values: What the vertical axis counts.
    """
    import matplotlib as mpl  # here: only whoever draws anew needs it

    mpl.use("svg")
    # Text stays text, and the same points give the same file.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 10})
    from matplotlib import pyplot as plt

    lines: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        lines[point.curve].append(point)
    figure, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
    for name, line in lines.items():
        axes.plot([each.size for each in line], [each.value for each in line], marker="o", label=name)
    axes.set(title=title, xlabel=sizes, ylabel=values, xscale="log", yscale="log")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def markdown(points: Sequence[Point]) -> str:
    """A table of one row for each curve, and one column for each size."""
    sizes = sorted({point.size for point in points})
    found = {(point.curve, point.size): f"{point.value:.3g} {point.unit}" for point in points}
    rows = [["", *(f"{size:,}" for size in sizes)], ["---"] * (len(sizes) + 1)]
    names = dict.fromkeys(point.curve for point in points)
    rows += [[name, *(found.get((name, size), "") for size in sizes)] for name in names]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
