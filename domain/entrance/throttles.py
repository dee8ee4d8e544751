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

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from domain.access.keys import KeyDigester
from domain.inserting import insert_unless_there
from domain.tables import LoginThrottle


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
        return min(self.lock, timedelta(seconds=2 ** (tries - self.free + 1)))


DAY, HOUR = timedelta(days=1), timedelta(hours=1)

SIGN_IN_PER_ADDRESS = Limit(5, 10, timedelta(minutes=15), DAY)
SIGN_IN_PER_NETWORK = Limit(50, 100, timedelta(minutes=15), DAY)
"""Behind one network may be a whole company."""
MAIL_PER_ADDRESS = Limit(3, 3, HOUR, HOUR)
MAIL_PER_NETWORK = Limit(20, 20, HOUR, HOUR)


@dataclass(frozen=True)
class Subject:
    """What is counted: a digest, and what holds for it."""

    digest: str
    limit: Limit


def address_subject(digester: KeyDigester, what: str, limit: Limit, *, email: str) -> Subject:
    """Tries for one address of mail, in whatever spelling."""
    return Subject(digester.digest(f"throttle {what} address {email.strip().lower()}"), limit)


def network_subject(digester: KeyDigester, what: str, limit: Limit, *, address: str) -> Subject:
    """Tries from the network of an IP address."""
    return Subject(digester.digest(f"throttle {what} network {network_of(address)}"), limit)


def network_of(address: str) -> str:
    """The /24 of an IPv4 address, the /64 of an IPv6 address: what one customer has at least."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return str(ipaddress.ip_network((ip, 24 if ip.version == 4 else 64), strict=False))


def seconds_to_wait(session: Session, subjects: Sequence[Subject], *, now: datetime) -> int:
    """Count a try for each subject, unless one of them has to wait: then nothing is counted.

    Others with the same subject wait until the transaction ends.

    Returns:
        Whole seconds to wait; 0 if the try may go on.
    """
    held = [(each, _lock(session, each.digest, now)) for each in sorted(subjects, key=lambda each: each.digest)]
    longest = timedelta(0)
    for subject, row in held:
        # A time in the future was written before the clock jumped back; nobody waits longer for it.
        row.last_failed_at = min(row.last_failed_at, now)
        if now - row.last_failed_at >= subject.limit.forgotten_after:
            row.failures = 0
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
    digests = sorted(each.digest for each in (*wholly, *once))
    in_order = select(LoginThrottle).where(LoginThrottle.subject.in_(digests)).order_by(LoginThrottle.subject)
    cleared = {each.digest for each in wholly}
    for row in session.execute(in_order.with_for_update()).scalars():
        row.failures = 0 if row.subject in cleared else max(0, row.failures - 1)


def forget_old(session: Session, *, now: datetime) -> int:
    """Delete what no longer counts; returns how many there were."""
    old = session.scalars(
        delete(LoginThrottle)
        .where(LoginThrottle.last_failed_at <= now - DAY)
        .returning(LoginThrottle.subject)
        .execution_options(synchronize_session=False)
    )
    return len(old.all())


def _lock(session: Session, digest: str, now: datetime) -> LoginThrottle:
    values = {"subject": digest, "failures": 0, "last_failed_at": now}
    look = select(LoginThrottle).where(LoginThrottle.subject == digest).with_for_update()
    while True:
        session.execute(insert_unless_there(session, LoginThrottle, values))
        row = session.execute(look.execution_options(populate_existing=True)).scalar_one_or_none()
        if row is not None:  # it may have been forgotten between the two
            return row
