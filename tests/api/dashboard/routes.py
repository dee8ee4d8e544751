"""Every address that the dashboard has, for tests that visit them all."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.routing import APIRoute

from api.dashboard.app import ROUTERS


def all_routes() -> list[tuple[str, str]]:
    """Method and path template of each, below ``/dashboard``; routers within routers are walked too."""
    return [found for router in ROUTERS for found in _routes_of(router)]


def _routes_of(router: APIRouter) -> Iterator[tuple[str, str]]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield from ((method, route.path) for method in sorted(route.methods))
        else:
            # FastAPI puts a router within a router in a wrapper of its own, which has no public name.
            within = getattr(route, "original_router", None)
            assert isinstance(within, APIRouter), f"what is {route!r}?"
            yield from _routes_of(within)
