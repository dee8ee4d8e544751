"""Every address that the dashboard has, for tests that visit them all."""

from __future__ import annotations

from fastapi.routing import APIRoute

from api.dashboard.app import ROUTERS
from api.routes import each_route


def all_routes() -> list[tuple[str, str]]:
    """Method and path template of each, below ``/dashboard``."""
    routes = [route for router in ROUTERS for route in each_route(router.routes) if isinstance(route, APIRoute)]
    return [(method, route.path) for route in routes for method in sorted(route.methods)]
