"""Who looks at a page."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import cast

from fastapi import Request

VISITOR, FORM_TOKEN = "visitor", "form_token"
"""Where in the ASGI scope's state `api.dashboard.door` leaves what it knows."""


@dataclass(frozen=True)
class Visitor:
    """The owner of an account, in one browser.

    Attributes:
        verified: Whether mail to the address has been shown to arrive; without it there is nothing to see.
        operator: Whether the admin pages are open.
        blocked_reason: Why the account is blocked; None where it is not. A blocked account may look and do nothing.
    """

    session_id: uuid.UUID
    account_id: uuid.UUID
    email: str
    verified: bool
    operator: bool
    blocked_reason: str | None


def visitor_of(request: Request) -> Visitor:
    """Whoever is signed in; only for pages that the door opens to nobody else."""
    return cast("Visitor", request.scope["state"][VISITOR])


def possible_visitor(request: Request) -> Visitor | None:
    """Whoever is signed in, on pages that are for everybody."""
    return cast("Visitor | None", request.scope["state"][VISITOR])


def form_token_of(request: Request) -> str:
    """What a form on this page carries to show that it came from here."""
    return cast("str", request.scope["state"][FORM_TOKEN])
