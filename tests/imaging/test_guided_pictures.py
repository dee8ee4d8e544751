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


def search(target: str, folder: Path, number: int, seed: int = 1) -> subprocess.CompletedProcess[str]:
    pictures = folder / f"pictures-{seed}"
    pictures.mkdir()
    for index, picture in enumerate(SEEDS):
        (pictures / str(index)).write_bytes(picture)
    options = {
        "runs": number,
        "seed": seed,
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
    """The search above is worth something only if it can fail. It goes by chance: most seeds find it, and not all."""
    for seed in range(1, 7):
        found = search("trips_over_white", tmp_path, 10_000, seed)
        assert "INITED" in found.stdout, "the pictures as they are show it already"
        if found.returncode != 0:
            break
    assert "KeyError" in found.stdout, found.stdout[-4000:]
