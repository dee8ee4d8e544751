"""Request rates: an exact sliding log of each caller under each policy.

A caller is an API key, a visitor of a page with a publishable key, or an owner in the dashboard.

Exact means that no window of the policy's length, wherever it begins, ever holds more admitted requests than the
policy allows. There is one row per caller and policy with at most that many stamps in it, which every admitted request
writes anew. A row whose stamps have all left the window says nothing and is deleted, so the table never grows beyond
those who have called lately.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from domain.tables import RateWindow, insert_unless_there, rows_changed

Clock = Callable[[], float]  # Unix time in seconds, as `time.time` tells it


@dataclass(frozen=True)
class RatePolicy:
    """So many requests, at least 1, in any window of so many seconds, at least 1.

    Its name tells it from other policies, in the table and in headers: up to 32 letters, digits and dashes.
    """

    name: str
    requests: int
    window_seconds: int


@dataclass(frozen=True)
class RateState:
    """What became of one request, and what is left.

    Attributes:
        admitted: Whether the request may go on; if not, it was not counted.
        remaining: Requests that would be admitted right now.
        seconds_to_more: Until `remaining` grows by itself; more than 0, and at most one window.
    """

    admitted: bool
    remaining: int
    seconds_to_more: float


def admit(stamps: Sequence[float], policy: RatePolicy, now: float) -> tuple[RateState, list[float]]:
    """Judge one request against the requests admitted before it.

    A request stops counting exactly one window after it was admitted. A stamp in the future was written before the
    clock jumped back (or by a host whose clock is ahead) and is taken for one of this moment: nobody is locked out
    for longer than a window, and nobody gains a request by it. For that, the second value has to be kept even when
    the request is refused.

    Returns:
        The verdict, and the stamps to keep: Unix times in seconds, oldest first, like those handed in.
    """
    kept = [min(stamp, now) for stamp in stamps if stamp + policy.window_seconds > now]
    admitted = len(kept) < policy.requests
    if admitted:
        kept.append(now)
    # There are more stamps than the policy allows only after the setting was lowered; then as many must leave first.
    first_to_leave = kept[max(0, len(kept) - policy.requests)]
    state = RateState(
        admitted=admitted,
        remaining=max(0, policy.requests - len(kept)),
        seconds_to_more=first_to_leave + policy.window_seconds - now,
    )
    return state, kept


def hit(session: Session, *, caller_id: uuid.UUID, policy: RatePolicy, clock: Clock) -> RateState:
    """Judge a request and, if it is admitted, count it.

    Others of the same caller and policy wait until the session's transaction ends: for the row on PostgreSQL, for
    the database's one write lock on SQLite.
    """
    this_row = (RateWindow.caller_id == caller_id, RateWindow.policy == policy.name)
    look = select(RateWindow.stamps).where(*this_row).with_for_update()
    stamps = session.execute(look).scalar_one_or_none()
    if stamps is None:
        row = {"caller_id": caller_id, "policy": policy.name, "stamps": []}
        session.execute(insert_unless_there(session, RateWindow, row))
        stamps = session.execute(look).scalar_one()
    # Only now is it this request's turn, so only now may it read the clock: stamps are in order.
    state, kept = admit(stamps, policy, clock())
    if kept != stamps:
        forget_at = datetime.fromtimestamp(kept[-1] + policy.window_seconds, UTC)
        session.execute(update(RateWindow).where(*this_row).values(stamps=kept, forget_at=forget_at))
    return state


def forget_old(session: Session, *, now: datetime) -> int:
    """Delete the rows whose last request has left the window; returns how many there were."""
    return rows_changed(session, delete(RateWindow).where(RateWindow.forget_at <= now))
