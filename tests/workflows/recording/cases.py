"""Every case there is. A workflow's cases lie in a module of their own, whose ``CASES`` are added here."""

from __future__ import annotations

from temporalio import workflow

from tests.workflows.recording import (
    backfill_cases,
    check_cases,
    erasure_cases,
    import_cases,
    logo_cases,
    mail_cases,
    product_cases,
    sweep_cases,
    tryon_cases,
    webhook_cases,
)
from worker_cpu.main import WORKFLOWS

CASES = (
    *tryon_cases.CASES,
    *product_cases.CASES,
    *logo_cases.CASES,
    *sweep_cases.CASES,
    *backfill_cases.CASES,
    *erasure_cases.CASES,
    *mail_cases.CASES,
    *import_cases.CASES,
    *check_cases.CASES,
    *webhook_cases.CASES,
)

UNRELEASED: frozenset[str] = frozenset()
"""Workflows that no release has had yet, so that no run of theirs can be open anywhere. Whoever releases one takes its
name away here; from then on a test asks for its cases and their histories."""


def released() -> dict[str, type]:
    """Registered name to class of every workflow that has been released."""
    by_name = {workflow._Definition.must_from_class(registered).name or "": registered for registered in WORKFLOWS}
    return {name: registered for name, registered in by_name.items() if name not in UNRELEASED}
