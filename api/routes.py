"""What each route asks of a request before its body is read, said beside the route, and one look-up for all of it.

A request is looked up once, by the outermost middleware; whoever stands further in reads `route_of`. FastAPI's own
router is asked last: most refusals come before it, and are counted and traced under a route's name too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from starlette.routing import BaseRoute, Route, compile_path
from starlette.types import Scope

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

UNMATCHED = "(none)"
"""Stands for every address that leads nowhere; there is no end of those."""

ROUTE = "route"
"""Where in the ASGI scope's state the `MatchedRoute` lies."""


@dataclass(frozen=True)
class RoutePolicy:
    """What a route asks of a request, besides its method.

    Attributes:
        rate: The request rate that a call with a key counts under.
        pictures: How many pictures a body may bring; the largest body follows from that.
        body_bytes: The largest body of a route without pictures; None is what all others have.
        public: Whether a page is for people who are not signed in, too. Every other page is closed to them.
    """

    rate: Literal["requests", "management"] = "management"
    pictures: int = 0
    body_bytes: int | None = None
    public: bool = False


ORDINARY = RoutePolicy()

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def policy(
    *,
    rate: Literal["requests", "management"] = "management",
    pictures: int = 0,
    body_bytes: int | None = None,
    public: bool = False,
) -> Callable[[Endpoint], Endpoint]:
    """Decorator of a route's function, below the router's own: see `RoutePolicy`."""

    def decorate(endpoint: Endpoint) -> Endpoint:
        endpoint.route_policy = RoutePolicy(rate, pictures, body_bytes, public)  # type: ignore[attr-defined]
        return endpoint

    return decorate


@dataclass(frozen=True)
class MatchedRoute:
    """The route that a path leads to.

    Attributes:
        label: Its template, such as ``/api/v1/tryon/{jobId}``, for metrics and traces.
        policies: By method; what it does not take is not there.
    """

    label: str
    policies: Mapping[str, RoutePolicy]

    @property
    def public(self) -> bool:
        """Whether it is a page for everybody."""
        return any(each.public for each in self.policies.values())

    def policy(self, method: str) -> RoutePolicy:
        """Of a request with this method."""
        return self.policies.get(method, ORDINARY)


class RouteTable:
    """Every route, found by its path: an address of its own goes before patterns that fit it too.

    Args:
        routes: Of the API.
        mounted: Those of an application that is mounted below a prefix; all of them have one label.
    """

    def __init__(self, routes: Iterable[BaseRoute], mounted: Mapping[str, Iterable[BaseRoute]]) -> None:
        self._own: dict[str, MatchedRoute] = {}
        self._patterns: list[tuple[re.Pattern[str], MatchedRoute]] = []
        self._mounts = {prefix: MatchedRoute(f"{prefix}/…", {}) for prefix in mounted}
        for prefix, group in (("", routes), *mounted.items()):
            policies: dict[str, dict[str, RoutePolicy]] = {}
            for route in each_route(group):
                known = getattr(route.endpoint, "route_policy", ORDINARY)
                policies.setdefault(prefix + route.path, {}).update(dict.fromkeys(route.methods or (), known))
            for path, of_path in policies.items():
                matched = MatchedRoute(self._mounts[prefix].label if prefix else path, of_path)
                if "{" in path:
                    self._patterns.append((compile_path(path)[0], matched))
                else:
                    self._own[path] = matched

    def find(self, path: str) -> MatchedRoute:
        """The route of this path; one that takes nothing where there is none."""
        if path in self._own:
            return self._own[path]
        for pattern, matched in self._patterns:
            if pattern.match(path):
                return matched
        mounts = (mount for prefix, mount in self._mounts.items() if path.startswith(f"{prefix}/"))
        return next(mounts, MatchedRoute(UNMATCHED, {}))


def each_route(routes: Iterable[BaseRoute]) -> Iterator[Route]:
    """Routes, and those of routers within routers."""
    for route in routes:
        if isinstance(route, Route):
            yield route
        else:
            # FastAPI puts a router within a router in a wrapper of its own, which has no public name.
            within = getattr(route, "original_router", None)
            yield from each_route(within.routes if within is not None else ())


def route_of(scope: Scope) -> MatchedRoute:
    """The route of a request, further in than the look-up."""
    return cast("MatchedRoute", scope["state"][ROUTE])
