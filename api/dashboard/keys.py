"""The pages of API keys."""

from __future__ import annotations

import uuid
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.dashboard.forms import SentForm, read_id
from api.dashboard.rendering import page, redirect
from api.errors import PageRefused
from api.parts import ApiParts, Parts
from api.routes import AccountId
from domain.access import keys
from domain.tables import ApiKey

MOST_REVOKED = 50
"""Keys that are shown after they were revoked, the newest ones; nothing can be done with them any more."""

UNKNOWN = "There is no such key."
TOO_MANY = f"You have {keys.MOST_IN_USE} keys in use, the most an account can have. Revoke one first."

router = APIRouter()


async def _key_in_use(parts: Parts, account_id: AccountId, keyId: str) -> ApiKey:
    key = await parts.database.read(keys.find_key, account_id=account_id, key_id=read_id(keyId, UNKNOWN))
    if key is None:
        raise PageRefused(404, UNKNOWN)
    if key.revoked_at is not None:
        raise PageRefused(400, "This key is already revoked.")
    return key


KeyInUse = Annotated[ApiKey, Depends(_key_in_use)]
"""A route's argument: the key of the account that its address names."""


@router.get("/keys")
async def list_keys(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """Keys in use, and those that were."""
    return await _list_page(request, parts, account_id)


@router.post("/keys")
async def create_key(request: Request, form: SentForm, parts: Parts, account_id: AccountId) -> Response:
    """Make a key, and show it in this very answer and nowhere else."""
    mode = form.text("mode")
    if mode not in (keys.LIVE, keys.TEST):
        return await _list_page(request, parts, account_id, 422, "Choose live or test.")
    try:
        row, key = await parts.database.write(
            keys.create_own_key,
            parts.digester,
            account_id=account_id,
            mode=keys.TEST if mode == keys.TEST else keys.LIVE,
        )
    except keys.TooManyKeysError:
        return await _list_page(request, parts, account_id, 422, TOO_MANY)
    return page(request, "keys/created.html", row=row, key=key, replaced=None)


@router.get("/keys/{keyId}/revoke")
async def ask_to_revoke(request: Request, key: KeyInUse) -> Response:
    """Ask before a key stops working."""
    return page(request, "keys/revoke.html", key=key)


@router.post("/keys/{keyId}/revoke")
async def revoke_key(parts: Parts, account_id: AccountId, keyId: str) -> Response:
    """Refuse it from now on."""
    key_id = read_id(keyId, UNKNOWN)
    try:
        await parts.database.write(keys.revoke_key, key_id=key_id, account_id=account_id)
    except ValueError:
        raise PageRefused(404, UNKNOWN) from None
    return redirect("/keys", "key_revoked")


@router.get("/keys/{keyId}/replace")
async def ask_to_replace(request: Request, key: KeyInUse) -> Response:
    """Ask before a key stops working and another takes its place."""
    return page(request, "keys/replace.html", key=key)


@router.post("/keys/{keyId}/replace")
async def replace_key(request: Request, parts: Parts, account_id: AccountId, keyId: str) -> Response:
    """Revoke it, and show its successor in this very answer."""
    key_id = read_id(keyId, UNKNOWN)
    try:
        row, key = await parts.database.write(keys.replace_key, parts.digester, key_id=key_id, account_id=account_id)
        old = await parts.database.read(keys.find_key, account_id=account_id, key_id=key_id)
    except ValueError:
        raise PageRefused(404, "No such key is in use.") from None
    return page(request, "keys/created.html", row=row, key=key, replaced=old)


async def _list_page(
    request: Request, parts: ApiParts, account_id: uuid.UUID, status: int = 200, error: str = ""
) -> Response:
    found = await parts.database.read(keys.list_keys, account_id=account_id)
    return page(
        request,
        "keys/list.html",
        status,
        in_use=[key for key in found if key.revoked_at is None],
        revoked=[key for key in found if key.revoked_at is not None][:MOST_REVOKED],
        most=keys.MOST_IN_USE,
        error=error,
    )
