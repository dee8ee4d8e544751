"""What owners set for their account: the watermark, how long results are kept, how they sign in, and its end."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from api.administration import erasing, watermarks
from api.dashboard.credentials import PasswordRefused, prove
from api.dashboard.forms import SentForm, read_id
from api.dashboard.mailing import TooMuchMail, letterhead, mail_subjects, write_and_send
from api.dashboard.rendering import page, redirect
from api.dashboard.samples import NEUTRAL, pixels_of
from api.dashboard.visitor import SESSION, Visitor, clear_cookie, set_cookie
from api.errors import PageRefused
from api.parts import ApiParts, PageDecoders, Parts
from api.routes import AccountId
from domain import accounts
from domain.accounts import SHORTEST_RESULT_TTL
from domain.authentication import logins, sessions, throttles
from domain.authentication.email_addresses import address_to_keep
from domain.authentication.passwords import check_password
from domain.authentication.sessions import SignedIn
from domain.errors import TryOnError
from domain.tables import LoginSession, Watermark
from domain.watermarks import find_watermark, remove_watermark, switch_watermark
from gateway.calls import TemporalAwayError
from imaging.errors import ImageError
from imaging.limits import STORED_LIMITS
from imaging.opening import open_picture
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError
from workflows.contracts import SetWatermarkInput

AS_THE_SERVICE = "service"
"""The choice of whatever the service keeps results for, now and later."""

USUAL_TTLS = (60, 300, 900, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 7 * 24 * 3600, 30 * 24 * 3600)
"""Seconds that are offered, as far as the service's own value allows them."""

MOST_SESSIONS = 20
"""Browsers that are listed, the last used first."""

LOGO_SECONDS = 1.0
"""Longest wait for the logo's size, without which the page is as good."""

FETCH_SECONDS = 20.0
"""Longest that a page waits for a logo; fetching goes on behind it."""

MAX_URL_LENGTH = 2048

WORD = "erase"
"""What has to be typed, so that nobody erases an account by a careless click."""

BROWSERS = (
    ("Edge", r"\bEdg(?:A|iOS)?/"),
    ("Opera", r"\bOPR/"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\b(?:Firefox|FxiOS)/"),
    ("Chrome", r"\b(?:Chrome|CriOS|HeadlessChrome)/"),
    ("Safari", r"\bVersion/\S+ .*\bSafari/"),
)
"""Each names itself after those that it is built on, so the first that fits is it."""

SYSTEMS = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("macOS", r"\bMac OS X\b"),
    ("Linux", r"\bLinux\b"),
)

log = structlog.get_logger(__name__)

router = APIRouter()


@dataclass(frozen=True)
class SessionRow:
    """A browser that is signed in; ``here`` says whether it is the one that asks."""

    row: LoginSession
    browser: str
    here: bool


@router.get("/settings")
async def settings(request: Request, parts: Parts, visitor: Visitor) -> Response:
    """Everything that can be set."""
    return await show_settings(request, parts, visitor)


