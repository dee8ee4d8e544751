"""API keys: made once, shown once, kept as a keyed digest only.

When the pepper of that digest is changed, keys move to the new one as they are used; `count_by_pepper` tells how many
have.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session

from domain.tables import Account, ApiKey

LIVE: Final = "live"

TEST: Final = "test"

MOST_IN_USE = 20
"""Keys that an owner may have in use at a time: one for each program and one more while it is replaced. Each has a rate
limit of its own, so there has to be an end."""

SHOWN_PREFIX = 13
"""Characters at the beginning of a key that lists show, with the last four, to tell keys apart."""

_KEY = re.compile(r"vto_(live|test)_[A-Za-z0-9_-]{43}")

_SHORTEST_PEPPER = 32

MARK = ":"  # between the id of a pepper and the digits of a digest under it; no hexadecimal digit

_ID_DIGITS = 8

_PEPPER_ID_OF = "the id of this pepper"  # no API key, so that the id tells nothing of one


class KeyDigester:
    """HMAC-SHA-256 under a server-side pepper: a stolen table is of no use without it.

    A plain lookup by such a digest tells nothing by its timing, since nobody can choose the digest's bytes.

    While older peppers are accepted as well, digests are made with a mark that names their pepper, so that it can be
    told which keys are not under the current one yet. At all other times they are made without; both are found always.
    """

    def __init__(self, pepper: str, previous: Sequence[str] = ()) -> None:
        """Make new digests with ``pepper``, and find those of ``previous`` ones too.

        Raises:
            ValueError: One of them is too short to be a secret.
        """
        if len(pepper) < _SHORTEST_PEPPER:
            raise ValueError(f"TRYON_KEY_PEPPER must be set to a secret of at least {_SHORTEST_PEPPER} characters")
        if any(len(each) < _SHORTEST_PEPPER for each in previous):
            raise ValueError(
                f"TRYON_KEY_PEPPER_PREVIOUS has a part of fewer than {_SHORTEST_PEPPER} characters; commas part peppers"
            )
        self._peppers = [each.encode() for each in (pepper, *previous)]
        self.rotating = bool(previous)

    @property
    def pepper_ids(self) -> list[str]:
        """8 hexadecimal digits for each pepper, the current one first; they tell nothing about it."""
        return [_digits(pepper, _PEPPER_ID_OF)[:_ID_DIGITS] for pepper in self._peppers]

    def digest(self, key: str) -> str:
        """What is kept of the key: 64 characters."""
        plain, marked = self._both(self._peppers[0], key)
        return marked if self.rotating else plain

    def accepted(self, key: str) -> list[str]:
        """Every digest under which the key may be kept."""
        return [digest for pepper in self._peppers for digest in self._both(pepper, key)]

    def is_current(self, digest: str) -> bool:
        """Whether the digest can stay as it is."""
        return not self.rotating or digest.startswith(self.pepper_ids[0] + MARK)

    @staticmethod
    def _both(pepper: bytes, key: str) -> tuple[str, str]:
        plain, mark = _digits(pepper, key), _digits(pepper, _PEPPER_ID_OF)[:_ID_DIGITS] + MARK
        return plain, mark + plain[: len(plain) - len(mark)]


def _digits(pepper: bytes, text: str) -> str:
    """64 hexadecimal digits."""
    return hmac.new(pepper, text.encode(), hashlib.sha256).hexdigest()


class TooManyKeysError(Exception):
    """An account has as many keys in use as an owner may have."""


@dataclass(frozen=True)
class KeyOwner:
    """Who is calling.

    Attributes:
        mode: ``live``, or ``test`` for calls that cost nothing and draw nothing.
        last_used_at: When the key was last seen, to the minute.
        new_digest: What the key's digest has to be replaced by, if it is not under the current pepper.
    """

    key_id: uuid.UUID
    account_id: uuid.UUID
    mode: str
    last_used_at: datetime | None
    blocked: bool
    new_digest: str | None = field(default=None, repr=False)


def looks_like_key(text: str) -> bool:
    """Whether a database look-up is worth its while."""
    return _KEY.fullmatch(text) is not None


def create_key(
    session: Session, digester: KeyDigester, *, account_id: uuid.UUID, mode: Literal["live", "test"] = LIVE
) -> tuple[ApiKey, str]:
    """Add a key of 256 random bits; returns the row and the key itself, which exists nowhere else from here on."""
    key = f"vto_{mode}_{secrets.token_urlsafe(32)}"
    row = ApiKey(
        id=uuid.uuid4(),
        account_id=account_id,
        mode=mode,
        digest=digester.digest(key),
        prefix=key[:SHOWN_PREFIX],
        last_four=key[-4:],
        created_at=datetime.now(UTC),
    )
    session.add(row)
    session.flush()
    return row, key


def find_owner(session: Session, digester: KeyDigester, *, key: str) -> KeyOwner | None:
    """The owner of a key in use; ``None`` for a key that is malformed, unknown or revoked."""
    if not looks_like_key(key):
        return None
    accepted = digester.accepted(key)
    row = session.execute(
        select(ApiKey, Account.blocked_at)
        .join(Account, Account.id == ApiKey.account_id)
        .where(ApiKey.digest.in_(accepted), ApiKey.revoked_at.is_(None))
    ).one_or_none()
    if row is None or not any(hmac.compare_digest(row.ApiKey.digest, each) for each in accepted):
        return None
    found, blocked = row.ApiKey, row.blocked_at is not None
    new_digest = None if digester.is_current(found.digest) else digester.digest(key)
    return KeyOwner(found.id, found.account_id, found.mode, found.last_used_at, blocked, new_digest)


def note_use(session: Session, *, key_id: uuid.UUID, now: datetime) -> None:
    """Remember that the key was used."""
    session.execute(update(ApiKey).where(ApiKey.id == key_id).values(last_used_at=now))


def renew_digest(session: Session, *, key_id: uuid.UUID, digest: str) -> None:
    """Keep the key under the current pepper from now on."""
    session.execute(update(ApiKey).where(ApiKey.id == key_id).values(digest=digest))


def list_keys(session: Session, *, account_id: uuid.UUID) -> Sequence[ApiKey]:
    """The account's keys, revoked ones too, newest first."""
    return session.scalars(
        select(ApiKey).where(ApiKey.account_id == account_id).order_by(ApiKey.created_at.desc(), ApiKey.id)
    ).all()


