"""From an exception to what Temporal does about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from engines.base import EngineError
from imaging.errors import ImageError
from runtime.object_store import ObjectMissingError

LONGEST_MESSAGE = 500
"""Characters of an exception's text that go into a history."""


def failure(code: str, detail: str, *, retryable: bool = False, field: str | None = None) -> ApplicationError:
    """An error of the catalogue as Temporal carries it: the code is its type, the field to blame its detail.

    Expected ones are marked benign, so that they do not look like faults in logs and metrics.
    """
    return ApplicationError(
        detail[:LONGEST_MESSAGE],
        *([] if field is None else [field]),
        type=code,
        non_retryable=not retryable,
        category=ApplicationErrorCategory.BENIGN,
    )


@contextmanager
def expected_failures() -> Iterator[None]:
    """Turn what the inputs are to blame for into failures that end the job; faults of ours are retried."""
    try:
        yield
    except (ImageError, EngineError) as error:
        retryable = isinstance(error, ImageError) and error.retryable
        raise failure(error.code, str(error), retryable=retryable) from error
    except ObjectMissingError as error:
        # The inputs of a job that ended meanwhile are deleted; trying again cannot bring them back.
        raise failure("generation_failed", f"missing object: {error}") from error
