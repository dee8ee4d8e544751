"""The job without any of it: a queue in memory and threads, in one process; ``python -m bench.peers.loop PIPE``.

Every line that comes through the named pipe is a job: its id, and the seconds that the engine takes. It is read at
once; what the process had when it is killed is gone, as with any queue in memory.
"""

from __future__ import annotations

import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.peers.job import workplace

THREADS = 16


def do(line: str) -> None:
    """One job; what goes wrong is told and not tried again."""
    job_id, engine_seconds = line.split()
    try:
        workplace().do(job_id, float(engine_seconds))
    except Exception:  # noqa: BLE001  # whatever it is, the others go on
        traceback.print_exc()


def main() -> None:
    """Do jobs until the process is ended."""
    workplace()
    with ThreadPoolExecutor(THREADS) as threads, Path(sys.argv[1]).open() as lines:
        for line in lines:
            threads.submit(do, line)


if __name__ == "__main__":
    main()
