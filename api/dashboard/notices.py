"""Sentences that a page shows once after something was done. The address names them; it cannot make one up."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Notice(NamedTuple):
    """One of them, and how it looks."""

    sentence: str
    tone: Literal["good", "bad", "plain"] = "good"


NOTICES: dict[str, Notice] = {
    # Entrance
    "signed_out": Notice("You are signed out.", "plain"),
    "signed_in_elsewhere": Notice("Sign in to go on.", "plain"),
    # API keys
    "key_revoked": Notice("The key is revoked. Calls with it are refused from now on."),
}
