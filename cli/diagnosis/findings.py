"""What probes report, and what several of them judge by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from runtime.settings import Settings

Level = Literal["ok", "warning", "error", "skipped"]


@dataclass(frozen=True)
class Finding:
    """One line of a diagnosis.

    Attributes:
        level: ``error`` for what keeps the service from its work, ``warning`` for what soon may, or may be meant so.
        sentence: What was found; why nothing was looked at, if skipped.
        remedy: What to do about it; a command where there is one. None for what is well or skipped.
    """

    subject: str
    level: Level
    sentence: str
    remedy: str | None = None


@dataclass(frozen=True)
class Subject:
    """Makes findings about one thing."""

    name: str

    def ok(self, sentence: str) -> Finding:
        return Finding(self.name, "ok", sentence)

    def skipped(self, reason: str) -> Finding:
        return Finding(self.name, "skipped", reason)

    def warning(self, sentence: str, remedy: str) -> Finding:
        return Finding(self.name, "warning", sentence, remedy)

    def error(self, sentence: str, remedy: str) -> Finding:
        return Finding(self.name, "error", sentence, remedy)


@dataclass(frozen=True)
class Case:
    """What is examined, and how thoroughly.

    Attributes:
        settings: Of this process: the embedded stack's, or a deployment's by its variables.
        ledger: Recompute every balance.
        weights: Read every file of weights and compare its digest.
        url: Public address of the API, if that is to be asked.
        key: API key for the public address; a test key lets a held poll be tried too.
    """

    settings: Settings
    ledger: bool = False
    weights: bool = False
    url: str | None = None
    key: str | None = None


def in_one_line(error: BaseException, longest: int = 200) -> str:
    """What an exception says, for a sentence; its type where it says nothing."""
    # SQLAlchemy wraps what the driver says in statements and links.
    text = " ".join(str(getattr(error, "orig", None) or error).split())
    return (text or type(error).__name__)[:longest]


def counted(number: int, thing: str) -> str:
    """``1 job``, ``2 jobs``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


WORTH_A_WORD = timedelta(seconds=5)
"""Deadlines, rates and expiry are reckoned by the clocks of several hosts; seconds do no harm yet."""

TOO_FAR = timedelta(minutes=5)  # As long as a job may take. An S3 service refuses signatures that are 15 minutes off.


def judged_clock(subject: Subject, theirs: datetime, before: datetime, after: datetime) -> Finding:
    """How far a clock is from ours, which was read before and after it was asked."""
    skew = theirs - (before + (after - before) / 2)
    off = f"{abs(skew).total_seconds():.1f} s {'ahead of' if skew > timedelta(0) else 'behind'} this host's"
    if abs(skew) < WORTH_A_WORD:
        return subject.ok("agrees with this host's within seconds")
    level = subject.error if abs(skew) >= TOO_FAR else subject.warning
    return level(f"is {off}", "Keep every host's clock with NTP; look here with: timedatectl status")
