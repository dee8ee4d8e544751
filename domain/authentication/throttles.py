"""Brute force and mail bombing: how often something was tried for one address of mail, or from one network.

A try is counted before its outcome is known, in a transaction of its own, and forgiven when it succeeds. Whoever sends
many at once is therefore counted for each of them before the first is answered. Rows hold digests: they tell neither
who tried to sign in nor from where.
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from domain.access.keys import KeyDigester
from domain.tables import LoginThrottle, insert_unless_there, rows_changed

SIGN_IN, MAIL = "sign-in", "mail"  # what is tried

_HALF = 32  # hexadecimal digits of 64


@dataclass(frozen=True)
class Limit:
    """How often something may be tried.

    Attributes:
        free: Tries without any wait between them.
        locked_at: Tries after which `lock` is the wait; between the two it doubles with every try, from 2 s on.
        lock: The longest wait.
        forgotten_after: A quiet time after which everything begins anew.
    """

    free: int
    locked_at: int
    lock: timedelta
    forgotten_after: timedelta

    def wait_after(self, tries: int) -> timedelta:
        """How long after the last of so many tries the next one may come."""
        if tries < self.free:
            return timedelta(0)
        if tries >= self.locked_at:
            return self.lock
        return timedelta(seconds=min(self.lock.total_seconds(), 2 ** (tries - self.free + 1)))


DAY, HOUR = timedelta(days=1), timedelta(hours=1)

SIGN_IN_PER_PAIR = Limit(5, 10, timedelta(minutes=15), DAY)
"""For one address of mail from one network: 5 for somebody who mistypes, and then 10 + 96 in a day at most. What is
tried from elsewhere does not count here, so nobody can lock out an owner whose network did nothing wrong."""

SIGN_IN_PER_NETWORK = Limit(50, 100, timedelta(minutes=15), DAY)  # behind one network may be a whole company

SIGN_IN_BY_STRANGERS = Limit(1000, 1005, timedelta(minutes=1), DAY)
"""For one address of mail from all networks together, and only those wait for it that have earned it: see
`sign_in_wait`. More than 8 networks manage in a day (8 times 106 is 848); then a try a minute, 1440 a day. Passwords
that many people have are refused (`domain.authentication.passwords`), so some thousand guesses find next to none."""

CLEAN_TRIES = 2
"""For one address of mail, so many tries from a network are looked at whatever is tried from others: the owner's own,
from a hotel, with one slip of the finger."""

MOST_BY_CLEAN_NETWORKS = 10_000
"""In a day; whoever has thousands of networks has no more guesses than these and a try a minute. From then on only
networks that the owner has signed in from are looked at without waiting."""

MAIL_PER_ADDRESS = Limit(3, 3, HOUR, HOUR)
MAIL_PER_NETWORK = Limit(20, 20, HOUR, HOUR)


@dataclass(frozen=True)
class Subject:
    """What is counted: a digest, and what holds for it."""

    digest: str
    limit: Limit


@dataclass(frozen=True)
class SignInTries:
    """What a try to sign in counts for: its address and network together, the network, and the address."""

    pair: Subject
    network: Subject
    everywhere: Subject

    @classmethod
    def of(cls, digester: KeyDigester, *, email: str, address: str) -> Self:
        """The tries of an address of mail from an IP address."""
        return cls(
            address_subject(digester, SIGN_IN, SIGN_IN_PER_PAIR, email=email, network=network_of(address)),
            network_subject(digester, SIGN_IN, SIGN_IN_PER_NETWORK, address=address),
            address_subject(digester, SIGN_IN, SIGN_IN_BY_STRANGERS, email=email),
        )


def address_subject(digester: KeyDigester, what: str, limit: Limit, *, email: str, network: str = "") -> Subject:
    """Tries for one address of mail, in whatever spelling: from everywhere, or from one network alone.

    The first half of the digest tells of the address alone: by it, all that is counted for one is found again.
    """
    where = digester.digest(f"throttle {what} from {network}")
    return Subject(digester.digest(_of_address(what, email))[:_HALF] + where[-_HALF:], limit)


def network_subject(digester: KeyDigester, what: str, limit: Limit, *, address: str) -> Subject:
    """Tries from the network of an IP address."""
    return Subject(digester.digest(f"throttle {what} network {network_of(address)}"), limit)


def sign_in_wait(session: Session, tries: SignInTries, *, known_network: bool, now: datetime) -> int:
    """Count a try to sign in, unless it has to wait.

    It waits for its own network's tries always. For those of all others only if the owner has no session from this
    network, and it has used up its clean tries or the whole address has seen too many of those.

    Returns:
        Whole seconds to wait; 0 if the try may go on.
    """
    own, everywhere = tries.pair, tries.everywhere
    counted = {row.subject: row for row in _rows(session, (own, everywhere))}

    def failures(subject: Subject) -> int:
        row = counted.get(subject.digest)
        stands = row is not None and now - row.last_failed_at < subject.limit.forgotten_after
        return row.failures if row is not None and stands else 0

    is_clean = failures(own) < CLEAN_TRIES and failures(everywhere) < MOST_BY_CLEAN_NETWORKS
    if not known_network and not is_clean:
        return seconds_to_wait(session, (own, tries.network, everywhere), now=now)
    return seconds_to_wait(session, (own, tries.network), now=now, counted_too=(everywhere,))


def network_of(address: str) -> str:
    """The /24 of an IPv4 address, the /64 of an IPv6 address: what one customer has at least."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return str(ipaddress.ip_network((ip, 24 if ip.version == 4 else 64), strict=False))