async def show_settings(
    request: Request,
    parts: ApiParts,
    visitor: SignedIn,
    status: int = 200,
    *,
    errors: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """The page, as it is or with what was wrong about a form: sentences, and what was typed, by field; no passwords."""
    settings, account_id = parts.settings, visitor.account_id
    idle = timedelta(hours=settings.dashboard.session_idle_hours)
    longest = timedelta(days=settings.dashboard.session_days)
    account = await parts.database.read(accounts.find_account, account_id=account_id)
    watermark = await parts.database.read(find_watermark, account_id=account_id)
    found = await parts.database.read(
        sessions.list_sessions, account_id=account_id, now=datetime.now(UTC), idle=idle, longest=longest
    )
    ttl = account.result_ttl_seconds if account else None
    rows = [SessionRow(row, describe_browser(row.user_agent), row.id == visitor.session_id) for row in found]
    rows.sort(key=lambda each: not each.here)
    return page(
        request,
        "settings/settings.html",
        status,
        errors=errors or {},
        values=values or {},
        watermark=watermark,
        logo_size=settings.images.logo_limits().size,
        sharp_up_to=await _sharp_up_to(parts, watermark),
        ttl=ttl,
        ttl_choices=ttl_choices(settings.jobs.result_ttl_seconds, settings.jobs.longest_result_ttl, ttl),
        usual_ttl=settings.jobs.result_ttl_seconds,
        sessions=rows[:MOST_SESSIONS],
        session_count=len(rows),
    )


def ttl_choices(default: int, longest: int, chosen: int | None) -> list[int]:
    """Seconds to choose from, beside what the service takes of itself; what is chosen already is among them."""
    usual = [seconds for seconds in USUAL_TTLS if SHORTEST_RESULT_TTL <= seconds <= longest and seconds != default]
    kept = [] if chosen is None else [min(chosen, longest)]
    return sorted({*usual, *kept})


async def _sharp_up_to(parts: ApiParts, watermark: Watermark | None) -> int | None:
    """Width in pixels up to which results carry the logo sharp; nothing where that cannot be told just now."""
    if watermark is None:
        return None
    try:
        logo = await asyncio.wait_for(watermarks.read_logo(parts.store, watermark), LOGO_SECONDS)
        width = open_picture(logo, STORED_LIMITS).size[0]
    except (TimeoutError, ObjectMissingError, ObjectStoreUnavailableError, ImageError) as error:
        log.warning("the size of a logo could not be read", reason=type(error).__name__)
        return None
    return watermarks.widest_sharp_picture(width, parts.settings.images)


def describe_browser(user_agent: str) -> str:
    """A fair guess, such as ``Firefox on Windows``, from what browsers call themselves, for the owner to look at."""
    browser, system = _first(BROWSERS, user_agent), _first(SYSTEMS, user_agent)
    if browser is None:
        return f"Unknown browser on {system}" if system else "Unknown browser"
    return f"{browser} on {system}" if system else browser


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str | None:
    return next((name for name, pattern in names if re.search(pattern, user_agent)), None)


@router.post("/settings/retention")
async def set_retention(request: Request, form: SentForm, parts: Parts, visitor: Visitor) -> Response:
    """Keep results of jobs that end from now on for so long."""
    chosen = form.text("result_ttl")
    try:
        await parts.database.write(
            accounts.set_result_ttl,
            account_id=visitor.account_id,
            seconds=None if chosen == AS_THE_SERVICE else int(chosen),
            longest_seconds=parts.settings.jobs.longest_result_ttl,
        )
    except ValueError:
        return await show_settings(request, parts, visitor, 422, errors={"result_ttl": "Choose a time from the list."})
    return redirect("/settings", "retention_saved")


@router.post("/settings/watermark")
async def fetch_logo(request: Request, form: SentForm, parts: Parts, visitor: Visitor) -> Response:
    """Fetch a logo and keep a copy. Where that fails, what was set before stays as it was."""
    url, enabled = form.text("logo_url"), "enabled" in form
    try:
        watermarks.check_logo_url(url)
        wanted = SetWatermarkInput(account_id=str(visitor.account_id), logo_url=url, enabled=enabled)
        await asyncio.wait_for(parts.temporal.set_watermark(wanted), FETCH_SECONDS)
    except TimeoutError:
        return redirect("/settings", "logo_takes_long")
    except (TryOnError, TemporalAwayError) as error:
        if isinstance(error, TemporalAwayError):
            log.warning("a logo could not be fetched: Temporal did not answer", reason=str(error)[:200])
            error = TryOnError("storage_unavailable")
        kept = "" if error.code == "logo_url_refused" else " What was set before stays as it was."
        errors = {"logo_url": f"{error.sentence}{kept}"}
        values = {"logo_url": url[:MAX_URL_LENGTH], "enabled": "yes" if enabled else ""}
        status = error.entry.status or 422
        return await show_settings(request, parts, visitor, status, errors=errors, values=values)
    return redirect("/settings", "logo_on" if enabled else "logo_kept")


@router.post("/settings/watermark/switch")
async def switch(request: Request, form: SentForm, parts: Parts, visitor: Visitor) -> Response:
    """Put the logo on results from now on, or leave it off and keep it."""
    enabled = form.text("to") == "on"
    try:
        await parts.database.write(switch_watermark, account_id=visitor.account_id, enabled=enabled)
    except ValueError:
        errors = {"logo_url": "There is no logo yet. Add one first."}
        return await show_settings(request, parts, visitor, 422, errors=errors)
    return redirect("/settings", "logo_on" if enabled else "logo_off")


@router.post("/settings/watermark/remove")
async def remove(parts: Parts, account_id: AccountId) -> Response:
    """Forget the setting and delete the logo."""
    removed = await parts.database.write(remove_watermark, account_id=account_id)
    if removed is not None:
        try:
            await parts.store.delete_prefix(watermarks.key_of(removed))
        except ObjectStoreUnavailableError:
            # It lies there unused until the account's next logo or its end, which delete the ones before.
            log.warning("a logo that was removed could not be deleted", key=watermarks.key_of(removed))
    return redirect("/settings", "logo_removed")


@router.get("/settings/watermark/preview.jpg")
async def preview(
    parts: Parts, decoders: PageDecoders, account_id: AccountId, ground: Literal["light", "dark"] = "light"
) -> Response:
    """The logo on a picture of nobody, as results will carry it, switched on or not."""
    watermark = await parts.database.read(find_watermark, account_id=account_id)
    if watermark is None:
        raise PageRefused(404, "There is no logo yet.")
    try:
        logo = await watermarks.read_logo(parts.store, watermark)
        jpeg = await decoders.in_thread(
            account_id, lambda: watermarks.stamped_jpeg(pixels_of(NEUTRAL[ground]), logo, parts.settings.images)
        )
    except (ObjectMissingError, ImageError):
        raise PageRefused(404, "The logo is missing. Fetch it again.") from None
    return Response(jpeg, media_type="image/jpeg")


@router.post("/settings/email")
async def ask_for_change(request: Request, form: SentForm, parts: Parts, visitor: Visitor) -> Response:
    """Mail a link to a new address; nothing changes until it is opened."""
    typed = {"new_email": form.text("new_email")}
    status, errors = 422, dict[str, str]()
    try:
        new_email = address_to_keep(typed["new_email"])
        if new_email == visitor.email:
            raise ValueError("This is already your address.")
    except ValueError as error:
        errors["new_email"] = str(error)
    else:
        try:
            proven = await prove(parts, request, email=visitor.email, password=form.exact("email_password"))
            counted = mail_subjects(parts, request, new_email)
            if await parts.database.write_relaxed(throttles.seconds_to_wait, counted, now=datetime.now(UTC)):
                raise TooMuchMail
        except PasswordRefused as error:
            status, errors["email_password"] = error.status, error.of_password
        except TooMuchMail as error:
            status, errors["new_email"] = 429, error.sentence
    if errors:
        return await show_settings(request, parts, visitor, status, errors=errors, values=typed)
    asked = await write_and_send(
        parts,
        logins.ask_for_change,
        letterhead(parts.settings),
        credentials=proven,
        session_id=visitor.session_id,
        new_email=new_email,
        now=datetime.now(UTC),
    )
    return redirect("/settings", "change_mailed") if asked else _sign_in_again(parts)


@router.post("/settings/password")
async def change_password(request: Request, form: SentForm, parts: Parts, visitor: Visitor) -> Response:
    """Use another password from now on; every other browser is signed out."""
    new = form.exact("new_password")
    try:
        check_password(new, email=visitor.email)
    except ValueError as error:
        return await show_settings(request, parts, visitor, 422, errors={"new_password": str(error)})
    try:
        proven = await prove(parts, request, email=visitor.email, password=form.exact("old_password"))
    except PasswordRefused as error:
        return await show_settings(request, parts, visitor, error.status, errors={"old_password": error.of_password})
    password_hash = await parts.passwords.hash(new)
    token = await write_and_send(
        parts,
        logins.change_password,
        letterhead(parts.settings),
        credentials=proven,
        session_id=visitor.session_id,
        password_hash=password_hash,
        now=datetime.now(UTC),
    )
    if token is None:
        return _sign_in_again(parts)
    answer = redirect("/settings", "password_saved")
    set_cookie(answer, SESSION, token, parts.settings.dashboard)
    return answer


@router.post("/settings/sessions/end-others")
async def end_others(parts: Parts, visitor: Visitor) -> Response:
    """Sign out every browser but this one."""
    await parts.database.write(sessions.end_sessions, account_id=visitor.account_id, but=visitor.session_id)
    return redirect("/settings", "others_signed_out")


@router.post("/settings/sessions/{sessionId}/end")
async def end_one(parts: Parts, account_id: AccountId, sessionId: str) -> Response:
    """Sign one browser out."""
    session_id = read_id(sessionId, "There is no such browser.")
    await parts.database.write(sessions.end_session, account_id=account_id, session_id=session_id)
    return redirect("/settings", "session_ended")


@router.get("/settings/erase")
async def ask_to_erase(request: Request) -> Response:
    """What is deleted, and what stays."""
    return _erase_page(request)


@router.post("/settings/erase")
async def erase(request: Request, form: SentForm, parts: Parts, visitor: Visitor) -> Response:
    """Shut the account for good, and have everything it stored deleted."""
    if form.text("word").lower() != WORD:
        return _erase_page(request, 422, {"word": f"Type the word {WORD}."})
    try:
        proven = await prove(parts, request, email=visitor.email, password=form.exact("password"))
    except PasswordRefused as error:
        return _erase_page(request, error.status, {"password": error.of_password})

    def begin(session: Session) -> bool:
        account = logins.lock_proven_account(session, credentials=proven, session_id=visitor.session_id)
        if account is None:
            return False
        now = datetime.now(UTC)
        return erasing.begin(session, parts.digester, account_id=account.id, erased_by=account.id, now=now)

    if not await parts.database.write(begin):
        return _sign_in_again(parts)
    await erasing.start(parts.temporal, visitor.account_id)
    answer = page(request, "settings/erased.html")
    clear_cookie(answer, SESSION, parts.settings.dashboard)
    return answer


def _sign_in_again(parts: ApiParts) -> Response:
    """What a session that is over is answered, where it or the password ended while the form was worked on."""
    answer = redirect("/log-in", "signed_in_elsewhere")
    clear_cookie(answer, SESSION, parts.settings.dashboard)
    return answer


def _erase_page(request: Request, status: int = 200, errors: dict[str, str] | None = None) -> Response:
    return page(request, "settings/erase.html", status, errors=errors or {}, word=WORD)
