"""Work done in a second thread while the first one goes on, where a render may use more than one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import cv2

T = TypeVar("T")


@contextmanager
def beside(work: Callable[[], T]) -> Iterator[Future[T]]:
    """Do a piece of work while the body of the ``with`` statement runs; NumPy and OpenCV let one another go on.

    With one thread for OpenCV it is done first. It is over when the statement is left.

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
