"""Names that several processes have to agree on: task queues, workflow ids, search attributes."""

from __future__ import annotations

from temporalio.common import SearchAttributeKey

CPU_QUEUE = "tryon-cpu"  # workflows, downloads, encoding, bookkeeping

GPU_QUEUE = "tryon-gpu"  # segmentation and rendering

GPU_BULK_QUEUE = "tryon-gpu-bulk"
"""The same for backfills, and for checks. In one queue their tasks would hold every place of a worker while a
customer's task waits to be handed out; the same workers poll both, and let what comes from this one wait."""

WEBHOOK_QUEUE = "tryon-webhooks"
"""Attempts to deliver webhooks, polled by the CPU worker. A receiver may take its whole time for an answer; in the CPU
queue many of them would hold the places of downloads and bookkeeping."""

ACCOUNT_ATTRIBUTE = SearchAttributeKey.for_keyword("TryOnAccount")
STAGE_ATTRIBUTE = SearchAttributeKey.for_keyword("TryOnStage")
ENGINE_ATTRIBUTE = SearchAttributeKey.for_keyword("TryOnEngine")
ERROR_ATTRIBUTE = SearchAttributeKey.for_keyword("TryOnError")
SEARCH_ATTRIBUTES = (ACCOUNT_ATTRIBUTE, STAGE_ATTRIBUTE, ENGINE_ATTRIBUTE, ERROR_ATTRIBUTE)

INTERACTIVE_PRIORITY = 2
"""Priority keys go from 1 (first) to 5; jobs that somebody waits for stand before backfills (4)."""

CHECK_PRIORITY = 3  # checks of pictures: they cost nothing, so jobs go first, but somebody waits for them

BULK_PRIORITY = 4  # imports and backfills: many at once, and nobody waits for a single one


def is_urgent(priority: int) -> bool:
    """Whether somebody waits for a job of this priority."""
    return priority < BULK_PRIORITY


def gpu_queue(priority: int) -> str:
    """Where a job of this priority is segmented and rendered."""
    return GPU_QUEUE if is_urgent(priority) else GPU_BULK_QUEUE


def tryon_workflow_id(job_id: str) -> str:
    """The one workflow that may ever run for a job."""
    return f"tryon-{job_id}"


def check_workflow_id(check_id: str) -> str:
    """The one run of a check of pictures."""
    return f"tryon-check-{check_id}"


def watermark_workflow_id(account_id: str) -> str:
    """The one run at a time that sets an account's watermark."""
    return f"tryon-watermark-{account_id}"


def erasure_workflow_id(account_id: str) -> str:
    """The one run at a time that erases an account."""
    return f"tryon-erase-{account_id}"


def mail_workflow_id(mail_id: str) -> str:
    """The one run at a time that sends a message."""
    return f"tryon-mail-{mail_id}"


def webhook_workflow_id(delivery_id: str) -> str:
    """The one run at a time that delivers a message to an endpoint."""
    return f"webhook-{delivery_id}"


def import_workflow_id(account_id: str) -> str:
    """The one run at a time that registers the rows of a file of an account's products."""
    return f"tryon-import-{account_id}"


def registration_workflow_id(registration_id: str) -> str:
    """The one run that adds or changes a product."""
    return f"tryon-product-{registration_id}"
