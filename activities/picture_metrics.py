"""Pictures and addresses that workers refuse, counted."""

from __future__ import annotations

from temporalio import activity

from imaging.errors import ImageError
from runtime.metric_catalogue import IMAGE_REJECTED, SSRF_BLOCKED
from runtime.metrics import activity_meter


def count_refused_picture(error: ImageError) -> None:
    """Count a picture that is refused for good; one that is tried again is not refused yet."""
    if error.retryable or not activity.in_activity():
        return
    meter = activity_meter()
    meter.add(IMAGE_REJECTED, reason=error.code)
    if error.refusal is not None:
        meter.add(SSRF_BLOCKED, reason=error.refusal)
