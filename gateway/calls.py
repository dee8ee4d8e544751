"""What may come of a call to Temporal, said in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from temporalio.client import WorkflowFailureError, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.exceptions import ActivityError, ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode


class TemporalAwayError(Exception):
    """Temporal did not answer, or not in time. What it was asked to do may be done all the same."""


class RunNotFoundError(TemporalAwayError):
    """Temporal does not know the run: it was never started, or is not kept any more.

    To most callers that is the same as no answer.
    """


class AlreadyRunningError(Exception):
    """Another run has the id."""


class RunFailedError(Exception):
    """A run that was waited for did not succeed; the sentence says why.

    Attributes:
        code: Type of the error that a step or the workflow raised; None where the run was ended from outside.
        detail: What that error carried besides, if anything.
    """

    def __init__(self, failure: WorkflowFailureError) -> None:
        cause = failure.cause.cause if isinstance(failure.cause, ActivityError) else failure.cause
        raised = cause if isinstance(cause, ApplicationError) else None
        super().__init__(raised.message if raised else str(cause))
        self.code = (raised.type or "") if raised else None
        self.detail: Any = raised.details[0] if raised and raised.details else None


@contextmanager
def temporal_calls() -> Iterator[None]:
    """Calls of the SDK, whose ways of saying that Temporal is away all become `TemporalAwayError`.

    Raises:
        TemporalAwayError: An RPC failed or timed out, or there is no connection.
        RunNotFoundError: The server does not know what was asked for.
        AlreadyRunningError: Another run has the id.
        RunFailedError: A run that was waited for did not succeed.
    """
    try:
        yield
    except WorkflowAlreadyStartedError:
        raise AlreadyRunningError from None
    except WorkflowFailureError as failure:
        raise RunFailedError(failure) from failure
    except WorkflowUpdateRPCTimeoutOrCancelledError as error:  # also where `asyncio.wait_for` has given it up
        raise TemporalAwayError("no answer in time; is a CPU worker running?") from error
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise RunNotFoundError(str(error)) from error
        raise TemporalAwayError(str(error)) from error
    except (TimeoutError, RuntimeError) as error:  # the SDK raises the latter when it cannot connect
        raise TemporalAwayError(str(error) or "no answer in time") from error