def seconds_to_wait(
    session: Session, subjects: Sequence[Subject], *, now: datetime, counted_too: Sequence[Subject] = ()
) -> int:
    """Count a try for each subject, unless one of them has to wait: then nothing is counted.

    Nobody here waits for what is ``counted_too``. Others with the same subject wait until the transaction ends.

    Returns:
        Whole seconds to wait; 0 if the try may go on.
    """
    in_order = sorted((*subjects, *counted_too), key=lambda each: each.digest)
    held = [(each, _lock(session, each.digest, now)) for each in in_order]
    longest = timedelta(0)
    for subject, row in held:
        # A time in the future was written before the clock jumped back; nobody waits longer for it.
        row.last_failed_at = min(row.last_failed_at, now)
        if now - row.last_failed_at >= subject.limit.forgotten_after:
            row.failures = 0
        if subject not in counted_too:
            longest = max(longest, row.last_failed_at + subject.limit.wait_after(row.failures) - now)
    if longest > timedelta(0):
        for _, row in held:
            if row.failures == 0:  # it tells nothing, and whoever has to wait could make as many as there are addresses
                session.delete(row)
        return math.ceil(longest.total_seconds())
    for _, row in held:
        row.failures += 1
        row.last_failed_at = now
    return 0


def forgive(session: Session, *, wholly: Sequence[Subject], once: Sequence[Subject] = ()) -> None:
    """Take back what was counted for a try that succeeded: all of a subject's tries, or this one alone.

    A network's tries are forgiven one by one: who has one account of his own cannot guess at others forever.
    """
    cleared = {each.digest for each in wholly}
    for row in _rows(session, (*wholly, *once), lock=True):
        row.failures = 0 if row.subject in cleared else max(0, row.failures - 1)


def forget_address(session: Session, digester: KeyDigester, *whats: str, email: str) -> None:
    """Forget whatever was counted for an address of mail: its owner has shown to be its owner, or is gone."""
    for what in whats:
        for digest in digester.accepted(_of_address(what, email)):
            of_address = LoginThrottle.subject.startswith(digest[:_HALF], autoescape=True)
            rows_changed(session, delete(LoginThrottle).where(of_address))


def forget_old(session: Session, *, now: datetime) -> int:
    """Delete what no longer counts; returns how many there were."""
    return rows_changed(session, delete(LoginThrottle).where(LoginThrottle.last_failed_at <= now - DAY))


def _of_address(what: str, email: str) -> str:
    return f"throttle {what} address {email.strip().lower()}"


def _rows(session: Session, subjects: Sequence[Subject], *, lock: bool = False) -> Sequence[LoginThrottle]:
    digests = sorted(each.digest for each in subjects)
    in_order = select(LoginThrottle).where(LoginThrottle.subject.in_(digests)).order_by(LoginThrottle.subject)
    return session.execute(in_order.with_for_update() if lock else in_order).scalars().all()


def _lock(session: Session, digest: str, now: datetime) -> LoginThrottle:
    values = {"subject": digest, "failures": 0, "last_failed_at": now}
    look = select(LoginThrottle).where(LoginThrottle.subject == digest).with_for_update()
    while True:
        session.execute(insert_unless_there(session, LoginThrottle, values))
        row = session.execute(look.execution_options(populate_existing=True)).scalar_one_or_none()
        if row is not None:  # it may have been forgotten between the two
            return row
