"""What a browser is, in words, from what it calls itself: a fair guess for people who look at their own sessions."""

from __future__ import annotations

import re

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
