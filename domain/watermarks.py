"""An account's watermark: its logo, and whether results carry it.

There is a row once a logo has been fetched, so a watermark can never be on without one. The logo itself lies in the
object store under `domain.object_keys.logo_key`; a row is written after its logo, and an old logo is deleted after
the row that named it, so whoever reads a row and then its logo meets the old pair or the new one.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from domain.tables import Account, Watermark

NO_LOGO_YET = "the watermark cannot be switched on until a logo was fetched"


def find_watermark(session: Session, *, account_id: uuid.UUID, lock: bool = False) -> Watermark | None:
    """The account's setting, held, if so asked, until the transaction ends; ``None`` if there is no logo."""
    return session.get(Watermark, account_id, populate_existing=True, with_for_update=lock)


def save_watermark(
    session: Session, *, account_id: uuid.UUID, logo_url: str, logo: dict[str, Any], enabled: bool, now: datetime
) -> Watermark:
    """Set a logo that was fetched and stored, in place of whatever was set before.

    ``logo`` refers to the kept copy in the object store; results carry it from now on if it is ``enabled``.

    Raises:
        ValueError: There is no such account, or it was erased.
    """
    account = session.get(Account, account_id)
    if account is None or account.erased_at is not None:
        raise ValueError(f"there is no account {account_id}")
    return session.merge(
        Watermark(account_id=account_id, logo_url=logo_url, logo=logo, enabled=enabled, fetched_at=now)
    )


def switch_watermark(session: Session, *, account_id: uuid.UUID, enabled: bool) -> Watermark:
    """Put the logo on results from now on, or leave it off and keep it.

    Raises:
        ValueError: It is to be switched on and there is no logo, or there is nothing to switch off.
    """
    watermark = find_watermark(session, account_id=account_id, lock=True)
    if watermark is None:
        raise ValueError(NO_LOGO_YET if enabled else "there is no watermark to switch off")
    watermark.enabled = enabled
    return watermark


def remove_watermark(session: Session, *, account_id: uuid.UUID) -> dict[str, Any] | None:
    """Forget the setting; returns the reference to its logo, for the caller to delete after the transaction.

    Logos that lie beside it are not the caller's: one may have been fetched this moment, to be set next.
    """
    watermark = find_watermark(session, account_id=account_id, lock=True)
    if watermark is None:
        return None
    session.delete(watermark)
    return watermark.logo
