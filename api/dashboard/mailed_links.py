"""Pages that links in mail lead to. Looking at one changes nothing: programs that read mail do that too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import APIRouter, Request
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from starlette.responses import Response

from api.dashboard import credentials
from api.dashboard.credentials import PasswordRefused
from api.dashboard.forms import Form, SentForm
from api.dashboard.mailing import letterhead, write_and_send
from api.dashboard.rendering import page, redirect
from api.dashboard.visitor import SESSION, possible_visitor, set_cookie
from api.parts import Parts, parts_of
from api.routes import RoutePolicy
from domain import accounts
from domain.authentication import email_tokens, logins, sessions, throttles
from domain.authentication.email_tokens import Purpose
from domain.authentication.logins import Credentials
from domain.authentication.passwords import check_password
from domain.authentication.sessions import SignedIn
from domain.authentication.throttles import SIGN_IN
from domain.tables import Account, EmailToken

TEMPLATES = {
    Purpose.VERIFY: "authentication/verify.html",
    Purpose.RESET: "authentication/reset.html",
    Purpose.CHANGE: "authentication/change_address.html",
}

router = APIRouter()


@dataclass(frozen=True)
class Link:
    """A link that is worth something; ``own_visitor`` looks at it, if that is the account's owner, signed in."""

    token: str
    row: EmailToken
    account: Account
    own_visitor: SignedIn | None


@router.get("/verify")
@RoutePolicy(public=True)
async def show_verify(request: Request) -> Response:
    """Ask to confirm, for the password too where nobody is signed in.

    A stranger may have signed up with somebody else's address. Its owner, who gets this link, does not know the
    stranger's password, and so opens no account for the stranger by a careless click.
    """
    return await _asking_page(request, Purpose.VERIFY)


@router.post("/verify")
@RoutePolicy(public=True)
async def verify(request: Request, form: SentForm, parts: Parts) -> Response:
    """Confirm the address, and be signed in."""
    link = await _find(request, Purpose.VERIFY, form.text("token"))
    if link is None:
        return _dead(request)
    try:
        fitted = await _prove(request, link, form)
    except PasswordRefused as error:
        return _link_page(request, Purpose.VERIFY, link, error.status, error.sentence)

    def confirm(session: Session) -> tuple[bool, str | None] | None:
        now = datetime.now(UTC)
        used = email_tokens.use_up(session, purpose=Purpose.VERIFY, token=link.token, now=now)
        if used is None:
            return None
        has_trial = logins.verify(session, parts.plans, parts.digester, account_id=used[0], now=now)
        own = link.own_visitor
        return has_trial, sessions.renew_session(session, session_id=own.session_id) if own else None

    confirmed = await parts.database.write(confirm)
    if confirmed is None:
        return _dead(request)
    has_trial, renewed = confirmed
    answer = redirect("/", "verified" if has_trial else "verified_without_trial")
    if renewed:
        set_cookie(answer, SESSION, renewed, parts.settings.dashboard)
    elif fitted is not None:
        await credentials.sign_in(parts, request, answer, fitted, form.exact("password"))
    return answer


@router.get("/reset")
@RoutePolicy(public=True)
async def show_reset(request: Request) -> Response:
    """Ask for a new password."""
    return await _asking_page(request, Purpose.RESET)


@router.post("/reset")
@RoutePolicy(public=True)
async def reset(request: Request, form: SentForm, parts: Parts) -> Response:
    """Set a new password; every browser is signed out, this one too."""
    link = await _find(request, Purpose.RESET, form.text("token"))
    if link is None:
        return _dead(request)
    password, email = form.exact("password"), link.account.email
    try:
        check_password(password, email=email)
    except ValueError as error:
        return _link_page(request, Purpose.RESET, link, 422, str(error))
    password_hash = await parts.passwords.hash(password)
    changed = await write_and_send(
        parts,
        logins.reset,
        parts.plans,
        parts.digester,
        letterhead(parts.settings),
        token=link.token,
        password_hash=password_hash,
        now=datetime.now(UTC),
    )
    if changed is None:
        return _dead(request)
    await parts.database.write_relaxed(throttles.forget_address, parts.digester, SIGN_IN, email=email)
    return redirect("/log-in", "password_changed")


@router.get("/change-address")
@RoutePolicy(public=True)
async def show_change(request: Request) -> Response:
    """Ask to confirm a new address, for the password too where nobody is signed in."""
    return await _asking_page(request, Purpose.CHANGE)


@router.post("/change-address")
@RoutePolicy(public=True)
async def change_address(request: Request, form: SentForm, parts: Parts) -> Response:
    """Use the new address from now on."""
    link = await _find(request, Purpose.CHANGE, form.text("token"))
    if link is None:
        return _dead(request)
    try:
        await _prove(request, link, form)
    except PasswordRefused as error:
        return _link_page(request, Purpose.CHANGE, link, error.status, error.sentence)
    head, now = letterhead(parts.settings), datetime.now(UTC)
    try:
        changed = await write_and_send(parts, logins.change_address, parts.digester, head, token=link.token, now=now)
    except IntegrityError:  # the address has just become somebody else's
        return _dead(request)
    if not changed:
        return _dead(request)
    return redirect("/" if link.own_visitor else "/log-in", "address_changed")


async def _find(request: Request, purpose: Purpose, token: str) -> Link | None:
    parts = parts_of(request)
    row = await parts.database.read(email_tokens.look_at, purpose=purpose, token=token, now=datetime.now(UTC))
    account = None if row is None else await parts.database.read(accounts.find_account, account_id=row.account_id)
    if row is None or not accounts.is_there(account):
        return None
    visitor = possible_visitor(request)
    return Link(token, row, account, visitor if visitor and visitor.account_id == account.id else None)


async def _prove(request: Request, link: Link, form: Form) -> Credentials | None:
    """What the password fits to; nothing for the owner who is signed in, and is not asked for it.

    Raises:
        PasswordRefused: It does not fit.
    """
    if link.own_visitor is not None:
        return None
    email, password = link.account.email, form.exact("password")
    return await credentials.prove(parts_of(request), request, email=email, password=password)


async def _asking_page(request: Request, purpose: Purpose) -> Response:
    link = await _find(request, purpose, request.query_params.get("token", ""))
    return _dead(request) if link is None else _link_page(request, purpose, link)


def _link_page(request: Request, purpose: Purpose, link: Link, status: int = 200, problem: str = "") -> Response:
    return page(
        request,
        TEMPLATES[purpose],
        status,
        link_token=link.token,
        email=link.account.email if purpose is Purpose.RESET else link.row.email,
        asks_password=link.own_visitor is None,
        problem=problem,
    )


def _dead(request: Request) -> Response:
    return page(request, "authentication/dead_link.html", 404)
