from __future__ import annotations

import pytest
from temporalio.exceptions import ApplicationError

from activities.failures import STORE_AWAY, expected_failures
from engines.base import EngineError
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError
from workflows.steps import DOWNLOAD


def test_a_step_waits_for_a_store_that_is_away() -> None:
    with pytest.raises(ApplicationError) as raised, expected_failures():
        raise ObjectStoreUnavailableError("connection refused")
    assert not raised.value.non_retryable
    assert raised.value.next_retry_delay == STORE_AWAY
    policy = DOWNLOAD["retry_policy"]
    assert policy is not None
    assert (policy.maximum_attempts - 1) * STORE_AWAY.total_seconds() >= 10


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
