"""Signing up, signing in and out, and the outbox."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.background import BackgroundTask
from starlette.responses import Response

from api.dashboard import credentials
from api.dashboard.authentication import signing_up
from api.dashboard.authentication.outbox import keeps_no_cookie, may_read_mail
from api.dashboard.authentication.signing_up import TooMuchMail, in_equal_time
from api.dashboard.credentials import PasswordRefused
from api.dashboard.forms import read_form
from api.dashboard.mailing import hand_over
from api.dashboard.rendering import page, redirect
from api.dashboard.visitor import SESSION, clear_cookie, possible_visitor, read_cookie
from api.parts import ApiParts, parts_of
from api.routes import PAGES, RoutePolicy
from domain import accounts, mails
from domain.authentication import sessions
from domain.authentication.email_addresses import address_to_keep, spelling
from domain.authentication.logins import trial_plan
from domain.authentication.passwords import check_password
from domain.errors import TryOnError
from domain.tables import Mail

router = APIRouter()

HERE = ("sign-up", "log-in", "log-out", "check-mail", "verify", "forgot", "reset", "change-address")
"""Pages that nobody wants to see after signing in."""


@router.get("/sign-up")
@RoutePolicy(public=True)
async def show_sign_up(request: Request) -> Response:
    """The form of somebody new."""
    visitor = possible_visitor(request)
    return redirect("/") if visitor and visitor.verified else _sign_up_page(request)


@router.post("/sign-up")
@RoutePolicy(public=True)
async def sign_up(request: Request) -> Response:
    """Open an account and mail the link that confirms its address; the same answer for every address."""
    parts = parts_of(request)
    form = await read_form(request)
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
            written = await signing_up.sign_up(parts, request, email=email, password=password)
    except TooMuchMail as error:
        return _sign_up_page(request, 429, email=email, problem=error.sentence)
    except ValueError as error:
        return _sign_up_page(request, 403, email=email, problem=str(error))
    return _after_writing(parts, written, about="sign-up")


@router.get("/log-in")
@RoutePolicy(public=True)
async def show_log_in(request: Request) -> Response:
    """The form of somebody who was here before."""
    visitor, wanted = possible_visitor(request), own_path(request.query_params.get("next", ""))
    return redirect(wanted) if visitor and visitor.verified else _log_in_page(request, wanted=wanted)


@router.post("/log-in")
@RoutePolicy(public=True)
async def log_in(request: Request) -> Response:
    """Sign in, and go on to the page that was asked for."""
    parts = parts_of(request)
    form = await read_form(request)
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
async def log_out(request: Request) -> Response:
    """End the session of this browser."""
    parts = parts_of(request)
    await read_form(request)
    token = read_cookie(request.scope, SESSION, parts.settings.dashboard)
    if token is not None:
        await parts.database.write(sessions.end_session_of, token=token)
    answer = redirect("/log-in", "signed_out")
    clear_cookie(answer, SESSION, parts.settings.dashboard)
    return answer


@router.get("/check-mail")
@RoutePolicy(public=True)
async def show_check_mail(request: Request) -> Response:
    """What to do next, once something was mailed."""
    parts = parts_of(request)
    visitor, about = possible_visitor(request), request.query_params.get("about")
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
async def send_again(request: Request) -> Response:
    """Mail another link to somebody who is signed in with an address that is not confirmed."""
    parts = parts_of(request)
    await read_form(request)
    visitor = possible_visitor(request)
    if visitor is None or visitor.verified:
        return redirect("/log-in")
    account = await parts.database.read(accounts.find_account, account_id=visitor.account_id)
    if account is None:
        return redirect("/log-in")
    try:
        written = await signing_up.send_again(parts, request, account=account)
    except TooMuchMail:
        return redirect("/check-mail", "too_much_mail")
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
async def forgot(request: Request) -> Response:
    """Mail a link for a new password; the same answer for every address."""
    parts = parts_of(request)
    email = spelling((await read_form(request)).text("email"))
    try:
        async with in_equal_time():
            written = await signing_up.ask_for_reset(parts, request, email=email)
    except (TooMuchMail, ValueError) as error:
        sentence = error.sentence if isinstance(error, TooMuchMail) else "This is not an e-mail address."
        status = 429 if isinstance(error, TooMuchMail) else 422
        return page(request, "authentication/forgot.html", status, email=email, problem=sentence)
    return _after_writing(parts, written, about="reset")


@router.get("/outbox")
@RoutePolicy(public=True)
async def show_outbox(request: Request) -> Response:
    """Mail that no server takes, for whoever sits at this machine."""
    parts = parts_of(request)
    if not may_read_mail(request, parts.settings):
        raise TryOnError("route_not_found")
    return page(request, "authentication/outbox.html", written=await parts.database.read(mails.list_mail))


def own_path(wanted: str) -> str:
    """A page of the dashboard, without the part of its path that all of them share; the overview for anything else."""
    path = wanted.removeprefix(PAGES)
    plain = wanted.isprintable() and "\\" not in wanted and path != wanted and len(wanted) <= 2000
    first = path.removeprefix("/").partition("?")[0]
    return path if plain and path.startswith("/") and not path.startswith("//") and first not in HERE else "/"


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
