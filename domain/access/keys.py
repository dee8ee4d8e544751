"""API keys: secret ones, made once, shown once and kept as a keyed digest only; publishable ones for web pages.

A publishable key stands in the pages of a shop, where everybody can read it. What bounds it is in its row: origins, a
cap of its own by the day, and that it starts try-ons with registered products and looks at those alone.

When the pepper of that digest is changed, keys move to the new one as they are used; `count_by_pepper` tells how many
have.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select, update
from sqlalchemy.orm import Session

from domain.tables import Account, ApiKey, rows_changed

LIVE: Final = "live"

TEST: Final = "test"

Mode: TypeAlias = Literal["live", "test"]

KeyScope: TypeAlias = Literal["tryons", "products", "webhooks", "reading"]

SCOPES: dict[KeyScope, str] = {
    "tryons": "Start, poll and delete try-ons",
    "products": "Register, change, archive and list products",
    "webhooks": "Create, change and delete webhook endpoints, and send to them",
    "reading": "List jobs, read usage, list webhook endpoints and deliveries",
}
"""What a key may be used for, as its owner reads it. A route names its own in its `RoutePolicy`."""

LONGEST_NAME = 60

MOST_ORIGINS = 20

DEFAULT_DAILY_CAP = 100
"""Try-ons a day of a publishable key; twice what the smallest plan allows its account."""

LARGEST_DAILY_CAP = 1_000_000

OVERLAPS = {
    "none": timedelta(0),
    "1h": timedelta(hours=1),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
}
"""For how long a key goes on working after it was replaced, by what it is called in forms and commands."""

MOST_IN_USE = 20
"""Keys that an owner may have in use at a time: one for each program and one more while it is replaced. Each has a rate
limit of its own, so there has to be an end."""

SHOWN_PREFIX = 13
"""Characters at the beginning of a key that lists show, with the last four, to tell keys apart."""

_KEY = re.compile(r"vto_(?:pub_)?(?:live|test)_[A-Za-z0-9_-]{43}")

_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+")

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
class KeyTerms:
    """What a key may be used for, and for how long.

    Attributes:
        name: What its owner calls it; 1 to 60 characters, or none.
        scopes: None for everything, also what is added later.
        expires_at: From when it is refused; none for never.
    """

    name: str | None = None
    scopes: Collection[KeyScope] | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True)
class PublishableTerms:
    """What bounds a publishable key.

    Attributes:
        origins: 1 to 20, as `read_origins` gives them.
        daily_cap: Try-ons that may be started with it on one day (UTC), whatever becomes of them; at least 1.
    """

    origins: Sequence[str]
    daily_cap: int = DEFAULT_DAILY_CAP


EVERYTHING = KeyTerms()


@dataclass(frozen=True)
class KeyOwner:
    """Who is calling: a key in use and its account.

    Attributes:
        new_digest: What the key's digest has to be replaced by, if it is not under the current pepper.
    """

    key: ApiKey
    account: Account
    new_digest: str | None = field(default=None, repr=False)

    @property
    def key_id(self) -> uuid.UUID:
        return self.key.id

    @property
    def account_id(self) -> uuid.UUID:
        return self.account.id

    @property
    def test(self) -> bool:
        """Whether its calls cost nothing and draw nothing."""
        return self.key.mode == TEST

    @property
    def publishable(self) -> bool:
        """Whether anybody may know it."""
        return self.key.publishable_key is not None

    @property
    def blocked(self) -> bool:
        return self.account.blocked_at is not None

    def may(self, scope: KeyScope | None) -> bool:
        """Whether the key has this scope; what has none is for keys that may do everything."""
        return self.key.scopes is None or scope in self.key.scopes


def in_use(now: datetime) -> ColumnElement[bool]:
    """Of keys that are neither revoked nor expired."""
    return and_(ApiKey.revoked_at.is_(None), or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now))


def read_name(text: str) -> str:
    """A name for a key, on one line.

    Raises:
        ValueError: A sentence for its owner.
    """
    name = " ".join(text.split())
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError(f"Give the key a name of 1 to {LONGEST_NAME} characters.")
    return name


def read_origins(texts: Sequence[str]) -> list[str]:
    """Origins of web pages, each once, in the spelling in which browsers send them.

    Raises:
        ValueError: A sentence for the key's owner.
    """
    origins = list(dict.fromkeys(_origin(text.strip()) for text in texts if text.strip()))
    if not 1 <= len(origins) <= MOST_ORIGINS:
        raise ValueError(f"Name 1 to {MOST_ORIGINS} origins, such as https://shop.example.")
    return origins


def _origin(text: str) -> str:
    """One origin (RFC 6454); of http only this machine's own, for development."""
    refused = ValueError(
        f"“{text[:80]}” is not an origin. Write https:// and the host, such as https://shop.example, without a path "
        "and without *; for development, http://localhost with its port."
    )
    try:
        parts = urlsplit(text)
        port, host = parts.port, (parts.hostname or "").encode("idna").decode("ascii").lower()
    except (ValueError, UnicodeError):
        raise refused from None
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    bare = f"{parts.scheme}://{parts.netloc}".casefold() == text.removesuffix("/").casefold() and "@" not in text
    known = _HOST.fullmatch(host) is not None if parts.scheme == "https" else host == "localhost"
    if usual is None or not bare or not known or parts.netloc.endswith(":"):
        raise refused
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, usual) else "")