def create_own_key(
    session: Session, digester: KeyDigester, *, account_id: uuid.UUID, mode: Literal["live", "test"]
) -> tuple[ApiKey, str]:
    """`create_key` for an owner, who may not have any number of them.

    Raises:
        TooManyKeysError: There are `MOST_IN_USE` already.
    """
    # Other transactions that make a key for the account wait here, so that the count is still right below.
    session.scalar(select(Account.id).where(Account.id == account_id).with_for_update())
    in_use = select(func.count()).where(ApiKey.account_id == account_id, ApiKey.revoked_at.is_(None))
    if (session.scalar(in_use) or 0) >= MOST_IN_USE:
        raise TooManyKeysError
    return create_key(session, digester, account_id=account_id, mode=mode)


def find_key(session: Session, *, account_id: uuid.UUID, key_id: uuid.UUID) -> ApiKey | None:
    """A key of this account, revoked or not."""
    return session.scalar(_key(key_id, account_id))


def revoke_key(session: Session, *, key_id: uuid.UUID, account_id: uuid.UUID | None = None) -> ApiKey:
    """Refuse this key from now on, if it is this account's; operators name no account and may revoke any.

    Raises:
        ValueError: There is no such key.
    """
    key = session.scalar(_key(key_id, account_id).with_for_update())
    if key is None:
        raise ValueError(f"there is no key {key_id}")
    key.revoked_at = key.revoked_at or datetime.now(UTC)
    return key


def replace_key(
    session: Session, digester: KeyDigester, *, key_id: uuid.UUID, account_id: uuid.UUID | None = None
) -> tuple[ApiKey, str]:
    """Revoke a key and make another like it, both or neither; ``account_id`` as in `revoke_key`.

    Raises:
        ValueError: There is no such key, or it is revoked already.
    """
    old = session.scalar(_key(key_id, account_id).with_for_update())
    if old is None or old.revoked_at is not None:
        raise ValueError(f"there is no key {key_id} in use")
    old.revoked_at = datetime.now(UTC)
    return create_key(session, digester, account_id=old.account_id, mode=TEST if old.mode == TEST else LIVE)


def _key(key_id: uuid.UUID, account_id: uuid.UUID | None) -> Select[ApiKey]:
    query = select(ApiKey).where(ApiKey.id == key_id)
    return query if account_id is None else query.where(ApiKey.account_id == account_id)


@dataclass(frozen=True)
class PepperCount:
    """Keys in use that need nothing, and those that move to the current pepper at their next use, the idlest first."""

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
    waiting = session.scalars(select(ApiKey).where(in_use, ~moved).order_by(*used_first)).all()
    return PepperCount(live - len(waiting), waiting)


def revoke_waiting(session: Session, digester: KeyDigester) -> int:
    """Revoke every key that is not under the current pepper; returns how many."""
    waiting = count_by_pepper(session, digester).waiting
    for key in waiting:
        key.revoked_at = datetime.now(UTC)
    return len(waiting)
