"""Passwords as pages ask for them, with the count of failures before them; and what follows when one fits."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from api.dashboard.visitor import SESSION, address_of, read_cookie, set_cookie
from api.parts import ApiParts
from domain.authentication import logins, sessions, throttles
from domain.authentication.email_addresses import spelling
from domain.authentication.logins import Credentials
from domain.authentication.throttles import SignInTries


class PasswordRefused(Exception):
    """A password that does not fit, or that was not even looked at.

    Attributes:
        sentence: For the visitor; the same whether the address is unknown or the password wrong.
        wait_seconds: Until the next try is looked at, where there were too many.
    """

    def __init__(self, sentence: str, wait_seconds: int = 0) -> None:
        self.sentence = sentence
        self.wait_seconds = wait_seconds
        super().__init__(sentence)

    @property
    def status(self) -> int:
        """Of the answer."""
        return 429 if self.wait_seconds else 422

    @property
    def of_password(self) -> str:
        """What to say where only the password was asked for."""
        return self.sentence if self.wait_seconds else "The password is wrong."


async def prove(parts: ApiParts, request: Request, *, email: str, password: str) -> Credentials:
    """What the password fits to. Every try counts until it succeeds; `domain.authentication.throttles` says where.

    Raises:
        PasswordRefused: It does not fit, or there were too many tries.
    """
    email, address, now = spelling(email), address_of(request), datetime.now(UTC)
    tries = SignInTries.of(parts.digester, email=email, address=address)
    credentials = await parts.database.read(logins.find_credentials, email=email)
    seen_at = await parts.database.read(sessions.addresses_of_email, email=email)
    known = throttles.network_of(address) in map(throttles.network_of, seen_at)
    wait = await parts.database.write_relaxed(throttles.sign_in_wait, tries, known_network=known, now=now)
    if wait:
        raise PasswordRefused(f"Too many attempts. Wait {duration(wait)}, then try again.", wait)
    fits = await parts.passwords.fits(password, credentials.password_hash if credentials else None)
    if credentials is None or not fits:
        raise PasswordRefused("The address or the password is wrong.")
    await parts.database.write_relaxed(throttles.forgive, wholly=(tries.pair,), once=(tries.network, tries.everywhere))
    return credentials


async def sign_in(
    parts: ApiParts, request: Request, response: Response, credentials: Credentials, password: str
) -> bool:
    """Open a session for a password that fitted, in the place of the one that the browser had.

    Returns:
        False if the password was changed in this very moment.
    """
    kept, new_hash = credentials.password_hash, None
    if kept is not None and not parts.passwords.is_current(kept):
        new_hash = await parts.passwords.hash(password)
    old = read_cookie(request.scope, SESSION, parts.settings.dashboard)

    def open_session(session: Session) -> str | None:
        if old is not None:
            sessions.end_session_of(session, token=old)
        return logins.sign_in(
            session,
            credentials=credentials,
            address=address_of(request),
            user_agent=request.headers.get("User-Agent", ""),
            new_hash=new_hash,
            now=datetime.now(UTC),
        )

    token = await parts.database.write(open_session)
    if token is None:
        return False
    set_cookie(response, SESSION, token, parts.settings.dashboard)
    return True


def duration(seconds: int) -> str:
    """A wait in words."""
    if seconds < 90:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    return f"{-(-seconds // 60)} minutes"
