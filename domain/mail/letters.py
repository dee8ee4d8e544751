"""What is mailed to owners: one function a letter, plain text."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

PAGES = "/dashboard"


@dataclass(frozen=True)
class Letter:
    """A message before it has somebody to go to."""

    subject: str
    body: str


@dataclass(frozen=True)
class Letterhead:
    """Who writes.

    Attributes:
        name: What the service calls itself.
        base_url: Where browsers find it, without a slash at the end.
    """

    name: str
    base_url: str

    def link(self, page: str, **query: str) -> str:
        """Address of a page of the dashboard."""
        return f"{self.base_url}{PAGES}/{page}{'?' + urlencode(query) if query else ''}"

    def letter(self, subject: str, *paragraphs: str) -> Letter:
        """A letter of these paragraphs."""
        return Letter(subject, "\n\n".join([*paragraphs, f"{self.name}\n{self.base_url}"]) + "\n")


def verify_letter(head: Letterhead, *, token: str, trial: str) -> Letter:
    """To whoever has signed up. ``trial`` says in a sentence what comes free; it may be empty."""
    return head.letter(
        f"Confirm your address for {head.name}",
        f"You (or someone using this address) signed up for {head.name}. Confirm the address within 48 hours:",
        head.link("verify", token=token),
        *([trial] if trial else []),
        "If you did not sign up, ignore this message: the link is useless without the password chosen at sign-up, and "
        "we delete the address after a week.",
    )


def have_account_letter(head: Letterhead) -> Letter:
    """To whoever has signed up again, or asked for somebody else's account to be moved here."""
    return head.letter(
        f"You have an account with {head.name}",
        f"You (or someone using this address) tried to open an account with {head.name}, but there already is one. "
        "Sign in here:",
        head.link("log-in"),
        "If you have no password or forgot it, choose a new one here:",
        head.link("forgot"),
        "If it was not you, ignore this message. Nothing has changed.",
    )


def reset_letter(head: Letterhead, *, token: str) -> Letter:
    """To whoever does not know the password."""
    return head.letter(
        f"Choose a new password for {head.name}",
        "Choose a new password here within an hour. This signs out every browser.",
        head.link("reset", token=token),
        "If you did not ask for this, ignore this message. Your password stays as it is.",
    )


def password_changed_letter(head: Letterhead) -> Letter:
    """To the owner, after the password was changed."""
    return head.letter(
        f"Your password for {head.name} was changed",
        "The password of your account was just changed, and all other browsers were signed out.",
        "If it was not you, choose a new password now:",
        head.link("forgot"),
    )


def change_letter(head: Letterhead, *, token: str) -> Letter:
    """To the new address of an account."""
    return head.letter(
        f"Confirm your new address for {head.name}",
        f"The owner of an account with {head.name} wants to use this address for it. Confirm it here within 24 hours:",
        head.link("change-address", token=token),
        "If this is not your account, ignore this message.",
    )


def change_asked_letter(head: Letterhead, *, new_email: str) -> Letter:
    """To the present address, before anything is changed."""
    return head.letter(
        f"Your address for {head.name} is about to change",
        f"Somebody who is signed in to your account wants to change its address to {new_email}. It changes once that "
        "address is confirmed.",
        "If it was not you, choose a new password now. That stops the change and signs out every browser:",
        head.link("forgot"),
    )


def changed_letter(head: Letterhead, *, new_email: str) -> Letter:
    """To the address that an account had until now."""
    return head.letter(
        f"Your address for {head.name} was changed",
        f"The address of your account is now {new_email}. Mail about it goes there.",
        f"If it was not you, contact the operator of {head.name}.",
    )
