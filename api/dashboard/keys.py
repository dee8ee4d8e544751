"""The pages of API keys: transport only."""

from __future__ import annotations

import uuid

from fastapi import APIRouter, Request, Response

from api.dashboard.forms import PageRefused, read_form
from api.dashboard.rendering import page, redirect
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from domain.access import keys
from domain.tables import ApiKey

MOST_REVOKED = 50
"""Keys that are shown after they were revoked, the newest ones; nothing can be done with them any more."""

UNKNOWN = "There is no such key."

router = APIRouter()


@router.get("/keys")
async def list_keys(request: Request) -> Response:
    """Keys in use, and those that were."""
    return await _list_page(request)


@router.post("/keys")
async def create_key(request: Request) -> Response:
    """Make a key, and show it in this very answer and nowhere else."""
    form, parts, account_id = await read_form(request), parts_of(request), visitor_of(request).account_id
    mode = form.text("mode")
    if mode not in (keys.LIVE, keys.TEST):
        return await _list_page(request, 422, "Choose live or test.")
    try:
        row, key = await parts.database.write(
            keys.create_own_key,
            parts.digester,
            account_id=account_id,
            mode=keys.TEST if mode == keys.TEST else keys.LIVE,
        )
    except keys.TooManyKeysError:
        sentence = f"You have {keys.MOST_IN_USE} keys in use, the most an account can have. Revoke one first."
        return await _list_page(request, 422, sentence)
    return page(request, "keys/created.html", row=row, key=key, replaced=None)


@router.get("/keys/{keyId}/revoke")
async def ask_to_revoke(request: Request, keyId: str) -> Response:
    """Ask before a key stops working."""
    return page(request, "keys/revoke.html", key=await _key_in_use(request, keyId))


@router.post("/keys/{keyId}/revoke")
async def revoke_key(request: Request, keyId: str) -> Response:
    """Refuse it from now on."""
    await read_form(request)
    try:
        await parts_of(request).database.write(
            keys.revoke_key, key_id=_identifier(keyId), account_id=visitor_of(request).account_id
        )
    except ValueError:
        raise PageRefused(404, UNKNOWN) from None
    return redirect("/keys", "key_revoked")


@router.get("/keys/{keyId}/replace")
async def ask_to_replace(request: Request, keyId: str) -> Response:
    """Ask before a key stops working and another takes its place."""
    return page(request, "keys/replace.html", key=await _key_in_use(request, keyId))


@router.post("/keys/{keyId}/replace")
async def replace_key(request: Request, keyId: str) -> Response:
    """Revoke it, and show its successor in this very answer."""
    await read_form(request)
    parts, account_id = parts_of(request), visitor_of(request).account_id
    try:
        row, key = await parts.database.write(
            keys.replace_key, parts.digester, key_id=_identifier(keyId), account_id=account_id
        )
        old = await parts.database.read(keys.find_key, account_id=account_id, key_id=_identifier(keyId))
    except ValueError:
        raise PageRefused(404, "No such key is in use.") from None
    return page(request, "keys/created.html", row=row, key=key, replaced=old)


async def _list_page(request: Request, status: int = 200, error: str = "") -> Response:
    found = await parts_of(request).database.read(keys.list_keys, account_id=visitor_of(request).account_id)
    return page(
        request,
        "keys/list.html",
        status,
        in_use=[key for key in found if key.revoked_at is None],
        revoked=[key for key in found if key.revoked_at is not None][:MOST_REVOKED],
        most=keys.MOST_IN_USE,
        error=error,
    )


async def _key_in_use(request: Request, key_id: str) -> ApiKey:
    identifier, account_id = _identifier(key_id), visitor_of(request).account_id
    key = await parts_of(request).database.read(keys.find_key, account_id=account_id, key_id=identifier)
    if key is None:
        raise PageRefused(404, UNKNOWN)
    if key.revoked_at is not None:
        raise PageRefused(400, "This key is already revoked.")
    return key


def _identifier(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise PageRefused(404, UNKNOWN) from None
