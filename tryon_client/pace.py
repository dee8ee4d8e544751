"""How fast polls may follow one another, so that no client runs itself into the rate limit."""

from __future__ import annotations

import threading

import httpx

from tryon_client.headers import remaining_requests, retry_after_seconds, was_held

POLL_SECONDS = 2.0
"""The API's own interval, for answers that name none."""

FEW_REQUESTS = 5
"""With this many requests left they are spread over the time until there are more."""


class Pace:
    """Gives every poll of one client its time; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spacing = 0.0
        self._next = 0.0
        self._none_before = 0.0

    def note(self, headers: httpx.Headers, now: float) -> None:
        """Read from an answer how many requests are left, and when there will be more."""
        policies = remaining_requests(headers)
        if not policies:
            return
        scarce = [policy for policy in policies if policy.requests <= FEW_REQUESTS]
        with self._lock:
            self._spacing = max((policy.seconds / max(policy.requests, 1) for policy in scarce), default=0.0)
            self._next = max(self._next, now + self._spacing)
            self._none_before = max((now + policy.seconds for policy in scarce if policy.requests == 0), default=0.0)

    def pause(self, now: float, *, at_least: float, at_most: float, first: bool) -> float:
        """Seconds until a poll may be sent. Its time is then taken, and the next one comes after it.

        Args:
            now: The time.
            at_least: What the server asks for.
            at_most: What the caller's patience allows; it goes before the spacing, though not before an empty limit.
            first: Whether it is the first poll of its job. That one is not put off while there are requests left:
                with a server that holds polls, it is mostly the only one.
        """
        with self._lock:
            begin = max(now + at_least, self._none_before)
            if self._spacing and not first:
                begin = max(begin, min(self._next, now + at_most))
                self._next = max(self._next, begin + self._spacing)
            return begin - now


def asked_pause(headers: httpx.Headers, elapsed: float) -> float:
    """Seconds until the same job may be polled again, as far as its last answer tells.

    Args:
        headers: Of that answer.
        elapsed: Seconds between sending the poll and its answer. Of a poll that the server held they were the pause;
            only one that was let go early has the rest of it to come.
    """
    asked = retry_after_seconds(headers)
    pause = asked if asked is not None else POLL_SECONDS
    return max(0.0, pause - elapsed) if was_held(headers) else pause
