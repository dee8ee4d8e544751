"""Clocks of other hosts against this one's."""

from __future__ import annotations

from datetime import datetime, timedelta

from cli.diagnosis.findings import Finding, Subject

WORTH_A_WORD = timedelta(seconds=5)
"""Deadlines, rates and expiry are reckoned by the clocks of several hosts; seconds do no harm yet."""

TOO_FAR = timedelta(minutes=5)
"""As long as a job may take. An S3 service refuses signatures that are 15 minutes off."""


def judged(subject: Subject, theirs: datetime, before: datetime, after: datetime) -> Finding:
    """How far a clock is from ours, which was read before and after it was asked."""
    skew = theirs - (before + (after - before) / 2)
    off = f"{abs(skew).total_seconds():.1f} s {'ahead of' if skew > timedelta(0) else 'behind'} this host's"
    if abs(skew) < WORTH_A_WORD:
        return subject.ok("agrees with this host's within seconds")
    level = subject.error if abs(skew) >= TOO_FAR else subject.warning
    return level(f"is {off}", "Keep every host's clock with NTP; look here with: timedatectl status")
