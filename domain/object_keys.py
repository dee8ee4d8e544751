"""Where a job's pictures lie in the object store.

Keys follow from the job alone, so that a step that runs twice writes the same object twice.
"""

from __future__ import annotations

import uuid

JOBS, RESULTS = "jobs/", "results/"


def job_prefix(job_id: str) -> str:
    """Everything that goes when the job ends."""
    return f"{JOBS}{job_id}/"


def job_of_key(key: str) -> uuid.UUID | None:
    """Whose object this is, for keys that `job_prefix` begins."""
    try:
        return uuid.UUID(key.removeprefix(JOBS).partition("/")[0])
    except ValueError:
        return None


def input_key(job_id: str, name: str) -> str:
    """A picture that came with the request, as it came."""
    return f"{job_prefix(job_id)}input/{name}"


def work_key(job_id: str, name: str) -> str:
    """What one step leaves for the next."""
    return f"{job_prefix(job_id)}work/{name}"


def result_key(job_id: str) -> str:
    """The picture that the client fetches."""
    return f"{RESULTS}{job_id}.jpg"
