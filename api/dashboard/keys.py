"""The pages of API keys."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from api.dashboard.forms import FieldsRefused, Form, SentForm, read_id
from api.dashboard.rendering import page, redirect
from api.errors import PageRefused
from api.parts import ApiParts, Parts
from api.routes import AccountId
from domain.access import keys
from domain.access.keys import KeyTerms, Mode, PublishableTerms
from domain.tables import ApiKey

MOST_ENDED = 50
"""Keys that are shown after they were revoked or expired, the newest ones; nothing can be done with them any more."""

UNKNOWN = "There is no such key."
FULL = f"You have {keys.MOST_IN_USE} keys in use, the most an account can have."
TOO_MANY = f"{FULL} Revoke one first."

OVERLAP_LABELS = {
    "none": "Stops working at once",
    "1h": "Works for 1 hour more",
    "24h": "Works for 24 hours more",
    "7d": "Works for 7 days more",
}

SECRET, PUBLISHABLE = "", "page_"
"""What begins the names of the fields of the two forms, which stand on one page."""

router = APIRouter()


async def _key_in_use(parts: Parts, account_id: AccountId, keyId: str) -> ApiKey:
    key = await parts.database.read(keys.find_key, account_id=account_id, key_id=read_id(keyId, UNKNOWN))
    if key is None:
        raise PageRefused(404, UNKNOWN)
    if key.revoked_at is not None:
        raise PageRefused(400, "This key is already revoked.")
    if key.expires_at is not None and key.expires_at <= datetime.now(UTC):
        raise PageRefused(400, "This key has expired.")
    return key


KeyInUse = Annotated[ApiKey, Depends(_key_in_use)]
"""A route's argument: the key of the account that its address names."""


