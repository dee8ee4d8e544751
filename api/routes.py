"""What each route asks of a request before its body is read, said beside the route, and one look-up for all of it.

A request is looked up once, by the outermost middleware; those further in read its `Call`. FastAPI's own router is
asked last: most refusals come before it, and are counted and traced under a route's name too.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar, cast

from fastapi import Depends, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, compile_path
from starlette.types import Scope

from domain.access.keys import KeyOwner, KeyScope
from domain.authentication.sessions import SignedIn
from domain.errors import TryOnError

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
SAFE = ("GET", "HEAD", "OPTIONS")
"""They change nothing, and no route of ours reads a body with them."""

UNMATCHED = "(none)"
"""Stands for every address that leads nowhere; there is no end of those."""

PAGES = "/dashboard"
"""Where the pages for people are. What is under it is counted under one name, and refused with a page."""

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def is_page(scope: Scope) -> bool:
    """Whether a person asks, who is answered with a page."""
    return bool(scope["path"] == PAGES or scope["path"].startswith(f"{PAGES}/"))


@dataclass(frozen=True)
class RoutePolicy:
    """What a route asks of a request, besides its method; stands as a decorator below the router's own.

    Attributes:
        scope: What a key has to have to call it; every route under ``/api/`` names one.
        publishable: Whether web pages may call it with a publishable key, which finds there what it started alone.
        rate: The request rate that a call with a secret key counts under.
        pictures: How many pictures a body may bring; the largest body follows from that.
        body_bytes: The largest body of a route without pictures; None is what all others have.
        refused: Makes the answers of its refusals, where their shape is another than that of the API.
        public: Whether a page is for people who are not signed in, too. Every other page is closed to them.
    """

    scope: KeyScope | None = None
    publishable: bool = False
    rate: Literal["requests", "management"] = "management"
    pictures: int = 0
    body_bytes: int | None = None
    public: bool = False
    refused: Callable[[TryOnError], Response] | None = None

    def __call__(self, endpoint: Endpoint) -> Endpoint:
        """Note it at a route's function."""
        endpoint.route_policy = self  # type: ignore[attr-defined]  # a function takes any attribute
        return endpoint


ORDINARY = RoutePolicy()


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

    @property
    def allow(self) -> str:
        """The methods that it takes, as the header ``Allow`` has them."""
        return ", ".join(each for each in METHODS if each in self.policies)

    def policy(self, method: str) -> RoutePolicy:
        """Of a request with this method."""
        return self.policies.get(method, ORDINARY)


class RouteTable:
    """Every route, found by its path: an address of its own goes before patterns that fit it too."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._own: dict[str, MatchedRoute] = {}
        self._patterns: list[tuple[re.Pattern[str], MatchedRoute]] = []
        policies: dict[str, dict[str, RoutePolicy]] = {}
        for path, route in each_route(routes):
            known = getattr(route.endpoint, "route_policy", ORDINARY)
            policies.setdefault(path, {}).update(dict.fromkeys(route.methods or (), known))
        for path, of_path in policies.items():
            matched = MatchedRoute(_label_of(path, path), of_path)
            if "{" in path:
                self._patterns.append((compile_path(path)[0], matched))
            else:
                self._own[path] = matched

    def find(self, path: str) -> MatchedRoute:
        """The route of this path; one that takes nothing where there is none."""
        if path in self._own:
            return self._own[path]
        fitting = (matched for pattern, matched in self._patterns if pattern.match(path))
        return next(fitting, MatchedRoute(_label_of(path, UNMATCHED), {}))


def _label_of(path: str, otherwise: str) -> str:
    return f"{PAGES}/…" if path.startswith(f"{PAGES}/") else otherwise


def each_route(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[tuple[str, Route]]:
    """Whole paths and routes, those of routers within routers too."""
    for route in routes:
        if isinstance(route, Route):
            yield prefix + route.path, route
        elif (within := getattr(route, "original_router", None)) is not None:
            # FastAPI puts a router within a router in a wrapper of its own, which has no public name.
            context = route.include_context  # type: ignore[attr-defined]  # likewise unknown to Starlette's types
            yield from each_route(within.routes, prefix + context.prefix)


@dataclass
class Call:
    """What is known of a request: the outermost middleware leaves it in the scope, those further in add to it.

    Attributes:
        route: Where it leads.
        answer_headers: What every answer to it carries, whatever layer makes it.
        owner: Whose key it brought; nobody's outside of the API.
        visitor: Who is signed in; nobody's outside of pages.
        form_token: What a form on this page carries to show that it came from here.
    """

    route: MatchedRoute
    answer_headers: dict[str, str] = field(default_factory=dict)
    owner: KeyOwner | None = None
    visitor: SignedIn | None = None
    form_token: str = ""

    @property
    def account_id(self) -> uuid.UUID | None:
        """Whose request it is, by key or by session."""
        known = self.owner or self.visitor
        return known.account_id if known else None


CALL = "call"
"""Where in the ASGI scope's state the `Call` lies."""


def call_of(scope: Scope) -> Call:
    """What is known of a request so far."""
    return cast("Call", scope["state"][CALL])


async def _owner(request: Request) -> KeyOwner:
    return cast("KeyOwner", call_of(request.scope).owner)


async def _account_id(request: Request) -> uuid.UUID:
    return cast("uuid.UUID", call_of(request.scope).account_id)


Owner = Annotated[KeyOwner, Depends(_owner)]
"""A route's argument: whose key a call of the API brought."""

AccountId = Annotated[uuid.UUID, Depends(_account_id)]
"""A route's argument: whose request it is, by key or by session; not for pages that are public."""
