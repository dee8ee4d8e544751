"""Processes of a stack whose supervisor is gone.

The kernel asks every child to end when the supervisor dies; one that hangs does not listen, and children of children
are not asked. The record may be gone or unreadable as well. So every process of a stack carries a mark in its
environment, which its own children inherit.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import psutil

from runtime.embedded.child import STACK_MARK, mark_of
from runtime.embedded.record import StackRecord

STOP_SECONDS = 10.0
"""How long leftovers may take to end before they are killed."""


def stop_leftovers(data_dir: Path, record: StackRecord | None) -> list[str]:
    """End what a supervisor that is dead has left behind; the caller has sole use of the folder.

    Returns:
        The names of the processes.
    """
    left = {process.pid: process.name() for process in _marked(mark_of(data_dir))}
    for name, identity in record.children.items() if record else ():
        if identity.find():
            left[identity.pid] = name
    processes = [psutil.Process(pid) for pid in left if psutil.pid_exists(pid)]
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
            process.send_signal(signal.SIGCONT)  # one that was stopped would not hear the first
    _, alive = psutil.wait_procs(processes, timeout=STOP_SECONDS)
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=STOP_SECONDS)
    return sorted(left.values())


def _marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        # Processes of other users do not show their environment, and some have just ended.
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(STACK_MARK) == mark:
                found.append(process)
    return found
