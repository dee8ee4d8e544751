"""What pages for strangers have done. Their answers tell nothing of who has an account: by words, or by time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from fastapi import Request

from api.dashboard.credentials import address_of
from api.dashboard.mailing import letterhead, write_mail
from api.parts import ApiParts
from domain.accounts import AddressTakenError
from domain.authentication import logins, throttles
from domain.authentication.throttles import MAIL, MAIL_PER_ADDRESS, MAIL_PER_NETWORK
from domain.tables import Account, Mail

SHORTEST_SECONDS = 0.4
"""An answer about an address takes at least this long: more than what is done for any of them, so that none stands
out."""


class TooMuchMail(Exception):
    """This network has had a lot of mail sent in the last hour."""

    sentence = "Too much mail was requested from your network in the last hour. Try again later."


@asynccontextmanager
async def in_equal_time() -> AsyncIterator[None]:
    """Whatever is done in the block, the answer does not come sooner than `SHORTEST_SECONDS`."""
    until = time.monotonic() + SHORTEST_SECONDS
    try:
        yield
    finally:
        await asyncio.sleep(max(0.0, until - time.monotonic()))


async def sign_up(parts: ApiParts, request: Request, *, email: str, password: str) -> list[Mail]:
    """Open an account, or write to the one there is. What comes back is still to be handed over.

    Raises:
        TooMuchMail: From this network; nothing was done.
        ValueError: There is no trial, so nobody can sign up.
    """
    if not await _may_write(parts, request, email):
        return []
    password_hash = await parts.passwords.hash(password)

    async def open_account() -> list[Mail]:
        _, written = await write_mail(
            parts,
            logins.sign_up,
            parts.plans,
            letterhead(parts.settings),
            email=email,
            password_hash=password_hash,
            now=datetime.now(UTC),
        )
        return written

    try:
        return await open_account()
    except AddressTakenError:  # somebody else was first by a moment
        return await open_account()


async def send_again(parts: ApiParts, request: Request, *, account: Account) -> list[Mail]:
    """Write another link for an address that is not confirmed yet.

    Raises:
        TooMuchMail: From this network; nothing was done.
    """
    if not await _may_write(parts, request, account.email):
        return []
    _, written = await write_mail(
        parts,
        logins.mail_verification,
        parts.plans,
        letterhead(parts.settings),
        account=account,
        now=datetime.now(UTC),
    )
    return written


async def ask_for_reset(parts: ApiParts, request: Request, *, email: str) -> list[Mail]:
    """Write a link for a new password, if there is an account.

    Raises:
        TooMuchMail: From this network; nothing was done.
    """
    if not await _may_write(parts, request, email):
        return []
    _, written = await write_mail(
        parts, logins.ask_for_reset, letterhead(parts.settings), email=email, now=datetime.now(UTC)
    )
    return written


async def _may_write(parts: ApiParts, request: Request, email: str) -> bool:
    """Whether a message may go to this address; one too many is passed over in silence, as for one without account."""
    now = datetime.now(UTC)
    network = throttles.network_subject(parts.digester, MAIL, MAIL_PER_NETWORK, address=address_of(request))
    address = throttles.address_subject(parts.digester, MAIL, MAIL_PER_ADDRESS, email=email)
    wait = await parts.database.write_relaxed(throttles.seconds_to_wait, (network,), now=now)
    if wait:
        raise TooMuchMail
    wait = await parts.database.write_relaxed(throttles.seconds_to_wait, (address,), now=now)
    return not wait
