"""``python -m tests.faults.hostile``: the suite's hostile input by the hundred thousand; what came of it, as JSON.

The same tests as in the suite, with more examples: pictures that were damaged by chance, and by what code they reach;
bodies that no client would send; random steps of the money machine on both databases. Many are shared out among runs of
the tests, one on each core, each with a seed and a database of its own: what looks at every row of it at every step
would take ever longer.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from tests.faults.record import write_run

PROJECT = Path(__file__).parents[2]
OUT = Path("out/hostile.json")
MADE = "inputs"
"""The property of a test's report that counts them, where an example is no fixed number of them."""


@dataclass(frozen=True)
class Target:
    """Tests that take a number of examples from a variable.

    Attributes:
        each: How many inputs an example of theirs is, at most.
        at_once: How many inputs one run of them gets.
    """

    what: str
    promise: str
    file: str
    variable: str
    each: int
    at_once: int


TARGETS = {
    "pictures": Target(
        "damaged pictures of every format",
        "Each is decoded or refused within two seconds; no process grows by more than 64 MiB.",
        "tests/imaging/test_mutated_pictures.py",
        "MUTATED_PICTURES",
        1,
        10**9,  # whether a process grows shows in a long life
    ),
    "guided": Target(
        "damaged pictures that are chosen by the code that they reach",
        "Each is decoded or refused within two seconds; new code is reached, and a fault that was planted is found.",
        "tests/imaging/test_guided_pictures.py",
        "GUIDED_PICTURES",
        1,
        10**9,
    ),
    "bodies": Target(
        "requests that no client would send, half of them over SQLite and half over PostgreSQL",
        "No 5xx, only answers of the document; a refusal leaves no row and no object behind.",
        "tests/api/test_fuzz.py",
        "FUZZ_EXAMPLES",
        2 * (PROJECT / "tests" / "api" / "test_fuzz.py").read_text().count("\n@examples\n"),
        20_000,
    ),
    "steps": Target(
        "random steps of customers, workers and sweeps over the money, on SQLite and PostgreSQL",
        "No volume is overdrawn, every end is billed once or released once, ledger and counters agree.",
        "tests/domain/money/test_money_machine.py",
        "MONEY_EXAMPLES",
        2 * 30,
        3_600,
    ),
}


def main() -> None:
    """Run what is asked for, write the rows, exit 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.hostile", description=__doc__)
    for name in TARGETS:
        parser.add_argument(f"--{name}", type=int, default=0, help="how many, about")
    parser.add_argument("--seed", type=int, default=0, help="of the first run of the tests; each later one adds 1")
    wanted = vars(parser.parse_args())
    first = wanted.pop("seed")
    rows = [_run(TARGETS[name], number, first) for name, number in wanted.items() if number]
    write_run(OUT, {"rows": rows})
    sys.exit(any(row["complaints"] for row in rows))


def _run(target: Target, number: int, first: int) -> dict[str, Any]:
    rounds = -(-number // target.at_once)
    examples = -(-number // (rounds * target.each))
    began = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as cores:
        done = list(cores.map(lambda seed: _round(target, examples, seed), range(first, first + rounds)))
    ends = [end for each in done for end in each.ends]
    made = sum(each.made for each in done)
    return {
        "what": target.what,
        "promise": target.promise,
        "number": made or rounds * examples * target.each,
        "tests": len(ends),
        "rounds": rounds,
        "seeds": [first, first + rounds - 1],
        "seconds": round(time.monotonic() - began),
        "found": [found for each in done for found in each.found],
        "complaints": [f"{name}: {end}" for name, end in ends if end != "passed"] if ends else ["no test ran"],
    }


class Round(NamedTuple):
    """One run of the tests: what they are called and how they ended, and the figures that they recorded.

    ``made`` is how many inputs the tests counted; 0 if they count none.
    """

    ends: list[tuple[str, str]]
    found: list[str]
    made: int


def _round(target: Target, examples: int, seed: int) -> Round:
    """Run the tests once. They end as ``passed``, ``failure``, ``error`` or ``skipped``."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "--timeout=0", f"--hypothesis-seed={seed}"]
        subprocess.run(
            [*command, f"--junitxml={report}", target.file],
            cwd=PROJECT,
            env={**os.environ, target.variable: str(examples)},
            check=False,
        )
        written = ET.parse(report)  # noqa: S314  # our own file
    ends = ("failure", "error", "skipped")
    properties = [(str(each.get("name")), str(each.get("value"))) for each in written.iter("property")]
    found = [(name, value) for name, value in properties if not name.startswith("hypothesis-")]  # its own statistics
    return Round(
        [
            (f"{case.get('name')}, seed {seed}", next((end for end in ends if case.find(end) is not None), "passed"))
            for case in written.iter("testcase")
        ],
        [f"{name}: {value}" for name, value in found if name != MADE],
        sum(int(value) for name, value in found if name == MADE),
    )


if __name__ == "__main__":
    main()
