"""The docs, as pages."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from api.dashboard.docs.library import FOLDER, TEXTS, operator_texts, read_text
from api.dashboard.forms import PageRefused, read_form
from api.dashboard.rendering import page
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from domain.access import keys
from domain.errors import CATALOGUE

router = APIRouter()

PLACEHOLDER = "$VTO_API_KEY"
"""What stands in place of a key: no key can be shown twice."""


@router.get("/docs")
async def quickstart(request: Request) -> HTMLResponse:
    """How to make the first call."""
    return _page(request, "docs/quickstart.html", key=PLACEHOLDER, filled_in=False)


@router.post("/docs")
async def quickstart_with_key(request: Request) -> HTMLResponse:
    """The same with a new test key of the account in every snippet; it is shown this once, like any key.

    Raises:
        PageRefused: The account has as many keys as it may have.
    """
    await read_form(request)
    parts = parts_of(request)
    account_id = visitor_of(request).account_id
    try:
        _, key = await parts.database.write(keys.create_own_key, parts.digester, account_id=account_id, mode=keys.TEST)
    except keys.TooManyKeysError:
        sentence = f"You have {keys.MOST_IN_USE} keys in use, the most an account can have. Revoke one first."
        raise PageRefused(409, sentence) from None
    return _page(request, "docs/quickstart.html", key=key, filled_in=True)


@router.get("/docs/limits")
async def limits(request: Request) -> HTMLResponse:
    """What there is to spend, how often one may call, and what the answers are beyond."""
    parts = parts_of(request)
    return _page(request, "docs/limits.html", book=parts.plans, settings=parts.settings, catalogue=CATALOGUE)


@router.get("/docs/{name}")
async def text(request: Request, name: str) -> HTMLResponse:
    """One of the texts.

    Raises:
        PageRefused: There is none of that name for this reader.
    """
    parts = parts_of(request)
    base_url = parts.settings.dashboard.base_url(parts.settings.api)
    found = read_text(name, operator=visitor_of(request).operator, base_url=base_url)
    if found is None:
        missing = name in TEXTS and not FOLDER.is_dir()
        sentence = "This installation has no docs." if missing else "There is no such page in the docs."
        raise PageRefused(404, sentence)
    return _page(request, "docs/text.html", text=found)


def _page(request: Request, template: str, **context: Any) -> HTMLResponse:
    parts = parts_of(request)
    texts = {name: each.label for name, each in TEXTS.items()} if FOLDER.is_dir() else {}
    others = operator_texts() if visitor_of(request).operator else {}
    common: dict[str, Any] = {
        "texts": texts,
        "others": others,
        "base_url": parts.settings.dashboard.base_url(parts.settings.api),
        "result_ttl": parts.settings.jobs.result_ttl_seconds,
    }
    return page(request, template, **common, **context)
