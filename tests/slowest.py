"""``python -m tests.slowest out/tests``: the ten slowest tests of the parts that ran side by side, by their reports."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

MANY = 10


def main(folder: Path) -> None:
    """Print them, with the seconds that each took, its own fixtures included."""
    cases = [case for report in folder.glob("*.xml") for case in ET.parse(report).iter("testcase")]  # noqa: S314
    for case in sorted(cases, key=lambda case: -float(case.get("time", 0)))[:MANY]:
        sys.stdout.write(f"{float(case.get('time', 0)):7.1f} s  {case.get('classname')}::{case.get('name')}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
