"""What of a request may be counted by: its method, and its route's template, such as ``/api/v1/tryon/{jobId}``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.routing import BaseRoute, Mount, Route, compile_path

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

OTHER_METHOD = "(other)"
"""A method is whatever a client sends, so only those that mean something are told apart."""

UNMATCHED = "(none)"
"""Stands for every address that leads nowhere; there is no end of those."""


def method_name(method: str) -> str:
    """The method, or what stands for one that means nothing."""
    return method if method in METHODS else OTHER_METHOD


class RouteNames:
    """Knows routes, the first that fits a path first.

    Requests that are refused before they are routed have a name too, so the router is not asked.
    """

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._own: set[str] = set()
        self._patterns: list[tuple[re.Pattern[str], str]] = []
        self._mounts: list[str] = []
        for route in routes:
            if isinstance(route, Route):
                self._add(route.path)
            elif isinstance(route, Mount):
                self._mounts.append(route.path)

    def name_of(self, path: str) -> str:
        """The template that this path fits."""
        if path in self._own:
            return path
        for pattern, template in self._patterns:
            if pattern.match(path):
                return template
        return next((f"{mount}/…" for mount in self._mounts if path.startswith(f"{mount}/")), UNMATCHED)

    def _add(self, path: str) -> None:
        if "{" in path:
            self._patterns.append((compile_path(path)[0], path))
        else:
            self._own.add(path)
