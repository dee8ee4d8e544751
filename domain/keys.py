"""API keys: made once, shown once, kept as a keyed digest only."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from domain.tables import Account, ApiKey

LIVE: Final = "live"
TEST: Final = "test"

SHOWN_PREFIX = 13
"""Characters at the beginning of a key that lists show, with the last four, to tell keys apart."""

_KEY = re.compile(r"vto_(live|test)_[A-Za-z0-9_-]{43}")
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
        mode: ``live``, or ``test`` for calls that cost nothing and draw nothing.
        last_used_at: When the key was last seen, to the minute.
        blocked: Whether the account is refused.
    """

    key_id: uuid.UUID
    account_id: uuid.UUID
    mode: str
    last_used_at: datetime | None
    blocked: bool


def looks_like_key(text: str) -> bool:
    """Whether a database look-up is worth its while."""
    return _KEY.fullmatch(text) is not None


async def create_key(
    session: AsyncSession, digester: KeyDigester, *, account_id: uuid.UUID, mode: Literal["live", "test"] = LIVE
) -> tuple[ApiKey, str]:
    """Add a key of 256 random bits.

    Returns:
        The row, and the key itself, which exists nowhere else from here on.
    """
    key = f"vto_{mode}_{secrets.token_urlsafe(32)}"
    row = ApiKey(
        id=uuid.uuid4(),
        account_id=account_id,
        mode=mode,
        digest=digester.digest(key),
        prefix=key[:SHOWN_PREFIX],
        last_four=key[-4:],
        created_at=datetime.now(UTC),
        revoked_at=None,
    )
    session.add(row)
    await session.flush()
    return row, key


def find_owner(session: Session, digester: KeyDigester, *, key: str) -> KeyOwner | None:
    """The owner of a key in use; ``None`` for a key that is malformed, unknown or revoked."""
    if not looks_like_key(key):
        return None
    digest = digester.digest(key)
    row = session.execute(
        select(ApiKey, Account.blocked_at)
        .join(Account, Account.id == ApiKey.account_id)
        .where(ApiKey.digest == digest, ApiKey.revoked_at.is_(None))
    ).one_or_none()
    if row is None or not hmac.compare_digest(row.ApiKey.digest, digest):
        return None
    found = row.ApiKey
    return KeyOwner(found.id, found.account_id, found.mode, found.last_used_at, row.blocked_at is not None)


def note_use(session: Session, *, key_id: uuid.UUID, now: datetime) -> None:
    """Remember that the key was used."""
    session.execute(update(ApiKey).where(ApiKey.id == key_id).values(last_used_at=now))


async def list_keys(session: AsyncSession, *, account_id: uuid.UUID) -> Sequence[ApiKey]:
    """The account's keys, revoked ones too, newest first."""
    return (
        await session.scalars(
            select(ApiKey).where(ApiKey.account_id == account_id).order_by(ApiKey.created_at.desc(), ApiKey.id)
        )
    ).all()


async def revoke_key(session: AsyncSession, *, key_id: uuid.UUID) -> ApiKey:
    """Refuse this key from now on.

    Raises:
        ValueError: There is no such key.
    """
    key = await session.get(ApiKey, key_id)
    if key is None:
        raise ValueError(f"there is no key {key_id}")
    key.revoked_at = key.revoked_at or datetime.now(UTC)
    return key


async def replace_key(session: AsyncSession, digester: KeyDigester, *, key_id: uuid.UUID) -> tuple[ApiKey, str]:
    """Revoke a key and make another like it, both or neither.

    Raises:
        ValueError: There is no such key, or it is revoked already.
    """
    old = await session.get(ApiKey, key_id, with_for_update=True)
    if old is None or old.revoked_at is not None:
        raise ValueError(f"there is no key {key_id} in use")
    await revoke_key(session, key_id=key_id)
    return await create_key(session, digester, account_id=old.account_id, mode=TEST if old.mode == TEST else LIVE)
