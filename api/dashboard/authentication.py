"""Signing up, in and out. What strangers are answered tells nothing of who has an account: by words, or by time."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.background import BackgroundTask
from starlette.responses import Response

from api.dashboard import credentials
from api.dashboard.credentials import PasswordRefused
from api.dashboard.forms import SentForm
from api.dashboard.mailing import TooMuchMail, hand_over, letterhead, mail_subjects, write_mail
from api.dashboard.outbox import keeps_no_cookie, may_read_mail
from api.dashboard.rendering import page, redirect
from api.dashboard.visitor import SESSION, PossibleVisitor, clear_cookie, read_cookie
from api.parts import ApiParts, Parts, parts_of
from api.routes import PAGES, RoutePolicy
from domain import accounts
from domain.accounts import AddressTakenError
from domain.authentication import logins, sessions, throttles
from domain.authentication.email_addresses import address_to_keep, spelling
from domain.authentication.logins import trial_plan
from domain.authentication.passwords import check_password
from domain.tables import Mail

HERE = ("sign-up", "log-in", "log-out", "check-mail", "verify", "forgot", "reset", "change-address")
"""Pages that nobody wants to see after signing in."""

SHORTEST_SECONDS = 0.4
"""An answer about an address takes at least this long: more than what is done for any of them, so that none stands
out."""

router = APIRouter()


@router.get("/sign-up")
@RoutePolicy(public=True)
async def show_sign_up(request: Request, visitor: PossibleVisitor) -> Response:
    """The form of somebody new."""
    return redirect("/") if visitor and visitor.verified else _sign_up_page(request)


@router.post("/sign-up")
@RoutePolicy(public=True)
async def sign_up(request: Request, form: SentForm, parts: Parts) -> Response:
    """Open an account and mail the link that confirms its address; the same answer for every address."""
    errors, email, password = dict[str, str](), form.text("email"), form.exact("password")
    try:
        email = address_to_keep(email)
    except ValueError as error:
        errors["email"] = str(error)
    try:
        check_password(password, email=email)
    except ValueError as error:
        errors["password"] = str(error)
    if errors:
        return _sign_up_page(request, 422, email=email, errors=errors)

    try:
        async with in_equal_time():
            written = await _open_account(parts, email, password) if await _may_write(parts, request, email) else []
    except TooMuchMail as error:
        return _sign_up_page(request, 429, email=email, problem=error.sentence)
    except ValueError as error:
        return _sign_up_page(request, 403, email=email, problem=str(error))
    return _after_writing(parts, written, about="sign-up")


@router.get("/log-in")
@RoutePolicy(public=True)
async def show_log_in(request: Request, visitor: PossibleVisitor) -> Response:
    """The form of somebody who was here before."""
    wanted = own_path(request.query_params.get("next", ""))
    return redirect(wanted) if visitor and visitor.verified else _log_in_page(request, wanted=wanted)


@router.post("/log-in")
@RoutePolicy(public=True)
async def log_in(request: Request, form: SentForm, parts: Parts) -> Response:
    """Sign in, and go on to the page that was asked for."""
    email, password, wanted = form.text("email"), form.exact("password"), own_path(form.text("next"))
    answer = redirect(wanted)
    try:
        fitted = await credentials.prove(parts, request, email=email, password=password)
        if not await credentials.sign_in(parts, request, answer, fitted, password):
            raise PasswordRefused("The password was just changed. Use the new one.")
    except PasswordRefused as error:
        refused = _log_in_page(request, error.status, email=email, wanted=wanted, problem=error.sentence)
        refused.headers.update({"Retry-After": str(error.wait_seconds)} if error.wait_seconds else {})
        return refused
    return answer


@router.post("/log-out")
@RoutePolicy(public=True)
async def log_out(request: Request, parts: Parts) -> Response:
    """End the session of this browser."""
    token = read_cookie(request.scope, SESSION, parts.settings.dashboard)
    if token is not None:
        await parts.database.write(sessions.end_session_of, token=token)
    answer = redirect("/log-in", "signed_out")
    clear_cookie(answer, SESSION, parts.settings.dashboard)
    return answer


@router.get("/check-mail")
@RoutePolicy(public=True)
async def show_check_mail(request: Request, parts: Parts, visitor: PossibleVisitor) -> Response:
    """What to do next, once something was mailed."""
    about = request.query_params.get("about")
    if visitor and visitor.verified and about != "reset":
        return redirect("/")
    return page(
        request,
        "authentication/check_mail.html",
        about=about,
        waits=visitor is not None and not visitor.verified,
        has_outbox=may_read_mail(request, parts.settings),
    )


@router.post("/check-mail")
@RoutePolicy(public=True)
async def send_again(request: Request, parts: Parts, visitor: PossibleVisitor) -> Response:
    """Mail another link to somebody who is signed in with an address that is not confirmed."""
    if visitor is None or visitor.verified:
        return redirect("/log-in")
    account = await parts.database.read(accounts.find_account, account_id=visitor.account_id)
    if account is None:
        return redirect("/log-in")
    head, written = letterhead(parts.settings), list[Mail]()
    with contextlib.suppress(TooMuchMail):
        if await _may_write(parts, request, account.email):
            now = datetime.now(UTC)
            _, written = await write_mail(parts, logins.mail_verification, parts.plans, head, account=account, now=now)
    if not written:
        return redirect("/check-mail", "too_much_mail")
    answer = redirect("/check-mail", "mail_sent")
    answer.background = BackgroundTask(hand_over, parts, written)
    return answer


@router.get("/forgot")
@RoutePolicy(public=True)
async def show_forgot(request: Request) -> Response:
    """The form of somebody without a password."""
    return page(request, "authentication/forgot.html", email="", problem="")


@router.post("/forgot")
@RoutePolicy(public=True)
async def forgot(request: Request, form: SentForm, parts: Parts) -> Response:
    """Mail a link for a new password, if there is an account; the same answer for every address."""
    email, written = spelling(form.text("email")), list[Mail]()
    try:
        async with in_equal_time():
            if await _may_write(parts, request, email):
                head, now = letterhead(parts.settings), datetime.now(UTC)
                _, written = await write_mail(parts, logins.ask_for_reset, head, email=email, now=now)
    except (TooMuchMail, ValueError) as error:
        sentence = error.sentence if isinstance(error, TooMuchMail) else "This is not an e-mail address."
        status = 429 if isinstance(error, TooMuchMail) else 422
        return page(request, "authentication/forgot.html", status, email=email, problem=sentence)
    return _after_writing(parts, written, about="reset")


def own_path(wanted: str) -> str:
    """A page of the dashboard, without the part of its path that all of them share; the overview for anything else."""
    path = wanted.removeprefix(PAGES)
    plain = wanted.isprintable() and "\\" not in wanted and path != wanted and len(wanted) <= 2000
    first = path.removeprefix("/").partition("?")[0]
    return path if plain and path.startswith("/") and not path.startswith("//") and first not in HERE else "/"


@asynccontextmanager
async def in_equal_time() -> AsyncIterator[None]:
    """Whatever is done in the block, the answer does not come sooner than `SHORTEST_SECONDS`."""
    until = time.monotonic() + SHORTEST_SECONDS
    try:
        yield
    finally:
        await asyncio.sleep(max(0.0, until - time.monotonic()))


async def _may_write(parts: ApiParts, request: Request, email: str) -> bool:
    """Whether a message may go to this address; one too many is passed over in silence, as for one without account.

    Raises:
        TooMuchMail: Too much was asked for from this network.
    """
    now = datetime.now(UTC)
    network, address = mail_subjects(parts, request, email)
    if await parts.database.write_relaxed(throttles.seconds_to_wait, (network,), now=now):
        raise TooMuchMail
    return not await parts.database.write_relaxed(throttles.seconds_to_wait, (address,), now=now)


async def _open_account(parts: ApiParts, email: str, password: str) -> list[Mail]:
    """Open an account, or write to the one there is. What comes back is still to be handed over.

    Raises:
        ValueError: There is no trial, so nobody can sign up.
    """
    password_hash = await parts.passwords.hash(password)

    def work(session: Session) -> None:
        head, now = letterhead(parts.settings), datetime.now(UTC)
        logins.sign_up(session, parts.plans, head, email=email, password_hash=password_hash, now=now)

    try:
        _, written = await write_mail(parts, work)
    except AddressTakenError:  # somebody else was first by a moment
        _, written = await write_mail(parts, work)
    return written


def _after_writing(parts: ApiParts, written: list[Mail], *, about: str) -> Response:
    answer = redirect("/check-mail", about=about)
    # Only after the answer: how long Temporal takes must not tell whether there was anything to send.
    answer.background = BackgroundTask(hand_over, parts, written)
    return answer


def _sign_up_page(
    request: Request, status: int = 200, *, email: str = "", problem: str = "", errors: dict[str, str] | None = None
) -> Response:
    parts = parts_of(request)
    plan = trial_plan(parts.plans)
    return page(
        request,
        "authentication/sign_up.html",
        status,
        email=email,
        problem=problem,
        errors=errors or {},
        trial=parts.plans.get(plan) if plan is not None else None,
        keeps_no_cookie=keeps_no_cookie(request, parts.settings),
    )


def _log_in_page(request: Request, status: int = 200, **context: Any) -> Response:
    parts = parts_of(request)
    shown = {"email": "", "problem": "", **context}
    return page(
        request,
        "authentication/log_in.html",
        status,
        **shown,
        root=PAGES,
        keeps_no_cookie=keeps_no_cookie(request, parts.settings),
    )