@router.get("/keys")
async def list_keys(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """Keys in use, and those that were."""
    return await _list_page(request, parts, account_id)


@router.post("/keys")
async def create_key(request: Request, form: SentForm, parts: Parts, account_id: AccountId) -> Response:
    """Make a secret key, and show it in this very answer and nowhere else."""
    return await _create(request, form, parts, account_id, SECRET)


@router.post("/keys/publishable")
async def create_publishable_key(request: Request, form: SentForm, parts: Parts, account_id: AccountId) -> Response:
    """Make a key for web pages."""
    return await _create(request, form, parts, account_id, PUBLISHABLE)


@router.get("/keys/{keyId}")
async def show_key(request: Request, key: KeyInUse) -> Response:
    """What it may be used for, and what can be changed about it."""
    return _key_page(request, key, Form(), {})


@router.post("/keys/{keyId}")
async def change_key(request: Request, form: SentForm, parts: Parts, account_id: AccountId, key: KeyInUse) -> Response:
    """Call it something else; a publishable key takes calls from other origins, or starts more or less, from now on."""
    errors: dict[str, str] = {}
    name = _name(form, "name", errors)
    bounds = _bounds(form, errors) if key.publishable_key else None
    if errors:
        return _key_page(request, key, form, errors)
    try:
        await parts.database.write(keys.change_key, key_id=key.id, account_id=account_id, name=name, publishable=bounds)
    except ValueError:
        raise PageRefused(404, UNKNOWN) from None
    return redirect(f"/keys/{key.id}", "key_changed")


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
    """Ask before another key takes its place, and for how long both work."""
    if key.replaced_at is not None:
        raise PageRefused(400, "This key was already replaced.")
    return page(request, "keys/replace.html", key=key, overlaps=OVERLAP_LABELS, error="")


@router.post("/keys/{keyId}/replace")
async def replace_key(request: Request, form: SentForm, parts: Parts, account_id: AccountId, keyId: str) -> Response:
    """Show its successor in this very answer; the old key is revoked, now or later."""
    key_id = read_id(keyId, UNKNOWN)
    overlap = keys.OVERLAPS.get(form.text("overlap") or "none")
    if overlap is None:
        raise PageRefused(422, "Choose for how long the old key works on.")
    try:
        row, key = await parts.database.write(
            keys.replace_key, parts.digester, key_id=key_id, account_id=account_id, overlap=overlap
        )
        old = await parts.database.read(keys.find_key, account_id=account_id, key_id=key_id)
    except keys.TooManyKeysError:
        old = await parts.database.read(keys.find_key, account_id=account_id, key_id=key_id)
        error = f"{FULL} Stop this one at once, or revoke another first."
        return page(request, "keys/replace.html", 422, key=old, overlaps=OVERLAP_LABELS, error=error)
    except ValueError:
        raise PageRefused(404, "No such key is in use.") from None
    return page(request, "keys/created.html", row=row, key=key, replaced=old)


async def _create(request: Request, form: Form, parts: ApiParts, account_id: uuid.UUID, which: str) -> Response:
    try:
        mode, terms, bounds = _terms(form, which)
        row, key = await parts.database.write(
            keys.create_own_key, parts.digester, account_id=account_id, mode=mode, terms=terms, publishable=bounds
        )
    except FieldsRefused as refused:
        return await _list_page(request, parts, account_id, form, refused.errors)
    except keys.TooManyKeysError:
        return await _list_page(request, parts, account_id, form, {"": TOO_MANY})
    return page(request, "keys/created.html", row=row, key=key, replaced=None)


def _terms(form: Form, which: str) -> tuple[Mode, KeyTerms, PublishableTerms | None]:
    """What one of the two forms asks for.

    Raises:
        FieldsRefused: Some of it is missing or wrong.
    """
    errors: dict[str, str] = {}
    mode = form.text(f"{which}mode")
    if mode not in (keys.LIVE, keys.TEST):
        errors[f"{which}mode"] = "Choose live or test."
    name = _name(form, f"{which}name", errors)
    chosen = [scope for scope in keys.SCOPES if f"scope_{scope}" in form]
    if which == SECRET and not chosen:
        errors["scopes"] = "Choose at least one thing that the key may do."
    expires_at = _expiry(form, f"{which}expires", errors)
    bounds = _bounds(form, errors) if which == PUBLISHABLE else None
    if errors:
        raise FieldsRefused(errors)
    scopes = None if which == PUBLISHABLE or len(chosen) == len(keys.SCOPES) else chosen
    return keys.TEST if mode == keys.TEST else keys.LIVE, KeyTerms(name, scopes, expires_at), bounds


def _name(form: Form, field: str, errors: dict[str, str]) -> str:
    try:
        return keys.read_name(form.text(field))
    except ValueError as error:
        errors[field] = str(error)
        return ""


def _expiry(form: Form, field: str, errors: dict[str, str]) -> datetime | None:
    """The end (UTC) of the day that was chosen, if one was."""
    text = form.text(field)
    if not text:
        return None
    try:
        expires_at = datetime.combine(date.fromisoformat(text), time(), UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        expires_at = datetime.min.replace(tzinfo=UTC)
    if expires_at <= datetime.now(UTC):
        errors[field] = "Choose today or a later day, or leave it empty."
    return expires_at


def _bounds(form: Form, errors: dict[str, str]) -> PublishableTerms:
    origins: list[str] = []
    try:
        origins = keys.read_origins(form.text("origins").split())
    except ValueError as error:
        errors["origins"] = str(error)
    text = form.text("daily_cap").replace(",", "")
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= keys.LARGEST_DAILY_CAP):
        errors["daily_cap"] = f"Give a whole number from 1 to {keys.LARGEST_DAILY_CAP:,}."
        return PublishableTerms(origins)
    return PublishableTerms(origins, int(text))


def _key_page(request: Request, key: ApiKey, form: Form, errors: Mapping[str, str]) -> Response:
    return page(request, "keys/show.html", 422 if errors else 200, key=key, form=form, errors=errors, **_words())


async def _list_page(
    request: Request,
    parts: ApiParts,
    account_id: uuid.UUID,
    form: Form | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    found, now = await parts.database.read(keys.list_keys, account_id=account_id), datetime.now(UTC)
    in_use = [key for key in found if key.revoked_at is None and (key.expires_at is None or key.expires_at > now)]
    return page(
        request,
        "keys/list.html",
        422 if errors else 200,
        in_use=in_use,
        ended=[key for key in found if key not in in_use][:MOST_ENDED],
        most=keys.MOST_IN_USE,
        form=form or Form(),
        errors=errors or {},
        default_cap=keys.DEFAULT_DAILY_CAP,
        **_words(),
    )


def _words() -> dict[str, Any]:
    return {"scopes": keys.SCOPES, "longest_name": keys.LONGEST_NAME, "now": datetime.now(UTC)}
