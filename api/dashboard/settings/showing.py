"""The page of settings, as it is or with what was wrong about a form.

Browsers are named by a fair guess from what they call themselves, for people who look at their own sessions.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from fastapi import Request
from fastapi.responses import HTMLResponse

from api.administration import watermarks
from api.dashboard.rendering import page
from api.dashboard.visitor import visitor_of
from api.parts import ApiParts, parts_of
from domain import accounts
from domain.accounts import SHORTEST_RESULT_TTL
from domain.authentication import sessions
from domain.tables import LoginSession, Watermark
from domain.watermarks import find_watermark
from imaging.errors import ImageError
from imaging.limits import STORED_LIMITS
from imaging.opening import open_picture
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError

log = structlog.get_logger(__name__)

BROWSERS = (
    ("Edge", r"\bEdg(?:A|iOS)?/"),
    ("Opera", r"\bOPR/"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\b(?:Firefox|FxiOS)/"),
    ("Chrome", r"\b(?:Chrome|CriOS|HeadlessChrome)/"),
    ("Safari", r"\bVersion/\S+ .*\bSafari/"),
)
"""Each names itself after those that it is built on, so the first that fits is it."""

SYSTEMS = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("macOS", r"\bMac OS X\b"),
    ("Linux", r"\bLinux\b"),
)


def describe_browser(user_agent: str) -> str:
    """Such as ``Firefox on Windows``; ``Unknown browser`` where nothing can be told."""
    browser, system = _first(BROWSERS, user_agent), _first(SYSTEMS, user_agent)
    if browser is None:
        return f"Unknown browser on {system}" if system else "Unknown browser"
    return f"{browser} on {system}" if system else browser


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str | None:
    return next((name for name, pattern in names if re.search(pattern, user_agent)), None)


USUAL_TTLS = (60, 300, 900, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 7 * 24 * 3600)
"""Seconds that are offered, as far as the service's own value allows them."""

MOST_SESSIONS = 20
"""Browsers that are listed, the last used first."""

LOGO_SECONDS = 1.0
"""Longest wait for the logo's size, without which the page is as good."""


@dataclass(frozen=True)
class SessionRow:
    """A browser that is signed in.

    Attributes:
        here: Whether it is the one that asks.
    """

    row: LoginSession
    browser: str
    here: bool


async def show_settings(
    request: Request,
    status: int = 200,
    *,
    errors: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """The page.

    Args:
        request: Of somebody who is signed in.
        status: Of the answer.
        errors: Sentences by the name of the field that they are about.
        values: What was typed into fields, by name; no passwords.
    """
    parts = parts_of(request)
    visitor, settings = visitor_of(request), parts.settings
    idle = timedelta(hours=settings.dashboard.session_idle_hours)
    longest = timedelta(days=settings.dashboard.session_days)
    account = await parts.database.read(accounts.find_account, account_id=visitor.account_id)
    watermark = await parts.database.read(find_watermark, account_id=visitor.account_id)
    found = await parts.database.read(
        sessions.list_sessions, account_id=visitor.account_id, now=datetime.now(UTC), idle=idle, longest=longest
    )
    ttl = account.result_ttl_seconds if account else None
    rows = [SessionRow(row, describe_browser(row.user_agent), row.id == visitor.session_id) for row in found]
    rows.sort(key=lambda each: not each.here)
    return page(
        request,
        "settings/settings.html",
        status,
        errors=errors or {},
        values=values or {},
        watermark=watermark,
        logo_size=settings.images.logo_limits().size,
        sharp_up_to=await _sharp_up_to(parts, watermark),
        ttl=ttl,
        ttl_choices=ttl_choices(settings.jobs.result_ttl_seconds, ttl),
        longest_ttl=settings.jobs.result_ttl_seconds,
        sessions=rows[:MOST_SESSIONS],
        session_count=len(rows),
    )


def ttl_choices(longest: int, chosen: int | None) -> list[int]:
    """Seconds to choose from, beside what the service takes of itself; what is chosen already is among them."""
    usual = [seconds for seconds in USUAL_TTLS if SHORTEST_RESULT_TTL <= seconds < longest]
    kept = [] if chosen is None else [min(chosen, longest)]
    return sorted({*usual, *kept})


async def _sharp_up_to(parts: ApiParts, watermark: Watermark | None) -> int | None:
    """Width in pixels up to which results carry the logo sharp; nothing where that cannot be told just now."""
    if watermark is None:
        return None
    try:
        logo = await asyncio.wait_for(watermarks.read_logo(parts.store, watermark), LOGO_SECONDS)
        width = open_picture(logo, STORED_LIMITS).size[0]
    except (TimeoutError, ObjectMissingError, ObjectStoreUnavailableError, ImageError) as error:
        log.warning("the size of a logo could not be read", reason=type(error).__name__)
        return None
    return watermarks.widest_sharp_picture(width, parts.settings.images)
