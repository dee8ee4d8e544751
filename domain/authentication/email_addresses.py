"""Addresses of mail: which are taken at sign-up, in which spelling they are kept, and which belong to one mailbox.

There is one trial for each mailbox.
"""

from __future__ import annotations

import re
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from domain.access.keys import KeyDigester
from domain.tables import TrialTaken, insert_unless_there

GMAIL, GMAIL_NAMES = "gmail.com", ("gmail.com", "googlemail.com")  # there, dots before the ``@`` mean nothing

_ATOM = r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
"""RFC 5321's dot-string, of which all addresses in use are; not its quoted strings."""
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def spelling(text: str) -> str:
    """The one spelling that an address is looked for in: lower case, no space around it, the host in ASCII.

    What is no address comes back as it is, in lower case: it will not be found.
    """
    text = text.strip().lower()
    local, _, host = text.rpartition("@")
    if host.isascii():
        return text
    try:
        return f"{local}@{host.encode('idna').decode('ascii')}"
    except UnicodeError:
        return text


def address_to_keep(text: str) -> str:
    """The spelling of an address that somebody signs up with.

    Hosts within a company (``ann@mail.local``) are taken; whether mail arrives is found out by sending some.

    Raises:
        ValueError: It is not an address, with a sentence for the person who typed it.
    """
    email = spelling(text)
    local, _, host = email.rpartition("@")
    labels = host.split(".")
    if not (
        _LOCAL.fullmatch(local)
        and len(local) <= 64
        and len(host) <= 253
        and len(labels) > 1
        and all(_LABEL.fullmatch(label) for label in labels)
        and not labels[-1].isdigit()
    ):
        raise ValueError("This is not an e-mail address that mail can be sent to.")
    return email


def mailbox_of(email: str) -> str:
    """What all addresses of one mailbox have in common: no plus-tag, and no dots where they mean nothing."""
    local, _, host = spelling(email).rpartition("@")
    local = local.partition("+")[0] or local
    return f"{local.replace('.', '')}@{GMAIL}" if host in GMAIL_NAMES else f"{local}@{host}"


def take_trial(session: Session, digester: KeyDigester, *, email: str, now: datetime) -> bool:
    """Note that the mailbox of this address has its trial; says whether it is the first.

    It is remembered beyond the account, as a keyed digest that tells nothing about the address.
    Where two addresses of one mailbox are verified at the same moment, one of them is first. A mailbox that had its
    trial under a pepper that is not accepted any more is forgotten.
    """
    text = f"trial of {mailbox_of(email)}"
    if session.scalar(select(TrialTaken.digest).where(TrialTaken.digest.in_(digester.accepted(text)))):
        return False
    row = {"digest": digester.digest(text), "taken_at": now}
    statement = insert_unless_there(session, TrialTaken, row).returning(TrialTaken.digest)
    return session.execute(statement).scalar_one_or_none() is not None
