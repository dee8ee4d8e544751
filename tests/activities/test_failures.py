from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.failures import AWAY_PAUSE, expected_failures
from engines.base import EngineError
from imaging.errors import ImageError, ImageErrorCode
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError
from workflows.steps import AWAY


@pytest.mark.parametrize(
    "error",
    [
        ObjectStoreUnavailableError("connection refused"),
        OperationalError("SELECT 1", None, Exception("connection refused")),
        PoolTimeoutError("no connection was free"),
    ],
)
def test_a_step_waits_for_a_store_or_a_database_that_is_away(error: Exception) -> None:
    with pytest.raises(ApplicationError) as raised, expected_failures():
        raise error
    assert (raised.value.non_retryable, raised.value.next_retry_delay) == (False, AWAY_PAUSE)
    assert raised.value.type == AWAY
    assert raised.value.message.startswith(type(error).__name__)


@pytest.mark.parametrize(("attempt", "final"), [(1, False), (2, False), (3, True), (4, True)])
def test_a_shops_server_is_asked_three_times(attempt: int, final: bool) -> None:
    """The step has more attempts, for workers that are killed."""
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=attempt)

    def ask() -> None:
        with expected_failures():
            raise ImageError(ImageErrorCode.URL_UNREACHABLE, "timeout", retryable=True)

    with pytest.raises(ApplicationError) as raised:
        environment.run(ask)
    assert raised.value.non_retryable == final


def test_a_missing_object_ends_the_step() -> None:
    with pytest.raises(ApplicationError) as raised, expected_failures():
        raise ObjectMissingError("jobs/x")
    assert raised.value.non_retryable


def test_a_refusal_carries_its_code_and_its_advice() -> None:
    with pytest.raises(ApplicationError) as raised, expected_failures():
        raise EngineError("pose_not_usable", "lean 0.7", advice="Stand upright.")
    assert (raised.value.type, raised.value.non_retryable) == ("pose_not_usable", True)
    assert raised.value.message == "lean 0.7 Stand upright."
    assert raised.value.details == ("Stand upright.",)


def test_what_an_engine_found_is_not_advice() -> None:
    with pytest.raises(ApplicationError) as raised, expected_failures():
        raise EngineError("result_not_usable", "The network made numbers that are no colours.")
    assert raised.value.details == ()