def looks_like_key(text: str) -> bool:
    """Whether a database look-up is worth its while."""
    return _KEY.fullmatch(text) is not None


def create_key(
    session: Session,
    digester: KeyDigester,
    *,
    account_id: uuid.UUID,
    mode: Mode = LIVE,
    terms: KeyTerms = EVERYTHING,
    publishable: PublishableTerms | None = None,
) -> tuple[ApiKey, str]:
    """Add a key of 256 random bits; returns the row and the key itself.

    A secret one exists nowhere else from here on. A publishable one has the scope ``tryons``, whatever the terms say.
    """
    key = f"vto_{'pub_' if publishable else ''}{mode}_{secrets.token_urlsafe(32)}"
    scopes = ["tryons"] if publishable else None if terms.scopes is None else sorted(terms.scopes)
    row = ApiKey(
        id=uuid.uuid4(),
        account_id=account_id,
        mode=mode,
        digest=digester.digest(key),
        prefix=key[:SHOWN_PREFIX],
        last_four=key[-4:],
        created_at=datetime.now(UTC),
        name=terms.name,
        scopes=scopes,
        expires_at=terms.expires_at,
    )
    if publishable:
        row.publishable_key, row.origins, row.daily_cap = key, list(publishable.origins), publishable.daily_cap
    session.add(row)
    session.flush()
    return row, key


def find_owner(session: Session, digester: KeyDigester, *, key: str) -> KeyOwner | None:
    """The owner of a key in use; ``None`` for a key that is malformed, unknown, revoked or expired."""
    if not looks_like_key(key):
        return None
    accepted = digester.accepted(key)
    row = session.execute(
        select(ApiKey, Account)
        .join(Account, Account.id == ApiKey.account_id)
        .where(ApiKey.digest.in_(accepted), in_use(datetime.now(UTC)))
    ).one_or_none()
    if row is None or not any(hmac.compare_digest(row.ApiKey.digest, each) for each in accepted):
        return None
    new_digest = None if digester.is_current(row.ApiKey.digest) else digester.digest(key)
    return KeyOwner(row.ApiKey, row.Account, new_digest)


def count_start(session: Session, *, key_id: uuid.UUID, now: datetime) -> bool:
    """Count a try-on that a publishable key starts, in the transaction that accepts it; says whether its cap allows it.

    It stays counted whatever becomes of it: a photo that fails costs as much to look at as one that does not.
    """
    today = now.astimezone(UTC).date()
    counted = case((ApiKey.started_on == today, func.coalesce(ApiKey.started, 0)), else_=0)
    take = update(ApiKey).where(ApiKey.id == key_id, counted < ApiKey.daily_cap)
    return rows_changed(session, take.values(started=counted + 1, started_on=today)) > 0


def note_use(session: Session, *, key_id: uuid.UUID, now: datetime) -> None:
    """Remember that the key was used."""
    session.execute(update(ApiKey).where(ApiKey.id == key_id).values(last_used_at=now))


def renew_digest(session: Session, *, key_id: uuid.UUID, digest: str) -> None:
    """Keep the key under the current pepper from now on."""
    session.execute(update(ApiKey).where(ApiKey.id == key_id).values(digest=digest))


def list_keys(session: Session, *, account_id: uuid.UUID) -> Sequence[ApiKey]:
    """The account's keys, revoked and expired ones too, newest first."""
    return session.scalars(
        select(ApiKey).where(ApiKey.account_id == account_id).order_by(ApiKey.created_at.desc(), ApiKey.id)
    ).all()


