"""Whose share of a worker's decoders a step takes."""

from __future__ import annotations

from temporalio import activity


def holder() -> str:
    """The account whose run this step belongs to, as its fairness key says; a run that has none stands for itself."""
    info = activity.info()
    return info.priority.fairness_key or info.workflow_id or info.activity_id
