"""Secrets that have to be set."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from cli.diagnosis.findings import Case, Finding, Subject
from runtime.settings import SettingsError

PEPPER = Subject("key pepper")


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """See that API keys can be checked at all.

    Whether it is the pepper that they were made with, only a key can tell: a poll with one that answers 401.
    """
    try:
        case.settings.security.peppers()
    except SettingsError as error:
        yield PEPPER.error(
            str(error),
            "Give every process the one that keys were made with; for a new deployment make one: openssl rand -hex 32",
        )
        return
    yield PEPPER.ok("is set and long enough")
