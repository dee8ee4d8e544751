"""Passwords: what may be one, and how it is kept.

Argon2id with the parameters of OWASP's password storage sheet (19 MiB, two passes, one lane), about 20 ms on one core
of a server. The stronger defaults of the library take 64 MiB and four cores for 170 ms, which would be felt in every
poll and page where everything runs on one small machine; what stands against guessing here is the count of failures
(`domain.authentication.throttles`). The parameters are part of each hash, so they can be raised later: a hash that was
made with others is replaced when its owner signs in.
"""

from __future__ import annotations

import asyncio
from functools import cache
from importlib.resources import files

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MEMORY_KIB, PASSES, LANES = 19 * 1024, 2, 1

AT_ONCE = 2  # hashes that one process works on at the same time; the others wait for their turn

SHORTEST, LONGEST = 10, 200  # characters of a password


@cache
def usual_passwords() -> frozenset[str]:
    """The ones that are tried first by everybody who guesses, in lower case."""
    text = files("domain.authentication").joinpath("usual_passwords.txt").read_text()
    return frozenset(line for line in text.split("\n") if line and not line.startswith("#"))


def check_password(password: str, *, email: str) -> None:
    """Refuse a password that is guessed too easily.

    Raises:
        ValueError: With a sentence for the person who chose it.
    """
    if len(password) < SHORTEST:
        raise ValueError(f"Use at least {SHORTEST} characters. A few words in a row are a good password.")
    if len(password) > LONGEST:
        raise ValueError(f"Use at most {LONGEST} characters.")
    lowered = password.strip().lower()
    if lowered in {email.lower(), email.lower().partition("@")[0]}:
        raise ValueError("Do not use your address as the password.")
    if lowered in usual_passwords() or len(set(lowered)) < 3:
        raise ValueError("This password is too easy to guess. Choose another one.")


class Passwords:
    """Makes and compares hashes, a few at a time, in threads."""

    def __init__(
        self, *, at_once: int = AT_ONCE, memory_kib: int = MEMORY_KIB, passes: int = PASSES, lanes: int = LANES
    ) -> None:
        self._slots = asyncio.Semaphore(at_once)
        self._hasher = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=lanes)
        # Of a password that nobody has, to be compared with where there is no hash: that takes as long as with one.
        self._nobodys = self._hasher.hash("nobody has this password")

    async def hash(self, password: str) -> str:
        """What is kept of a password."""
        async with self._slots:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def fits(self, password: str, kept: str | None) -> bool:
        """Whether it is the password that ``kept`` was made from; takes as long where nothing is kept."""
        async with self._slots:
            # What is longer than any password is not worth hashing.
            fits = await asyncio.to_thread(self._matches, password[: LONGEST + 1], kept or self._nobodys)
        return fits and kept is not None

    def is_current(self, kept: str) -> bool:
        """Whether the hash was made with the parameters of today."""
        return not self._hasher.check_needs_rehash(kept)

    def _matches(self, password: str, kept: str) -> bool:
        try:
            return self._hasher.verify(kept, password)
        except (VerificationError, InvalidHashError):
            return False
