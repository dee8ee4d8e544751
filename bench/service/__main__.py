"""``python -m bench.service``: measure in a stack of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.figures import table, write_json
from bench.service import usual

OUT = Path("out/bench.json")


def main() -> None:
    """Measure in a stack of its own, print a table, write JSON."""
    with tempfile.TemporaryDirectory() as folder:
        figures = usual.measure(Path(folder))
    print(table(figures))
    write_json(OUT, figures)
    print(f"written to {OUT}")


if __name__ == "__main__":
    main()
