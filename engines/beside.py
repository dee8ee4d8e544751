"""Runs work in a second thread beside the first, where a render may use more than one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import cv2

T = TypeVar("T")


@contextmanager
def beside(work: Callable[[], T]) -> Iterator[Future[T]]:
    """Do a piece of work in a second thread while the body of the ``with`` statement runs.

    NumPy and OpenCV let other threads run. If OpenCV has one thread only, the work is done before the body. It has
    ended when the statement is left.

    Args:
        work: What to do; it may read what the body reads, and neither may change that.

    Yields:
        Its result, to be asked for once it is needed.
    """
    if cv2.getNumThreads() < 2:
        done: Future[T] = Future()
        done.set_result(work())
        yield done
        return
    with ThreadPoolExecutor(1, thread_name_prefix="beside") as second:
        yield second.submit(work)
