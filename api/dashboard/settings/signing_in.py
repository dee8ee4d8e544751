"""How the owner signs in: the address, the password, and the browsers that are signed in."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.dashboard.authentication.signing_up import TooMuchMail
from api.dashboard.credentials import PasswordRefused, address_of, prove
from api.dashboard.forms import PageRefused, read_form
from api.dashboard.mailing import letterhead, write_and_send
from api.dashboard.rendering import redirect
from api.dashboard.settings.showing import show_settings
from api.dashboard.visitor import SESSION, set_cookie, visitor_of
from api.parts import ApiParts, parts_of
from domain.authentication import logins, sessions, throttles
from domain.authentication.email_addresses import address_to_keep
from domain.authentication.passwords import check_password
from domain.authentication.throttles import MAIL, MAIL_PER_ADDRESS, MAIL_PER_NETWORK

router = APIRouter()


@router.post("/settings/email")
async def ask_for_change(request: Request) -> Response:
    """Mail a link to a new address; nothing changes until it is opened."""
    form = await read_form(request)
    parts = parts_of(request)
    visitor, typed = visitor_of(request), {"new_email": form.text("new_email")}
    try:
        new_email = address_to_keep(typed["new_email"])
    except ValueError as error:
        return await show_settings(request, 422, errors={"new_email": str(error)}, values=typed)
    if new_email == visitor.email:
        return await show_settings(request, 422, errors={"new_email": "This is already your address."}, values=typed)
    try:
        await prove(parts, request, email=visitor.email, password=form.exact("email_password"))
    except PasswordRefused as error:
        return await show_settings(
            request, error.status, errors={"email_password": said_of_password(error)}, values=typed
        )
    if not await _may_write_to(parts, request, new_email):
        return await show_settings(request, 429, errors={"new_email": TooMuchMail.sentence}, values=typed)
    await write_and_send(
        parts,
        logins.ask_for_change,
        letterhead(parts.settings),
        account_id=visitor.account_id,
        new_email=new_email,
        now=datetime.now(UTC),
    )
    return redirect("/settings", "change_mailed")


@router.post("/settings/password")
async def change_password(request: Request) -> Response:
    """Use another password from now on; every other browser is signed out."""
    form = await read_form(request)
    parts = parts_of(request)
    visitor, new = visitor_of(request), form.exact("new_password")
    try:
        check_password(new, email=visitor.email)
    except ValueError as error:
        return await show_settings(request, 422, errors={"new_password": str(error)})
    try:
        await prove(parts, request, email=visitor.email, password=form.exact("old_password"))
    except PasswordRefused as error:
        return await show_settings(request, error.status, errors={"old_password": said_of_password(error)})
    password_hash = await parts.passwords.hash(new)
    token = await write_and_send(
        parts,
        logins.change_password,
        letterhead(parts.settings),
        account_id=visitor.account_id,
        password_hash=password_hash,
        session_id=visitor.session_id,
        now=datetime.now(UTC),
    )
    answer = redirect("/settings", "password_saved")
    if token is not None:
        set_cookie(answer, SESSION, token, parts.settings.dashboard)
    return answer


@router.post("/settings/sessions/end-others")
async def end_others(request: Request) -> Response:
    """Sign out every browser but this one."""
    await read_form(request)
    parts = parts_of(request)
    visitor = visitor_of(request)
    await parts.database.write(sessions.end_sessions, account_id=visitor.account_id, but=visitor.session_id)
    return redirect("/settings", "others_signed_out")


@router.post("/settings/sessions/{sessionId}/end")
async def end_one(request: Request, sessionId: str) -> Response:
    """Sign one browser out.

    Raises:
        PageRefused: There is no such session of this account.
    """
    await read_form(request)
    parts = parts_of(request)
    try:
        session_id = uuid.UUID(sessionId)
    except ValueError:
        raise PageRefused(404, "There is no such browser.") from None
    await parts.database.write(sessions.end_session, account_id=visitor_of(request).account_id, session_id=session_id)
    return redirect("/settings", "session_ended")


def said_of_password(error: PasswordRefused) -> str:
    """What to say where only the password was asked for."""
    return error.sentence if error.wait_seconds else "The password is wrong."


async def _may_write_to(parts: ApiParts, request: Request, email: str) -> bool:
    """Whether another message may go to this address, and be asked for from this network."""
    asked_for = (
        throttles.network_subject(parts.digester, MAIL, MAIL_PER_NETWORK, address=address_of(request)),
        throttles.address_subject(parts.digester, MAIL, MAIL_PER_ADDRESS, email=email),
    )
    now = datetime.now(UTC)
    wait = await parts.database.write_relaxed(throttles.seconds_to_wait, asked_for, now=now)
    return not wait
