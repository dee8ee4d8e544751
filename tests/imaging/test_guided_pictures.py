"""Damaged pictures that are chosen by the code that they reach: see `tests.imaging.guided_pictures`.

``GUIDED_PICTURES=100000`` looks longer than the suite does; see ``make hostile``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from tests.imaging.test_mutated_pictures import LONGEST_SECONDS, SEEDS

pytestmark = pytest.mark.skipif(find_spec("atheris") is None, reason="atheris has no wheel for this machine")

NUMBER = int(os.environ.get("GUIDED_PICTURES", "200"))

COVERAGE = re.compile(r"cov: (\d+)")


def search(target: str, folder: Path, number: int) -> subprocess.CompletedProcess[str]:
    pictures = folder / "pictures"
    pictures.mkdir()
    for index, seed in enumerate(SEEDS):
        (pictures / str(index)).write_bytes(seed)
    options = {
        "runs": number,
        "seed": 1,
        "timeout": int(LONGEST_SECONDS),
        "artifact_prefix": f"{folder}/",
        # Pictures stay as long as they are, or none would be whole.
        "max_len": 2 * max(map(len, SEEDS)),
        "len_control": 0,
        "reduce_inputs": 0,
        "rss_limit_mb": 0,  # what it counts includes the process that started it, which may have had gigabytes
    }
    words = [f"-{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "tests.imaging.guided_pictures", target, str(pictures), *words]
    return subprocess.run(command, stdout=PIPE, stderr=STDOUT, text=True, errors="replace", check=False)


def test_pictures_that_reach_new_code_are_decoded_or_refused(
    tmp_path: Path, record_testsuite_property: Callable[[str, str], None]
) -> None:
    found = search("decoded_or_refused", tmp_path, NUMBER)
    assert found.returncode == 0, found.stdout[-4000:]
    reached = [int(each) for each in COVERAGE.findall(found.stdout)]
    record_testsuite_property("branches of Python", f"{reached[0]} reached by whole pictures, {reached[-1]} in the end")
    assert reached[-1] > 1.02 * reached[0], "nothing new was reached"


def test_the_search_finds_a_decoder_with_a_fault(tmp_path: Path) -> None:
    """The search above is worth something only if it can fail."""
    found = search("trips_over_a_height", tmp_path, 10_000)
    assert "INITED" in found.stdout, "the pictures as they are show it already"
    assert found.returncode != 0
    assert "KeyError" in found.stdout
