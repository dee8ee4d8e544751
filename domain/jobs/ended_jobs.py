"""What is counted of jobs that end: left in the session whose transaction ends them, for after its commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from domain.tables import Job

ENDED = "ended_jobs"
"""Where in a session's ``info`` they lie."""

_STAGE = "stage_"
"""Begins the names of a report's timings that are those of the job's stages."""


@dataclass(frozen=True)
class EndedJob:
    """A job that has ended.

    Attributes:
        mode: ``live``, or ``test`` for one of a test key.
        reason: The error code of a failed one.
        stage_seconds: How long each stage of a completed one took, and ``total``.
    """

    kind: str
    mode: str
    outcome: str
    reason: str = ""
    stage_seconds: Mapping[str, float] = field(default_factory=dict)


def note_ended(session: Session, job: Job, *, outcome: str, values: Mapping[str, Any]) -> None:
    """Note that this transaction ends the job.

    Args:
        session: Its session.
        job: The row as it was.
        outcome: ``completed`` or ``failed``.
        values: What the row becomes.
    """
    ended = EndedJob(
        kind=job.kind,
        mode="test" if job.allowance_id is None else "live",
        outcome=outcome,
        reason=values.get("error_code", ""),
        stage_seconds=_stage_seconds(values),
    )
    session.info.setdefault(ENDED, []).append(ended)


def _stage_seconds(values: Mapping[str, Any]) -> dict[str, float]:
    timings: Mapping[str, int] = (values.get("report") or {}).get("timingsMs", {})
    spent = {name.removeprefix(_STAGE): each / 1000 for name, each in timings.items() if name.startswith(_STAGE)}
    return spent | ({"total": values["generation_ms"] / 1000} if "generation_ms" in values else {})
