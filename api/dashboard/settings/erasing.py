"""The end of an account, by its owner: explained first, and asked for with the password and a word."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.administration import erasing
from api.dashboard.credentials import PasswordRefused, prove
from api.dashboard.forms import read_form
from api.dashboard.rendering import page
from api.dashboard.settings.signing_in import said_of_password
from api.dashboard.visitor import SESSION, clear_cookie, visitor_of
from api.parts import parts_of

WORD = "erase"
"""What has to be typed, so that nobody does it by a careless click."""

router = APIRouter()


@router.get("/settings/erase")
async def ask(request: Request) -> Response:
    """What is deleted, and what stays."""
    return _ask(request)


@router.post("/settings/erase")
async def erase(request: Request) -> Response:
    """Shut the account for good, and have everything it stored deleted."""
    form = await read_form(request)
    parts = parts_of(request)
    visitor = visitor_of(request)
    if form.text("word").lower() != WORD:
        return _ask(request, 422, {"word": f"Type the word {WORD}."})
    try:
        await prove(parts, request, email=visitor.email, password=form.exact("password"))
    except PasswordRefused as error:
        return _ask(request, error.status, {"password": said_of_password(error)})
    await parts.database.write(
        erasing.begin,
        parts.digester,
        account_id=visitor.account_id,
        erased_by=visitor.account_id,
        now=datetime.now(UTC),
    )
    await erasing.start(parts.temporal, visitor.account_id)
    answer = page(request, "settings/erased.html")
    clear_cookie(answer, SESSION, parts.settings.dashboard)
    return answer


def _ask(request: Request, status: int = 200, errors: dict[str, str] | None = None) -> Response:
    return page(request, "settings/erase.html", status, errors=errors or {}, word=WORD)
