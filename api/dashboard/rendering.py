"""From a template to an answer, with the sentence that a page shows once after something was done.

The address names that sentence; it cannot make one up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from api.dashboard.visitor import form_token_of, possible_visitor
from api.parts import parts_of
from api.routes import PAGES


class Notice(NamedTuple):
    """One of them, and how it looks."""

    sentence: str
    tone: Literal["good", "bad", "plain"] = "good"


NOTICES: dict[str, Notice] = {
    # Entrance
    "signed_out": Notice("You are signed out.", "plain"),
    "signed_in_elsewhere": Notice("Sign in to continue.", "plain"),
    "verified": Notice("Your address is confirmed. Welcome."),
    "verified_without_trial": Notice(
        "Your address is confirmed. You have already used the free trial, so choose a plan to continue.", "plain"
    ),
    "password_changed": Notice("Your password was changed. Sign in with the new one."),
    "address_changed": Notice("Your address was changed. Mail now goes to the new one."),
    "mail_sent": Notice("We sent another link. Earlier links no longer work."),
    "too_much_mail": Notice("We sent several links in the last hour. Check your mail, or try again later.", "bad"),
    # Jobs
    "job_deleted": Notice("Picture and inputs are deleted. The billing record stays."),
    "job_deleted_soon": Notice("The picture is out of reach and is deleted within minutes. The billing record stays."),
    "job_gone_already": Notice("There is nothing left to delete for this job.", "plain"),
    # Admin pages
    "account_blocked": Notice("The account is blocked. Its jobs in progress were cancelled and are not billed."),
    "account_unblocked": Notice("The account is unblocked."),
    "plan_changed": Notice("The account is now on this plan."),
    "pack_credited": Notice("The pack is credited."),
    "operator_changed": Notice("Done. The owner has to sign in again."),
    "payment_approved": Notice("The payment is approved and the order is credited."),
    "payment_rejected": Notice("The payment is rejected."),
    "payment_decided_before": Notice("This payment was already decided. Nothing was changed.", "plain"),
    "ledger_check_started": Notice("The ledger check has started. Its result appears here in a moment."),
    "ledger_check_not_started": Notice("Temporal did not answer, so the check was not started.", "bad"),
    # API keys
    "key_changed": Notice("The key is changed."),
    "key_revoked": Notice("The key is revoked and no longer works."),
    # Webhooks
    "webhook_created": Notice("The endpoint is added. Copy its secret to your server, then send an example."),
    "webhook_changed": Notice("The endpoint is changed."),
    "webhook_on": Notice("The endpoint is switched on."),
    "webhook_off": Notice("The endpoint is switched off.", "plain"),
    "webhook_rotated": Notice("There is a new secret. Both sign messages for 24 hours."),
    "webhook_sending": Notice("It is being sent. Reload the page to see how it went.", "plain"),
    "webhook_deleted": Notice("The endpoint is deleted."),
    # Comparisons
    "comparison_started": Notice("The sheet is being drawn."),
    "comparison_deleted": Notice("The comparison is deleted."),
    # Billing
    "order_placed": Notice("Your order is placed."),
    "order_withdrawn": Notice("The order is withdrawn.", "plain"),
    "order_closed": Notice("This order was already closed.", "plain"),
    "payment_returned": Notice(
        "Thank you. We credit the order when the payment is confirmed, usually within a minute.", "plain"
    ),
    # Products
    "product_created": Notice("The product is registered."),
    "product_saved": Notice("The product is saved."),
    "product_archived": Notice("The product is archived. You can bring it back at any time.", "plain"),
    "product_active": Notice("The product can be tried on again."),
    # Settings
    "logo_on": Notice("Results now carry your logo."),
    "logo_off": Notice("Results no longer carry your logo. We keep the logo."),
    "logo_kept": Notice("The logo is saved but not on results yet. Check it below, then turn it on."),
    "logo_removed": Notice("The logo is deleted. Results no longer carry one."),
    "logo_takes_long": Notice("The logo is still being fetched. Reload the page in a minute.", "plain"),
    "retention_saved": Notice("Saved. Applies to jobs that finish from now on."),
    "change_mailed": Notice("We sent a link to the new address. Open it to confirm the change."),
    "password_saved": Notice("Your password was changed, and all other browsers were signed out."),
    "session_ended": Notice("That browser was signed out."),
    "others_signed_out": Notice("All other browsers were signed out."),
}

HERE = Path(__file__).parent

STATIC = HERE / "static"

NOTHING = "—"
"""Where there is no value."""

YEAR_SECONDS = 365 * 24 * 3600


def page(request: Request, template: str, status: int = 200, **context: object) -> HTMLResponse:
    """Render a template, named by its path below ``templates/``; ``context`` is what it knows besides every page."""
    html = (
        environment()
        .get_template(template)
        .render(
            request_path=request.scope["path"],
            visitor=possible_visitor(request),
            token=form_token_of(request),
            notice=NOTICES.get(request.query_params.get("notice", "")),
            service_name=parts_of(request).settings.dashboard.name,
            **context,
        )
    )
    return HTMLResponse(html, status)


def redirect(path: str, notice: str | None = None, **query: str) -> RedirectResponse:
    """Send the browser on to a page such as ``/keys``, after a POST too; one of `NOTICES` may be shown there.

    Raises:
        KeyError: There is no such notice.
    """
    if notice is not None:
        NOTICES[notice]
        query["notice"] = notice
    return RedirectResponse(f"{PAGES}{path}{'?' + urlencode(query) if query else ''}", 303)


def wants_json(request: Request) -> bool:
    """Whether a script has asked, not a person."""
    return request.headers.get("Accept", "").startswith("application/json")


@cache
def environment() -> Environment:
    """The templates, and what they can do."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(when=when, day=day, money=money, number=number, milliseconds=milliseconds)
    made.filters.update(plan=plan_label, bytes=size, duration=duration)
    made.globals.update(static=static_url)
    return made


