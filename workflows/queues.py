"""Names that several processes have to agree on: task queues, workflow ids, search attributes."""

from __future__ import annotations

from temporalio.common import SearchAttributeKey

CPU_QUEUE = "tryon-cpu"
"""Workflows, downloads, encoding, bookkeeping."""

GPU_QUEUE = "tryon-gpu"
"""Segmentation and rendering."""

ACCOUNT_ATTRIBUTE = SearchAttributeKey.for_keyword("TryOnAccount")
STAGE_ATTRIBUTE = SearchAttributeKey.for_keyword("TryOnStage")
ENGINE_ATTRIBUTE = SearchAttributeKey.for_keyword("TryOnEngine")
SEARCH_ATTRIBUTES = (ACCOUNT_ATTRIBUTE, STAGE_ATTRIBUTE, ENGINE_ATTRIBUTE)

INTERACTIVE_PRIORITY = 2
"""Priority keys go from 1 (first) to 5; jobs that somebody waits for stand before backfills (4)."""

BULK_PRIORITY = 4
"""Imports and backfills: many at once, and nobody waits for a single one."""


def tryon_workflow_id(job_id: str) -> str:
    """The one workflow that may ever run for a job."""
    return f"tryon-{job_id}"


def watermark_workflow_id(account_id: str) -> str:
    """The one run at a time that sets an account's watermark."""
    return f"tryon-watermark-{account_id}"


def registration_workflow_id(registration_id: str) -> str:
    """The one run that adds or changes a product."""
    return f"tryon-product-{registration_id}"