def create_own_key(
    session: Session,
    digester: KeyDigester,
    *,
    account_id: uuid.UUID,
    mode: Mode,
    terms: KeyTerms = EVERYTHING,
    publishable: PublishableTerms | None = None,
) -> tuple[ApiKey, str]:
    """`create_key` for an owner, who may not have any number of them.

    Raises:
        TooManyKeysError: There are `MOST_IN_USE` already.
    """
    _make_room(session, account_id)
    return create_key(session, digester, account_id=account_id, mode=mode, terms=terms, publishable=publishable)


def _make_room(session: Session, account_id: uuid.UUID) -> None:
    # Other transactions that make a key for the account wait here, so that the count is still right below.
    session.scalar(select(Account.id).where(Account.id == account_id).with_for_update())
    count = select(func.count()).where(ApiKey.account_id == account_id, in_use(datetime.now(UTC)))
    if (session.scalar(count) or 0) >= MOST_IN_USE:
        raise TooManyKeysError


def find_key(session: Session, *, account_id: uuid.UUID, key_id: uuid.UUID) -> ApiKey | None:
    """A key of this account, in use or not."""
    return session.scalar(_key(key_id, account_id))


def change_key(
    session: Session,
    *,
    key_id: uuid.UUID,
    account_id: uuid.UUID,
    name: str,
    publishable: PublishableTerms | None = None,
) -> ApiKey:
    """Give a key of this account another name, and a publishable one other bounds.

    Raises:
        ValueError: There is no such key in use.
    """
    key = _key_in_use(session, key_id, account_id)
    key.name = name
    if publishable and key.publishable_key is not None:
        key.origins, key.daily_cap = list(publishable.origins), publishable.daily_cap
    return key


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
    session: Session,
    digester: KeyDigester,
    *,
    key_id: uuid.UUID,
    account_id: uuid.UUID | None = None,
    overlap: timedelta = timedelta(0),
) -> tuple[ApiKey, str]:
    """Make another key like this one, which works for as long as ``overlap`` and not at all without one.

    Both happen or neither. The successor has the name, scopes and bounds of the old key, and if that was to expire, it
    lives for as long from now on. ``account_id`` as in `revoke_key`.

    Raises:
        ValueError: There is no such key in use, or it was replaced already.
        TooManyKeysError: An owner asks for an overlap, and has `MOST_IN_USE` keys in use already.
    """
    if overlap and account_id is not None:
        _make_room(session, account_id)
    else:  # before the key, as everybody does; the successor's foreign key would ask for it afterwards
        owner = Account.id.in_(select(ApiKey.account_id).where(ApiKey.id == key_id))
        session.scalar(select(Account.id).where(owner).with_for_update(key_share=True))
    old, now = _key_in_use(session, key_id, account_id), datetime.now(UTC)
    if old.replaced_at is not None:
        raise ValueError(f"key {key_id} was replaced already")
    lifetime = old.expires_at - old.created_at if old.expires_at else None
    old.replaced_at = now
    if overlap:
        old.expires_at = min(now + overlap, old.expires_at or now + overlap)
    else:
        old.revoked_at = now
    scopes: Any = old.scopes
    bounds = PublishableTerms(old.origins or (), old.daily_cap or DEFAULT_DAILY_CAP) if old.publishable_key else None
    return create_key(
        session,
        digester,
        account_id=old.account_id,
        mode=TEST if old.mode == TEST else LIVE,
        terms=KeyTerms(old.name, scopes, now + lifetime if lifetime else None),
        publishable=bounds,
    )


def _key_in_use(session: Session, key_id: uuid.UUID, account_id: uuid.UUID | None) -> ApiKey:
    """Locked until the transaction ends; raises ValueError."""
    key = session.scalar(_key(key_id, account_id).where(in_use(datetime.now(UTC))).with_for_update())
    if key is None:
        raise ValueError(f"there is no key {key_id} in use")
    return key


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
    used = in_use(datetime.now(UTC))
    live = session.scalar(select(func.count()).select_from(ApiKey).where(used)) or 0
    if not digester.rotating:
        return PepperCount(live, ())
    moved = ApiKey.digest.startswith(digester.pepper_ids[0] + MARK, autoescape=True)
    used_first = (ApiKey.last_used_at.is_not(None), ApiKey.last_used_at, ApiKey.created_at, ApiKey.id)
    waiting = session.scalars(select(ApiKey).where(used, ~moved).order_by(*used_first)).all()
    return PepperCount(live - len(waiting), waiting)


def revoke_waiting(session: Session, digester: KeyDigester) -> int:
    """Revoke every key that is not under the current pepper; returns how many."""
    waiting = count_by_pepper(session, digester).waiting
    for key in waiting:
        key.revoked_at = datetime.now(UTC)
    return len(waiting)
