"""The operations of the client as generators that yield calls and receive answers.

Both clients run the same generators. A step is either a `Call`, whose answer or transport error is sent back, or a
number of seconds to sleep. Nothing here sleeps, connects or awaits.

A call may be sent again even when it is unclear whether the first one arrived: a try-on carries an
``Idempotency-Key``, so a second one never starts or bills a second job, and most other calls are idempotent.
"""

from __future__ import annotations

import math
import random
import threading
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import httpx

from tryon_client import answers, calls
from tryon_client.answers import COMPLETED, FAILED, Job, Result
from tryon_client.calls import Call
from tryon_client.errors import (
    ConnectionFailed,
    IdempotencyConflict,
    JobFailed,
    RateLimited,
    TryOnApiError,
    TryOnError,
    WaitTimeout,
)

Value = TypeVar("Value")
Operation: TypeAlias = Generator[Call[Any] | float, httpx.Response | httpx.RequestError | None, Value]

LONGEST_HOLD_SECONDS = 25
"""How long a poll asks the server to hold it: below the 30 that the API allows, and what proxies put up with."""

PATIENCE_SECONDS = 600.0
"""The default patience: as long as the service lets a look of several garments take."""

POLL_SECONDS = 2.0
"""The API's own interval between polls, for answers without ``Retry-After``."""

RETRIED_STATUSES = frozenset({408, 500, 502, 503, 504})
MAX_RETRIES = 3
FIRST_BACKOFF_SECONDS, LONGEST_BACKOFF_SECONDS = 0.5, 8.0

LONGEST_RETRY_AFTER_SECONDS = 60.0
"""Without a deadline from the caller, a longer ``Retry-After`` is not waited for."""

LONGEST_CLAIM_SECONDS = 90.0
"""How long, without a deadline, an ``Idempotency-Key`` is waited for that another request has. The service takes it
from a lost request after 60 s; the rest is for the pause before the next try, and for sending the pictures."""

API_REQUESTS, API_SECONDS = 20, 300
"""The request rate of the API, until an answer tells the key's own."""

LATER_SECONDS = 1.0
"""Requests take different times to reach the server, so a window counts as this much longer."""

FEW_REQUESTS = 5
"""With this many requests left, polls are spread over the time until there are more."""

LOOK_AGAIN_SECONDS = 5.0
"""How often a request that waits for its turn checks whether answers to others have made it earlier."""


@dataclass(frozen=True)
class Turn:
    """A request that may be sent now.

    Attributes:
        at: When.
        own: How many requests the client has sent in the window, this one included.
        with_poll: Whether another turn is put aside for the poll that follows.
    """

    at: float
    own: int
    with_poll: bool = False


