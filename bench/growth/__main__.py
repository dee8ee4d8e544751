"""``python -m bench.growth [--only rows] [--largest 1000000]``: measure, print tables, draw curves."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from bench.figures import write_json
from bench.growth import backfills, rows, workers
from bench.growth.curve import Point, draw, markdown

OUT = Path("out/growth")

SUBJECTS: dict[str, tuple[Callable[..., Iterator[Point]], tuple[int, ...], str, str]] = {
    "rows": (rows.measure, rows.SIZES, "rows of jobs in the database", "milliseconds"),
    "workers": (workers.measure, workers.SIZES, "GPU workers", "jobs a second, seconds"),
    "backfills": (backfills.measure, backfills.SIZES, "items of a backfill", "seconds, MB, KB"),
}
"""What is measured, its sizes, and what the two axes count."""


def main() -> None:
    """Measure what is asked for; ``--draw`` draws what was measured before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[*SUBJECTS], action="append", help="all of them unless some are named")
    parser.add_argument("--largest", type=int, help="leave out larger sizes")
    parser.add_argument("--draw", type=Path, help="write SVG files into this folder, of what lies in out/growth")
    wanted = parser.parse_args()
    for name in wanted.only or SUBJECTS:
        measure, sizes, counted, unit = SUBJECTS[name]
        file = OUT / f"{name}.json"
        if wanted.draw is None:
            points = []
            kept = tuple(size for size in sizes if wanted.largest is None or size <= wanted.largest)
            with tempfile.TemporaryDirectory() as folder:
                for point in measure(Path(folder), kept):
                    print(f"{point.size:>9,}  {point.value:10.3f} {point.unit:<3} {point.curve}", flush=True)
                    points.append(point)
            write_json(file, [], {"points": [asdict(point) for point in points]})
        else:
            points = [Point(**point) for point in json.loads(file.read_text())["points"]]
            draw(points, wanted.draw / f"growth-{name}.svg", title=f"Cost by {counted}", sizes=counted, values=unit)
        print(markdown(points))


if __name__ == "__main__":
    main()
