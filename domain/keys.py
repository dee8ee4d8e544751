"""API keys: made once, shown once, kept as a keyed digest only."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from domain.tables import Account, ApiKey

_KEY = re.compile(r"vto_live_[A-Za-z0-9_-]{43}")
_SHORTEST_PEPPER = 32


class KeyDigester:
    """HMAC-SHA-256 under a server-side pepper: a stolen table is of no use without it.

    A plain lookup by such a digest tells nothing by its timing, since nobody can choose the digest's bytes.
    """

    def __init__(self, pepper: str) -> None:
        if len(pepper) < _SHORTEST_PEPPER:
            raise ValueError(f"TRYON_KEY_PEPPER must be set to a secret of at least {_SHORTEST_PEPPER} characters")
        self._pepper = pepper.encode()

    def digest(self, key: str) -> str:
        """64 hexadecimal digits."""
        return hmac.new(self._pepper, key.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class KeyOwner:
    """Who is calling.

    Attributes:
        blocked: Whether the account is refused.
    """

    key_id: uuid.UUID
    account_id: uuid.UUID
    blocked: bool


def looks_like_key(text: str) -> bool:
    """Whether a database look-up is worth its while."""
    return _KEY.fullmatch(text) is not None


async def create_key(session: AsyncSession, digester: KeyDigester, *, account_id: uuid.UUID) -> tuple[ApiKey, str]:
    """Add a live key of 256 random bits.

    Returns:
        The row, and the key itself, which exists nowhere else from here on.
    """
    key = f"vto_live_{secrets.token_urlsafe(32)}"
    row = ApiKey(
        id=uuid.uuid4(),
        account_id=account_id,
        digest=digester.digest(key),
        prefix=key[:13],
        last_four=key[-4:],
        created_at=datetime.now(UTC),
        revoked_at=None,
    )
    session.add(row)
    await session.flush()
    return row, key


async def find_owner(session: AsyncSession, digester: KeyDigester, *, key: str) -> KeyOwner | None:
    """The owner of a live key; ``None`` for a key that is malformed, unknown or revoked."""
    if not looks_like_key(key):
        return None
    row = (
        await session.execute(
            select(ApiKey.id, ApiKey.account_id, Account.blocked_at)
            .join(Account, Account.id == ApiKey.account_id)
            .where(ApiKey.digest == digester.digest(key), ApiKey.revoked_at.is_(None))
        )
    ).one_or_none()
    return None if row is None else KeyOwner(row.id, row.account_id, row.blocked_at is not None)


async def revoke_key(session: AsyncSession, *, key_id: uuid.UUID) -> None:
    """Refuse this key from now on."""
    key = await session.get_one(ApiKey, key_id)
    key.revoked_at = key.revoked_at or datetime.now(UTC)
