"""Every address that the dashboard has, for tests that visit them all."""

from __future__ import annotations

from fastapi.routing import APIRoute

from api.dashboard.pages import router
from api.routes import PAGES, each_route


def all_routes() -> list[tuple[str, str]]:
    """Method and path template of each, below ``/dashboard``."""
    routes = [(path, route) for path, route in each_route(router.routes) if isinstance(route, APIRoute)]
    return [(method, path.removeprefix(PAGES)) for path, route in routes for method in sorted(route.methods)]
