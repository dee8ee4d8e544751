"""How far API keys have moved from an older pepper to the current one; see `domain.access.keys.KeyDigester`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from domain.access.keys import MARK, KeyDigester
from domain.tables import ApiKey


@dataclass(frozen=True)
class PepperCount:
    """Keys in use by the pepper that their digests are made with.

    Attributes:
        current: Those that need nothing.
        waiting: Those that move to the current pepper when they are used next, the least recently used first.
    """

    current: int
    waiting: Sequence[ApiKey]


def count_by_pepper(session: Session, digester: KeyDigester) -> PepperCount:
    """How far the keys in use have moved to the current pepper; all of them, while no other is accepted."""
    in_use = ApiKey.revoked_at.is_(None)
    live = session.scalar(select(func.count()).select_from(ApiKey).where(in_use)) or 0
    if not digester.rotating:
        return PepperCount(live, ())
    moved = ApiKey.digest.startswith(digester.pepper_ids[0] + MARK, autoescape=True)
    used_first = (ApiKey.last_used_at.is_not(None), ApiKey.last_used_at, ApiKey.created_at, ApiKey.id)
    waiting = (session.scalars(select(ApiKey).where(in_use, ~moved).order_by(*used_first))).all()
    return PepperCount(live - len(waiting), waiting)


def revoke_waiting(session: Session, digester: KeyDigester) -> int:
    """Revoke every key that is not under the current pepper; returns how many."""
    waiting = (count_by_pepper(session, digester)).waiting
    for key in waiting:
        key.revoked_at = datetime.now(UTC)
    return len(waiting)