def when(moment: datetime | None) -> str:
    """A moment, in UTC until a script puts it into the reader's own time."""
    if moment is None:
        return NOTHING
    utc = moment.astimezone(UTC)
    return Markup('<time datetime="{}" data-local>{}</time>').format(
        utc.strftime("%Y-%m-%dT%H:%M:%SZ"), f"{utc.day} {utc:%b %Y, %H:%M} UTC"
    )


def day(moment: datetime) -> str:
    """The day of a moment, in UTC."""
    utc = moment.astimezone(UTC)
    return f"{utc.day} {utc:%B %Y}"


def money(cents: int | None) -> str:
    """US cents as dollars."""
    return NOTHING if cents is None else f"${Decimal(cents) / 100:,.2f}"


def number(value: int | None) -> str:
    """A count, with thousands apart."""
    return NOTHING if value is None else f"{value:,}"


def milliseconds(value: float | None) -> str:
    """A duration, in seconds where that reads better."""
    if value is None:
        return NOTHING
    return f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s"


def duration(seconds: int) -> str:
    """Whole seconds, in the largest unit that they fill."""
    for length, unit in ((24 * 3600, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= length and seconds % length == 0:
            count = seconds // length
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{seconds} second{'' if seconds == 1 else 's'}"


def plan_label(name: str) -> str:
    """A plan's name for people."""
    return name.replace("_", " ").replace("-", " ").capitalize()


def size(count: int) -> str:
    """Bytes, in the unit that reads best."""
    if count < 1024 * 1024:
        return f"{max(1, round(count / 1024))} KB"
    return f"{count / 1024 / 1024:.1f} MB"


def as_sentence(words: object) -> str:
    """What an error says, with a capital letter and a full stop."""
    text = str(words)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def query_with(request_query: Mapping[str, str], path: str, /, **changes: object) -> str:
    """The address of a page, such as ``/jobs``, with fields of a query changed; None and the empty text leave one out.

    A query alone would lead to the address that was asked for, which is another where a page answers a form.
    """
    fields = {**request_query, **changes}
    kept = {name: str(value) for name, value in fields.items() if value not in (None, "") and name != "notice"}
    return f"{PAGES}{path}?{urlencode(kept)}"


@cache
def kept_address(folder: Path, path: str, name: str) -> str:
    """Address below ``path`` of a file that changes with what it holds, so that browsers may keep it for good.

    Raises:
        FileNotFoundError: There is none in the folder.
    """
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()[:12]
    return str(escape(f"{path}/{name}?v={digest}"))


static_url = partial(kept_address, STATIC, f"{PAGES}/static")
"""Address of a file of ``static/``."""


class KeptStaticFiles(StaticFiles):
    """Files that browsers keep: their addresses change with them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, or 404."""
        response = await super().get_response(path, scope)
        if response.status_code == 200:
            response.headers["Cache-Control"] = f"public, max-age={YEAR_SECONDS}, immutable"
        return response
