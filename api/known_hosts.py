"""Which names the service answers to.

A page elsewhere may have its own name resolved to this machine and then read answers as if they were its own; and
whatever is made of ``Host`` leads where the client says. Neither works where only known names are answered.
"""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from api.early_answer import CLOSE, Incoming, answer_early
from api.edge import plain_address
from api.errors import error_response
from domain.errors import TryOnError
from runtime.settings import Settings

_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
"""What health checks inside a container ask for."""


class KnownHosts:
    """ASGI middleware: each request names one host, a known one."""

    def __init__(self, app: ASGIApp, *, names: frozenset[str]) -> None:
        """Wrap ``app``; ``names`` as `hosts_of` gives them."""
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_meant(scope):
            await self._app(scope, receive, send)
        else:
            await answer_early(error_response(TryOnError("host_refused"), CLOSE), scope, Incoming(receive), send)

    def _is_meant(self, scope: Scope) -> bool:
        sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if not sent:
            return bool(scope.get("http_version") == "1.0")  # which has no such header; some health checks speak it
        # The address that the connection came to is no stranger's name.
        own = plain_host(scope["server"][0]) if scope.get("server") else ""
        named = _HOST.fullmatch(sent[0])
        return len(sent) == 1 and named is not None and plain_host(named[1]) in self._names | {own}


def hosts_of(settings: Settings) -> frozenset[str]:
    """The names that a service with these settings has."""
    public = settings.dashboard.public_url
    named = [settings.api.host, *settings.api.hosts.split(","), *([public.host or ""] if public else [])]
    return LOOPBACK_NAMES | {plain_host(name) for name in named if name}


def plain_host(name: str) -> str:
    """In one spelling: a name in lower case without a dot at its end, an address as `ipaddress` writes it."""
    name = name.strip("[]").lower().removesuffix(".")
    try:
        return str(plain_address(name))
    except ValueError:
        return name
