"""Work in a second thread."""

import threading

import cv2
import pytest

from engines.beside import beside


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> int:
    before = cv2.getNumThreads()
    cv2.setNumThreads(request.param)
    yield request.param
    cv2.setNumThreads(before)


def test_work_goes_on_beside_the_body_only_with_a_second_thread(threads: int) -> None:
    with beside(threading.get_ident) as ident:
        own = threading.get_ident()
    assert (ident.result() == own) == (threads == 1)


def test_what_goes_wrong_is_said_where_the_result_is_asked_for() -> None:
    before = cv2.getNumThreads()
    cv2.setNumThreads(2)
    try:
        with beside(lambda: 1 / 0) as quotient:
            pass
        with pytest.raises(ZeroDivisionError):
            quotient.result()
    finally:
        cv2.setNumThreads(before)
