"""What the admin pages read of a request alike."""

from __future__ import annotations

import uuid
from decimal import Decimal, InvalidOperation

from api.dashboard.forms import Form, PageRefused
from domain.accounts import OwnTerms

LARGEST_COUNT = 1_000_000_000
LARGEST_PRICE = Decimal(10_000_000)
"""US dollars. Columns hold a little more than both."""


class FieldRefusedError(ValueError):
    """A field of a form that cannot be used; the sentence is for the operator."""


def identifier(text: str, what: str) -> uuid.UUID:
    """An id from an address of a page.

    Raises:
        PageRefused: 404: it is none.
    """
    try:
        return uuid.UUID(text)
    except ValueError:
        raise PageRefused(404, f"There is no such {what}.") from None


def reason_of(form: Form, longest: int) -> str:
    """Why something is done.

    Raises:
        FieldRefusedError: It is empty or too long.
    """
    reason = form.text("reason")
    if not 1 <= len(reason) <= longest:
        raise FieldRefusedError(f"Give a reason of at most {longest} characters.")
    return reason


def own_terms_of(form: Form) -> OwnTerms:
    """What is agreed with one account alone; an empty field leaves what the plan says.

    Raises:
        FieldRefusedError: A field is no count or no amount.
    """
    return OwnTerms(
        included=_count(form, "included", "Included try-ons"),
        daily_cap=_count(form, "daily_cap", "The daily cap"),
        monthly_price=_dollars(form, "monthly_price", "The monthly price"),
        extra_price=_dollars(form, "extra_price", "The price of an extra try-on"),
    )


def _count(form: Form, name: str, called: str) -> int | None:
    text = form.text(name).replace(",", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or int(text) > LARGEST_COUNT:
        raise FieldRefusedError(f"{called} must be a whole number up to {LARGEST_COUNT:,}.")
    return int(text)


def _dollars(form: Form, name: str, called: str) -> Decimal | None:
    text = form.text(name).removeprefix("$").replace(",", "")
    if not text:
        return None
    try:
        amount = Decimal(text)
        fits = amount.is_finite() and 0 <= amount <= LARGEST_PRICE and amount == amount.quantize(Decimal("0.01"))
    except InvalidOperation:
        fits = False
    if not fits:
        raise FieldRefusedError(f"{called} must be an amount of US dollars up to {LARGEST_PRICE:,}, such as 149.00.")
    return amount
