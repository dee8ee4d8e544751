"""The API's metrics: what was refused for which reason; `api.request_context` records what each request cost."""

from __future__ import annotations

from collections.abc import Callable

from imaging.errors import ImageError, ImageErrorCode
from runtime.metric_catalogue import (
    API,
    BODY_BYTES,
    HTTP_ACTIVE,
    IMAGE_REJECTED,
    QUOTA_REFUSED,
    RATE_LIMITED,
    REFUSED,
    SSRF_BLOCKED,
)
from runtime.metrics import PrometheusMeter

OUT_OF_QUOTA = frozenset({"trial_ended", "volume_exhausted", "daily_cap_reached", "key_daily_cap_reached"})

PICTURE_CODES = frozenset(code.value for code in ImageErrorCode)


class ApiMetrics:
    """The meter of one API process, in the API's own words."""

    def __init__(self) -> None:
        self.meter = PrometheusMeter(API)
        self.active = 0
        self.meter.read(HTTP_ACTIVE, lambda: self.active)

    def watch_bodies(self, in_flight: Callable[[], int]) -> None:
        """Show how many bytes of bodies are in memory."""
        self.meter.read(BODY_BYTES, in_flight)

    def count_refusal(self, code: str) -> None:
        """Count an answer with 4xx or 5xx by its code."""
        self.meter.add(REFUSED, code=code)
        if code == "rate_limited":
            self.meter.add(RATE_LIMITED)
        elif code in OUT_OF_QUOTA:
            self.meter.add(QUOTA_REFUSED, code=code)
        elif code in PICTURE_CODES:
            self.meter.add(IMAGE_REJECTED, reason=code)

    def count_refused_address(self, error: BaseException) -> None:
        """Count why addresses of pictures were refused, if that is what lies behind an error."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, BaseExceptionGroup):
                for each in cause.exceptions:
                    self.count_refused_address(each)
                return
            if isinstance(cause, ImageError) and cause.refusal is not None:
                self.meter.add(SSRF_BLOCKED, reason=cause.refusal)
                return
            cause = cause.__cause__ or cause.__context__
