"""Who looks at a page, and the two cookies that tell.

One is for a session, the other ties a form to the browser while nobody is signed in.
"""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import Scope

from api.routes import call_of
from domain.authentication.sessions import SignedIn
from runtime.settings import DashboardSettings

SESSION, FORM = "tryon-session", "tryon-form"

SECURE_PREFIX = "__Host-"
"""Browsers take a cookie of such a name only over https, for the whole host, and from no neighbour's host."""


def cookie_name(name: str, settings: DashboardSettings) -> str:
    """What the browser calls it."""
    return SECURE_PREFIX + name if settings.secure_cookies else name


def read_cookie(scope: Scope, name: str, settings: DashboardSettings) -> str | None:
    """The value that the browser sent, if any; whatever else of this host came along with it."""
    sent = cookie_parser("; ".join(Headers(scope=scope).getlist("cookie")))
    return sent.get(cookie_name(name, settings)) or None


def set_cookie(response: Response, name: str, value: str, settings: DashboardSettings) -> None:
    """Have the browser keep it until it is closed, or as long as a session may last.

    What may be signed in for how long is decided on the server.
    """
    response.set_cookie(
        cookie_name(name, settings),
        value,
        max_age=settings.session_days * 24 * 3600 if name == SESSION else None,
        path="/",
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )


def clear_cookie(response: Response, name: str, settings: DashboardSettings) -> None:
    """Have the browser forget it."""
    response.delete_cookie(
        cookie_name(name, settings), path="/", secure=settings.secure_cookies, httponly=True, samesite="lax"
    )


def address_of(request: Request) -> str:
    """Where the request comes from."""
    return request.client.host if request.client else ""


def possible_visitor(request: Request) -> SignedIn | None:
    """The owner who is signed in, if any, on pages that are for everybody."""
    return call_of(request.scope).visitor


def form_token_of(request: Request) -> str:
    """What a form on this page carries to show that it came from here."""
    return call_of(request.scope).form_token


async def _possible_visitor(request: Request) -> SignedIn | None:
    return possible_visitor(request)


async def _visitor(request: Request) -> SignedIn:
    return cast("SignedIn", possible_visitor(request))


Visitor = Annotated[SignedIn, Depends(_visitor)]
"""A route's argument: the owner of an account, in one browser; not for pages that are public."""

PossibleVisitor = Annotated[SignedIn | None, Depends(_possible_visitor)]
"""The same for pages that are public: nobody may be signed in."""
