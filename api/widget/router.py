"""The widget: a script for pages of shops, and the dialog that it opens in a frame of the service's own origin.

The dialog is a page of the service, so that no script of a shop can read a visitor's photo. Browsers frame it on pages
of the publishable key's origins and nowhere else. `docs/widget.md` tells shops about it.
"""

from __future__ import annotations

import math
import tomllib
from functools import cache, partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from api.dashboard.rendering import kept_address
from api.parts import Parts
from domain.access import keys

router = APIRouter(prefix="/widget", include_in_schema=False)

HERE = Path(__file__).parent
STATIC = HERE / "static"
STATIC_PATH = "/widget/static"

LANGUAGES: dict[str, dict[str, Any]] = tomllib.loads((HERE / "texts.toml").read_text())
"""What the dialog says, by language; English for all others."""

SCRIPT_SECONDS = 3600
"""For how long browsers keep the script under its one address: a new release reaches every shop within the hour."""

SAID_BY_SCRIPTS = ("photo_chosen", "photo_first", "consent_first", "camera_refused", "started", "done", "errors")

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors {}"
)
HEADERS = {"Referrer-Policy": "no-referrer", "Permissions-Policy": "camera=(self), microphone=(), geolocation=()"}

NO_KEY = "The key of this try-on button is not a publishable key in use."


@router.get("/try-on.js")
async def script() -> Response:
    """The element's script, for pages of any origin."""
    return Response(
        _script(),
        media_type="text/javascript",
        headers={
            "Cache-Control": f"public, max-age={SCRIPT_SECONDS}",
            # A module of another origin is fetched as a page's own call would be.
            "Access-Control-Allow-Origin": "*",
            "Cross-Origin-Resource-Policy": "cross-origin",
        },
    )


@router.get("/dialog")
async def dialog(parts: Parts, key: str = "", lang: str = "") -> HTMLResponse:
    """The dialog of a publishable key, in the language that is asked for."""
    owner = await parts.database.read(keys.find_owner, parts.digester, key=key)
    if owner is None or not owner.publishable or owner.blocked:
        return HTMLResponse(f"<!doctype html><title>{NO_KEY}</title><p>{NO_KEY}", 404, headers=_headers("*"))
    language = lang if lang in LANGUAGES else "en"
    text, settings = LANGUAGES[language], parts.settings
    kept_seconds = owner.account.result_ttl_seconds
    html = (
        _environment()
        .get_template("dialog.html")
        .render(
            language=language,
            text=text,
            consent=text["consent"].format(
                service=settings.dashboard.name,
                kept=kept(text, settings.jobs.result_ttl_seconds if kept_seconds is None else kept_seconds),
            ),
            script_texts={name: text[name] for name in SAID_BY_SCRIPTS},
        )
    )
    return HTMLResponse(html, headers=_headers(" ".join(owner.key.origins or ())))


def kept(text: dict[str, Any], seconds: int) -> str:
    """For how long a result is kept, in the words of a language; 0 s are until it was seen."""
    if seconds == 0:
        return str(text["kept_until_seen"])
    lengths = {"day": 86400, "hour": 3600, "minute": 60}
    unit = next((unit for unit, length in lengths.items() if seconds % length == 0), "minute")
    count = math.ceil(seconds / lengths[unit])
    one, several = text[unit]
    return str(text["kept_for"].format(duration=one if count == 1 else several.format(n=count)))


def _headers(ancestors: str) -> dict[str, str]:
    return HEADERS | {"Content-Security-Policy": CONTENT_POLICY.format(ancestors)}


@cache
def _script() -> bytes:
    return (STATIC / "try-on.js").read_bytes()


@cache
def _environment() -> Environment:
    made = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined)
    made.globals.update(static=partial(kept_address, STATIC, STATIC_PATH))
    return made