class Pace:
    """Keeps one client within its key's request rate, however many jobs it waits for; safe to share between threads.

    It counts the client's own requests, and learns from answers what the limit is and how much of it others use. Every
    request takes a turn, so two requests never rely on the same place.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._quota, self._window = API_REQUESTS, API_SECONDS
        self._sent: deque[float] = deque()
        self._put_aside = 0
        self._others, self._others_until = 0, 0.0
        self._heard_of = -float("inf")

    def take(
        self,
        now: float,
        *,
        not_before: float = 0.0,
        spread_until: float = 0.0,
        with_poll: bool = False,
        put_aside: bool = False,
    ) -> Turn | float:
        """A turn, if there is one now; else the seconds after which there may be one.

        Args:
            now: The time.
            not_before: When the caller wants it.
            spread_until: Until then the last few turns are kept for later; after it, only an empty limit counts.
            with_poll: Whether to put aside a second turn, where the limit is large enough for two.
            put_aside: Whether this is the turn that was put aside, which is none any more afterwards.
        """
        with self._lock:
            self._put_aside -= put_aside
            free, more_at = self._free(now), self._more_at(now)
            with_poll = with_poll and self._quota > 1
            begin = not_before
            if free < 1 + with_poll:
                begin = max(begin, more_at)
            elif free <= FEW_REQUESTS and self._sent:
                spread = self._sent[-1] + (more_at - self._sent[-1]) / (free + 1)
                begin = max(begin, min(spread, spread_until))
            if begin > now:
                return begin - now
            self._put_aside += with_poll
            return self._turn(now, with_poll=with_poll)

    def take_anyway(self, now: float) -> Turn:
        """A turn for a request that is sent regardless of the limit; the server decides."""
        with self._lock:
            self._free(now)
            return self._turn(now)

    def give_back(self, turn: Turn | None) -> None:
        """No poll will follow."""
        with self._lock:
            self._put_aside -= turn is not None and turn.with_poll

    def note(self, headers: httpx.Headers, turn: Turn, now: float) -> None:
        """Learn from the answer to the request that took this turn."""
        limit = answers.rate_limit(headers)
        with self._lock:
            # An answer describes the moment its request was counted, and answers to held polls come late.
            if limit is None or turn.at < self._heard_of:
                return
            self._heard_of = turn.at
            self._quota = limit.quota or max(self._quota, limit.left + turn.own)
            self._window = limit.window or self._window
            self._others = max(0, self._quota - limit.left - turn.own)
            self._others_until = now + limit.seconds

    def refused(self, turn: Turn, now: float, seconds: float) -> None:
        """The request that took this turn was one too many; the server counted none, and says when there are more."""
        with self._lock:
            if turn.at in self._sent:
                self._sent.remove(turn.at)
            self._others = max(self._others, self._quota - len(self._sent) - self._put_aside)
            self._others_until = now + seconds

    def _turn(self, now: float, *, with_poll: bool = False) -> Turn:
        self._sent.append(now)
        return Turn(now, len(self._sent), with_poll)

    def _free(self, now: float) -> int:
        while self._sent and self._sent[0] + self._window + LATER_SECONDS <= now:
            self._sent.popleft()
        while self._others and self._others_until <= now:
            # When the rest of theirs leave the window is unknown: most likely one after the other.
            self._others -= 1
            self._others_until += self._window / self._quota
        return self._quota - len(self._sent) - self._put_aside - self._others

    def _more_at(self, now: float) -> float:
        """When another request leaves the window."""
        leaving = [self._sent[0] + self._window + LATER_SECONDS] if self._sent else []
        leaving += [self._others_until] if self._others else []
        return min(leaving, default=now + LOOK_AGAIN_SECONDS)


class Operations:
    """The operations of one client.

    Args:
        max_retries: How often a request is sent again. Tries that found its key taken do not count, nor polls of a
            job that is waited for.
        clock: Seconds that only ever grow.
    """

    def __init__(self, max_retries: int, clock: Callable[[], float]) -> None:
        self._max_retries = max_retries
        self._clock = clock
        self._pace = Pace()

    def send(self, call: Call[Value]) -> Operation[Value]:
        """Send a call, again where that may help, and read its answer."""
        return call.read((yield from self._send(call)))

    def wait(
        self, job_id: str, timeout: float, *, deadline: float | None = None, put_aside: bool = False
    ) -> Operation[Result]:
        """Poll until the job has ended.

        Args:
            job_id: The job.
            timeout: Seconds that the caller is ready to wait.
            deadline: When they are over, if they began before now.
            put_aside: Whether a turn was put aside for the first poll.

        Raises:
            JobFailed: It ended without a picture.
            WaitTimeout: It did not end in time.
            TryOnError: It could not be asked for, though retries were made.
        """
        deadline = self._clock() + timeout if deadline is None else deadline
        try:
            turn = yield from self._turn(deadline, put_aside=put_aside)
            while turn is not None:
                call = calls.poll(job_id, max(0, min(LONGEST_HOLD_SECONDS, int(deadline - turn.at))))
                response = yield from self._send(call, deadline, turn)
                status = call.read(response)
                if status.status == COMPLETED and status.image is not None and status.generation_ms is not None:
                    return Result(job_id, status.image, status.generation_ms)
                if status.status == FAILED:
                    raise JobFailed(job_id, status.error or "", status.code)
                now = self._clock()
                if now >= deadline:
                    break
                # One more held poll fits in; where polls are not held, the rest is halved and halved again.
                spread_until = now + max(deadline - now - LONGEST_HOLD_SECONDS, (deadline - now) / 2)
                not_before = now + _asked_pause(response.headers, now - turn.at)
                turn = yield from self._turn(deadline, not_before=not_before, spread_until=spread_until)
            raise WaitTimeout(job_id, timeout)
        except TryOnError as error:
            error.job_id = job_id
            raise

    def run_and_wait(self, call: Call[Job], timeout: float) -> Operation[Result]:
        """Start a job as soon as the request rate allows, and poll until it has ended."""
        deadline = self._clock() + timeout
        # With a turn for its poll as well: jobs that start one after the other finish sooner than a crowd of started
        # jobs that the limit lets nobody poll.
        turn = yield from self._turn(deadline, with_poll=True)
        try:
            job = call.read((yield from self._send(call, deadline, turn)))
        except BaseException:
            self._pace.give_back(turn)
            raise
        put_aside = turn is not None and turn.with_poll
        return (yield from self.wait(job.job_id, timeout, deadline=deadline, put_aside=put_aside))

    def _turn(
        self,
        deadline: float,
        *,
        not_before: float = 0.0,
        spread_until: float = 0.0,
        with_poll: bool = False,
        put_aside: bool = False,
    ) -> Operation[Turn | None]:
        """Wait for a turn, see `Pace.take`; ``None`` if there is none before the deadline."""
        while True:
            now = self._clock()
            turn = self._pace.take(
                now, not_before=not_before, spread_until=spread_until, with_poll=with_poll, put_aside=put_aside
            )
            if isinstance(turn, Turn):
                return turn
            if now + turn >= deadline:
                return None
            put_aside = False
            yield min(turn, LOOK_AGAIN_SECONDS)

    def _send(
        self, call: Call[Any], deadline: float | None = None, turn: Turn | None = None
    ) -> Operation[httpx.Response]:
        """Send a call, and send it again where that may help, though not beyond the deadline.

        Args:
            call: What to send.
            deadline: Until then, a paced call waits for its turn; without a deadline it never waits.
            turn: A turn that was waited for already.

        Returns:
            An answer with a 2xx status.
        """
        retries = conflicts = 0
        claimed_until = math.inf
        while True:
            failure: TryOnApiError | ConnectionFailed
            if call.paced and turn is None:
                again = retries or conflicts
                turn = (yield from self._turn(deadline)) if deadline is not None and again else None
                turn = turn or self._pace.take_anyway(self._clock())
            answer = yield call
            if not isinstance(answer, httpx.Response):
                failure = ConnectionFailed(f"{call.method} {call.path}: {answer or type(answer).__name__}")
                failure.__cause__ = answer
            else:
                if turn is not None:
                    self._pace.note(answer.headers, turn, self._clock())
                # An earlier try, whose answer was lost, may have deleted it.
                deleted_before = call.method == "DELETE" and retries > 0 and answer.status_code == httpx.codes.NOT_FOUND
                if answer.is_success or deleted_before:
                    return answer
                failure = answers.api_error(answer) if answer.is_error else answers.unexpected(answer)
            now = self._clock()
            if isinstance(failure, IdempotencyConflict):
                conflicts, claimed_until = conflicts + 1, min(claimed_until, now + LONGEST_CLAIM_SECONDS)
            else:
                # A try without an answer may have claimed the key anew.
                retries, conflicts, claimed_until = retries + 1, 0, math.inf
            delay = self._delay(call, failure, conflicts or retries, deadline)
            if isinstance(failure, RateLimited) and turn is not None and failure.retry_after is not None:
                self._pace.refused(turn, now, failure.retry_after)
            if delay is None or now + delay >= (claimed_until if deadline is None else deadline):
                failure.idempotency_key = call.idempotency_key
                raise failure
            turn = None
            yield delay

    def _delay(
        self, call: Call[Any], failure: TryOnApiError | ConnectionFailed, tries: int, deadline: float | None
    ) -> float | None:
        """Seconds until the next try, or ``None`` if there is none; ``tries`` is how many came to this so far."""
        if not (_may_pass(failure) and (call.repeatable or _was_not_done(failure))):
            return None
        asked = failure.retry_after if isinstance(failure, TryOnApiError) else None
        if isinstance(failure, RateLimited) and asked is not None and deadline is not None:
            return max(asked, 1.0)  # the caller set a deadline, and nothing is wrong
        backoff = min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2.0 ** (tries - 1))
        if isinstance(failure, IdempotencyConflict):
            # Nothing is wrong here either. But every try counts against the request rate, and with pauses of a second,
            # which services before 0.6 ask for, none would be left for the polls.
            return max(asked or 0.0, backoff)
        waits = deadline is not None and call.method == "GET"  # for the end of a job, which is accepted and billed
        if tries > self._max_retries and not waits:
            return None
        if asked is not None:
            return asked if waits or asked <= LONGEST_RETRY_AFTER_SECONDS else None
        # At least half of it, so that clients that failed together spread out and still keep away.
        return backoff * (0.5 + 0.5 * random.random())


def _may_pass(failure: TryOnApiError | ConnectionFailed) -> bool:
    match failure:
        case ConnectionFailed() | IdempotencyConflict():
            return True
        case RateLimited():
            # Proxies limit as well, and name no code; a code that is not known may stand for a limit of days.
            return failure.code in {"rate_limited", None}
        case _:
            return failure.status in RETRIED_STATUSES


def _was_not_done(failure: TryOnApiError | ConnectionFailed) -> bool:
    """Whether it is certain that the service has done nothing."""
    return isinstance(failure, RateLimited) or isinstance(failure.__cause__, httpx.ConnectError | httpx.ConnectTimeout)


def _asked_pause(headers: httpx.Headers, elapsed: float) -> float:
    """Seconds until the same job may be polled again, as far as its last answer tells.

    Args:
        headers: Of that answer.
        elapsed: Seconds between sending the poll and its answer. They count as the pause if the server held the poll.
    """
    asked = answers.retry_after_seconds(headers)
    pause = asked if asked is not None else POLL_SECONDS
    return max(0.0, pause - elapsed) if answers.was_held(headers) else pause
