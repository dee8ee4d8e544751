"""Which jobs the address of the list asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from domain.jobs.job_history import JobFilter

STATUSES = {"completed": "Completed", "failed": "Failed", "processing": "In progress"}
KINDS = {"single": "Single", "combo": "Combo"}
MODES = {"live": "Live", "test": "Test"}

FIELDS = ("status", "kind", "error", "mode", "from", "to")

_YEARS = range(2000, 3000)
"""What databases and calendars have no trouble with."""


@dataclass(frozen=True)
class AskedFilter:
    """What was asked, and what is wrong with it.

    Attributes:
        values: By field, as it was sent.
        errors: Sentences, by field.
        wanted: What is right of it.
    """

    values: dict[str, str]
    errors: dict[str, str]
    wanted: JobFilter

    @property
    def active(self) -> bool:
        """Whether anything was asked."""
        return any(self.values.values())


def read_filter(query: Mapping[str, str], error_codes: Sequence[str]) -> AskedFilter:
    """Read the fields of an address; empty ones ask for nothing.

    Args:
        query: Its query.
        error_codes: Those that may be asked for.
    """
    values = {name: query.get(name, "").strip() for name in FIELDS}
    errors: dict[str, str] = {}
    choices = {"status": STATUSES, "kind": KINDS, "error": error_codes, "mode": MODES}
    for name, known in choices.items():
        if values[name] and values[name] not in known:
            errors[name] = "Choose one from the list."
    first, last = (_day(values, name, errors) for name in ("from", "to"))
    if first and last and last < first:
        errors["to"] = "The last day is before the first."
    chosen = {name: values[name] if values[name] and name not in errors else None for name in choices}
    wanted = JobFilter(
        status=chosen["status"],
        kind=chosen["kind"],
        error_code=chosen["error"],
        since=None if first is None else _midnight(first),
        until=None if last is None else _midnight(last + timedelta(days=1)),
        test=None if chosen["mode"] is None else chosen["mode"] == "test",
    )
    return AskedFilter(values, errors, wanted)


def _day(values: Mapping[str, str], name: str, errors: dict[str, str]) -> date | None:
    if not values[name]:
        return None
    try:
        day = date.fromisoformat(values[name])
    except ValueError:
        day = None
    if day is None or day.year not in _YEARS:
        errors[name] = "Write the day like 2026-03-31."
        return None
    return day


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
