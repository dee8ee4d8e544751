"""The commands of a page of docs/, as an engineer would copy them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
TEMPORAL, OPERATIONS = (PROJECT / "docs" / name for name in ("temporal.md", "operations.md"))
WHERE = "The Temporal UI as a workbench"
"""Heading of the commands that say where Temporal is."""

HEADING_OR_BLOCK = re.compile(r"^#+ (?P<heading>[^\n]+)$|^```bash\n(?P<block>.*?)^```$", re.MULTILINE | re.DOTALL)


PATIENCE = 170.0
"""Seconds after which a block hangs: some start ten command lines, which takes a while beside other work."""


def commands(page: Path = TEMPORAL) -> dict[str, str]:
    """The page's commands by the heading above them."""
    found: dict[str, str] = {}
    heading = ""
    for match in HEADING_OR_BLOCK.finditer(page.read_text()):
        if match["heading"]:
            heading = match["heading"]
        else:
            assert heading not in found, f"{heading} has two blocks"
            found[heading] = match["block"]
    return found


def run_block(
    heading: str, variables: dict[str, str], *, before: str = "", page: Path = TEMPORAL, folder: Path = PROJECT
) -> str:
    """Run the commands below a heading, in a folder; returns what they print."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", before + commands(page)[heading]],
        cwd=folder,
        env={"PATH": path, "HOME": os.environ.get("HOME", "/"), "COLUMNS": "200", **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"{heading}: {done.stdout}{done.stderr}"
    return done.stdout
