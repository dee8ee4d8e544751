"""Mail on a page: only where the person who reads it sits at the machine that serves it.

The page holds links that let people into any account. So it is there only while no mail server is set, the API listens
on this machine alone, its public address is of this machine too, and the request came from here: straight, not through
a proxy, and under a name of this machine (a page of another site that points its own name here is refused by that).
No browser speaks HTTP/1.0, but proxies do that were told nothing.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response

from api.dashboard.rendering import page
from api.parts import Parts
from api.routes import RoutePolicy
from domain import mails
from domain.errors import TryOnError
from runtime.own_machine import is_own
from runtime.settings import Settings

OF_PROXIES = (
    *("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"),
    *("cf-connecting-ip", "true-client-ip", "x-original-forwarded-for"),
)
"""Headers that a request straight from a browser does not have."""


router = APIRouter()


@router.get("/outbox")
@RoutePolicy(public=True)
async def show_outbox(request: Request, parts: Parts) -> Response:
    """Mail that no server takes."""
    if not may_read_mail(request, parts.settings):
        raise TryOnError("route_not_found")
    return page(request, "authentication/outbox.html", written=await parts.database.read(mails.list_mail))


def may_read_mail(request: Request, settings: Settings) -> bool:
    """Whether the person who asks sits at this machine, and mail has no other way to them."""
    referer = urlsplit(request.headers.get("Referer", "")).hostname
    return (
        settings.mail.host is None
        and is_own(settings.api.host)
        and (settings.dashboard.public_url is None or is_own(settings.dashboard.public_url.host))
        and request.client is not None
        and is_own(request.client.host)
        and is_own(urlsplit(f"//{request.headers.get('Host', '')}").hostname)
        and (referer is None or is_own(referer))
        and not any(name in request.headers for name in OF_PROXIES)
        and request.scope["http_version"] != "1.0"
    )


def keeps_no_cookie(request: Request, settings: Settings) -> bool:
    """Whether the browser will most likely not keep the cookie that signs in: it came over plain http from elsewhere.

    Browsers say where a request comes from (``Sec-Fetch-Site``) over connections that they hold safe, and over no
    others.
    """
    host = urlsplit(f"//{request.headers.get('Host', '')}").hostname
    return (
        settings.dashboard.secure_cookies
        and request.scope["scheme"] == "http"
        and "Sec-Fetch-Site" not in request.headers
        and request.headers.get("X-Forwarded-Proto") != "https"
        and not is_own(host)
    )
