from __future__ import annotations

import pytest
from temporalio.exceptions import ApplicationError

from activities.failures import STORE_AWAY, expected_failures
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError
from workflows.budgets import DOWNLOAD


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
