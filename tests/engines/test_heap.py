from __future__ import annotations

import subprocess
import sys

import pytest

from engines.heap import keep_freed_memory

PAGES_ASKED_FOR = """
import resource
import sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from engines.heap import keep_freed_memory

if sys.argv[1] == "kept":
    keep_freed_memory()

def render():
    planes = [np.ones((1024, 768), np.float32) for _ in range(30)]
    return len(planes)

with ThreadPoolExecutor(1) as threads:
    threads.submit(render).result()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        threads.submit(render).result()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def pages_asked_for(how: str) -> int:
    command = [sys.executable, "-c", PAGES_ASKED_FOR, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_memory_of_pictures_is_used_again_and_not_asked_for_anew() -> None:
    if not keep_freed_memory():
        pytest.skip("this C library cannot be told")
    assert pages_asked_for("kept") < 0.1 * pages_asked_for("given back")
