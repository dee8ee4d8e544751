"""What probes report, and the words that several of them use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from runtime.settings import Settings, TemporalSettings

Level = Literal["ok", "warning", "error", "skipped"]


@dataclass(frozen=True)
class Finding:
    """One line of a diagnosis.

    Attributes:
        level: ``error`` if the service cannot do its work, ``warning`` if it soon may not, or if this may be intended.
        sentence: What was found; why nothing was looked at, if skipped.
        remedy: What to do about it; a command where there is one. None if all is well, or skipped.
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


class Stop(Exception):  # it ends a probe, and is no fault of the program
    """A finding after which a probe can look no further: ``others`` are skipped for the reason."""

    def __init__(self, finding: Finding, reason: str, others: Iterable[Subject]) -> None:
        self.findings = (finding, *(subject.skipped(reason) for subject in others))


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


def options_of(settings: TemporalSettings) -> str:
    """The options of the `temporal` command for this server and namespace."""
    return f"--address {settings.address} --namespace {settings.namespace}"


def lines_of(findings: Sequence[Finding]) -> list[str]:
    """The findings for a person to read."""
    widest = max(len(finding.subject) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{finding.level:<8} {finding.subject:<{widest}}  {finding.sentence}")
        if finding.remedy:
            lines.append(f"{'':<8} {'':<{widest}}  → {finding.remedy}")
    errors, warnings = (sum(finding.level == level for finding in findings) for level in ("error", "warning"))
    verdict = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}." if errors or warnings else "All is well."
    return [*lines, "", verdict]
