"""From an exception to what Temporal does about it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from domain.errors import CATALOGUE, ErrorCode, known_code
from engines.base import EngineError, Garment
from imaging.errors import ImageError
from runtime.metric_catalogue import IMAGE_REJECTED, SSRF_BLOCKED
from runtime.metrics import activity_meter
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError
from workflows.contracts import LONGEST_SENTENCE
from workflows.steps import AWAY

T = TypeVar("T")

LONGEST_MESSAGE = 500  # characters of an exception's text that go into a history

AWAY_PAUSE = timedelta(seconds=6)
"""Until a step that found the store or the database away is tried again. What was killed is back within seconds."""

LONGEST_TURN_SECONDS = 300.0
"""Until a step that found its places taken is tried again; it begins with a second or two, and doubles. Thousands may
wait for a server that does not answer, and each try is work for Temporal and for this process."""

PICTURE_TRIES = 3
"""How often a picture's address is asked: whoever waits for it hears soon. Steps have more attempts, for workers that
are killed."""


def failure(
    code: ErrorCode, detail: str, *, retryable: bool = False, again: timedelta | None = None, about: str = ""
) -> ApplicationError:
    """An error of the catalogue as Temporal carries it: the code is its type.

    Expected ones are marked benign, so that they do not look like faults in logs and metrics.

    Args:
        code: Why. Only what is raised here has a code for its type; any other exception is a fault of ours.
        detail: For people who read the history.
        retryable: Whether Temporal tries the step again, with the pauses of the step.
        again: After what pause it does instead.
        about: What the caller has to be told besides the code, as the error's one detail: in a product's steps the
            field to blame, in a job's the advice for the person who chose the pictures.
    """
    return ApplicationError(
        detail[:LONGEST_MESSAGE],
        *([about[:LONGEST_SENTENCE]] if about else []),
        type=code,
        non_retryable=not retryable and again is None,
        next_retry_delay=again,
        category=ApplicationErrorCategory.BENIGN,
    )


def not_its_turn(detail: str) -> ApplicationError:
    """Of a step that leaves its worker's place to others, and is asked again later."""
    longest = min(LONGEST_TURN_SECONDS, 2.0 ** min(activity.info().attempt, 16))
    return ApplicationError(
        detail,
        type="NotItsTurn",
        next_retry_delay=timedelta(seconds=random.uniform(longest / 2, longest)),
        category=ApplicationErrorCategory.BENIGN,
    )


async def together(*work: Coroutine[Any, Any, T]) -> list[T]:
    """As `asyncio.gather`, but where one fails the others are over before that is told.

    So none of them stores anything behind a clean-up.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
    except ExceptionGroup as failures:
        first = failures.exceptions[0]
    else:
        return [task.result() for task in tasks]
    raise first  # out here, so that it keeps what caused it


@contextmanager
def saying_which(garments: Sequence[Garment]) -> Iterator[None]:
    """Say of a garment that was not recognised which one of several, in the caller's order, it is."""
    try:
        yield
    except EngineError as error:
        place = next((number for number, garment in enumerate(garments, start=1) if garment is error.garment), None)
        if place and len(garments) > 1:
            what_to_do = error.advice or CATALOGUE[known_code(error.code)].advice
            error.advice = f"It is number {place} of {len(garments)}. {what_to_do}"
        raise


def is_tried_again(error: ImageError) -> bool:
    """Whether this step's next attempt may get the picture."""
    return error.retryable and activity.info().attempt < PICTURE_TRIES


def count_refused_picture(error: ImageError) -> None:
    """Count a picture that is refused for good; one that is tried again is not refused yet."""
    if not activity.in_activity() or is_tried_again(error):
        return
    meter = activity_meter()
    meter.add(IMAGE_REJECTED, reason=error.code)
    if error.refusal is not None:
        meter.add(SSRF_BLOCKED, reason=error.refusal)


@contextmanager
def expected_failures() -> Iterator[None]:
    """Turn what the inputs are to blame for into failures that end the job; faults of ours are retried."""
    try:
        yield
    except (ImageError, EngineError) as error:
        retryable = isinstance(error, ImageError) and is_tried_again(error)
        if isinstance(error, ImageError):
            count_refused_picture(error)
        advice = error.advice if isinstance(error, EngineError) else ""
        raise failure(known_code(error.code), str(error), retryable=retryable, about=advice) from error
    except ObjectMissingError as error:
        # The inputs of a job that ended meanwhile are deleted; trying again cannot bring them back.
        raise failure("generation_failed", f"missing object: {error}") from error
    except (ObjectStoreUnavailableError, OperationalError, PoolTimeoutError) as error:
        told = f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]
        raise ApplicationError(told, type=AWAY, next_retry_delay=AWAY_PAUSE) from error
