"""Every metric of the service's own: what it means, and where it is measured.

The table of ``docs/observability.md`` is made from this list, and tests compare it with what running processes serve.
No label ever holds a key, an account, a job, an e-mail address or a URL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

API, CPU, GPU = "API", "CPU worker", "GPU worker"

QUICK = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
"""Seconds; OpenTelemetry's advice for HTTP requests."""

SLOW = (0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120, 300, 600)
"""Seconds of drawing and waiting, up to a combo's deadline."""


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: As Prometheus knows it, less what it appends to a histogram's; a counter's ends in ``_total``.
        kind: What may be done with it.
        meaning: For the table.
        processes: Which kinds of process serve it.
        labels: Beyond those that a worker's own activity adds (`SDK_LABELS`).
        buckets: Of a histogram.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    processes: tuple[str, ...]
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


SDK_LABELS = frozenset({"namespace", "task_queue", "activity_type", "workflow_type"})
"""What Temporal's SDK adds to a metric that is recorded in an activity."""

# HTTP
HTTP_SECONDS = Metric(
    "http_server_request_duration_seconds",
    "histogram",
    "Requests by method, route template and status. `held` is `yes` for polls that asked to be held (`Prefer: wait`)",
    (API,),
    ("method", "route", "status", "held"),
    QUICK,
)
HTTP_ACTIVE = Metric("http_server_active_requests", "gauge", "Requests in flight, held polls included", (API,))
BODY_BYTES = Metric(
    "tryon_body_bytes_in_flight", "gauge", "Bytes of request bodies in flight (`TRYON_API_BODY_BUDGET_BYTES`)", (API,)
)
REFUSED = Metric(
    "tryon_refused_total", "counter", "Answers with 4xx or 5xx by error code (errors.md)", (API,), ("code",)
)
RATE_LIMITED = Metric("tryon_rate_limited_total", "counter", "Calls over the request rate of their key", (API,))
QUOTA_REFUSED = Metric(
    "tryon_quota_refused_total", "counter", "Jobs that no allowance or no daily cap had room for", (API,), ("code",)
)
IMAGE_REJECTED = Metric(
    "tryon_image_rejected_total",
    "counter",
    "Pictures refused by error code: inline ones by the API, fetched ones by the CPU worker",
    (API, CPU),
    ("reason",),
)
SSRF_BLOCKED = Metric(
    "tryon_ssrf_blocked_total",
    "counter",
    "Picture addresses refused: `malformed`, `scheme`, `credentials`, `port`, `name`, `address` (not a public one)",
    (API, CPU),
    ("reason",),
)

# Jobs
JOBS = Metric(
    "tryon_jobs_total",
    "counter",
    "Jobs ended, counted once each by the process whose transaction ended it. `reason` is the error code; `mode` is "
    "`test` for rehearsals of test keys",
    (API, CPU),
    ("kind", "mode", "outcome", "reason"),
)
JOB_SECONDS = Metric(
    "tryon_job_duration_seconds",
    "histogram",
    "Completed jobs of live keys by stage, `accepted` (waiting to be started) to `watermarking`, and `total`",
    (CPU,),
    ("kind", "stage"),
    SLOW,
)
RECONCILED = Metric(
    "tryon_reconciled_total",
    "counter",
    "Jobs that nobody would have finished, ended by the reconciler",
    (CPU,),
    ("action",),
)
EXPIRED = Metric("tryon_results_expired_total", "counter", "Results deleted at the end of their time", (CPU,))

# Backfills
BACKFILL_ITEMS = Metric(
    "tryon_backfill_items_total",
    "counter",
    "Items of backfills that ended: `completed`, `skipped` (done before) or `failed`",
    (CPU,),
    ("outcome",),
)
BACKFILL_WAITS = Metric(
    "tryon_backfill_waits_total",
    "counter",
    "Items of backfills refused because the account had no try-ons left, by error code; each is tried again",
    (CPU,),
    ("code",),
)

# Rendering
RENDER_SECONDS = Metric(
    "tryon_render_seconds",
    "histogram",
    "Renders from their beginning to their end or failure, waiting for the device included",
    (GPU,),
    ("engine",),
    SLOW,
)
PAINT_SECONDS = Metric(
    "tryon_paint_seconds",
    "histogram",
    "Pictures in the network itself; engines that report no such time have none",
    (GPU,),
    ("engine",),
    SLOW,
)
QUEUE_SECONDS = Metric(
    "tryon_render_queue_seconds", "histogram", "Renders waiting for a worker", (GPU,), ("engine",), SLOW
)
SECOND_TRIES = Metric(
    "tryon_render_second_tries_total",
    "counter",
    "Pictures that passed their checks only with another seed",
    (GPU,),
    ("engine",),
)
DEVICE_SECONDS = Metric(
    "tryon_device_seconds",
    "histogram",
    "Device held by `segment` or `render`; the sum's rate is how much of the device is used (GPU seconds)",
    (GPU,),
    ("step", "engine"),
    SLOW,
)
ENGINE_READING = "tryon_engine_"
"""Begins the names of an engine's own readings, which are gauges of the GPU worker."""

ENGINE_MEMORY = Metric(
    "tryon_engine_memory_bytes", "gauge", "Device memory that the engine holds; on CUDA alone", (GPU,), ("engine",)
)
ENGINE_MEMORY_PEAK = Metric(
    "tryon_engine_memory_peak_bytes", "gauge", "The most that it held since its start", (GPU,), ("engine",)
)

# State, read by the CPU worker
JOBS_IN_STATE = Metric(
    "tryon_jobs_in_state",
    "gauge",
    "Jobs `waiting` for Temporal, `running`, and `kept` (completed, with a picture to fetch)",
    (CPU,),
    ("state",),
)
OUTBOX_PENDING = Metric("tryon_outbox_pending", "gauge", "Accepted jobs that Temporal does not have yet", (CPU,))
OUTBOX_OLDEST = Metric("tryon_outbox_oldest_seconds", "gauge", "Age of the oldest of them; 0 without any", (CPU,))
RESERVATIONS_OPEN = Metric(
    "tryon_reservations_open", "gauge", "Generations reserved and neither settled nor released", (CPU,)
)
MAILS_WAITING = Metric(
    "tryon_mails_waiting", "gauge", "Messages to owners that wait to be sent; 0 without a mail server", (CPU,)
)
MAIL_OLDEST = Metric("tryon_mail_oldest_seconds", "gauge", "Age of the oldest of them; 0 without any", (CPU,))
ERASURES_OPEN = Metric("tryon_erasures_open", "gauge", "Accounts that are being erased", (CPU,))
ORDERS_OPEN = Metric("tryon_orders_open", "gauge", "Orders of packs and plans that nobody has decided about", (CPU,))
QUEUE_BACKLOG = Metric(
    "tryon_queue_backlog",
    "gauge",
    "Tasks that wait in Temporal for a worker, as Temporal estimates",
    (CPU,),
    ("queue", "type"),
)
STATE_READ = Metric(
    "tryon_state_read_timestamp_seconds", "gauge", "When the state was last read; old gauges are worth nothing", (CPU,)
)
STORAGE_FREE = Metric(
    "tryon_storage_free_bytes", "gauge", "Free bytes of the disk with the SQLite database; not with PostgreSQL", (CPU,)
)
STORAGE_SIZE = Metric("tryon_storage_size_bytes", "gauge", "Size of that disk", (CPU,))
LEDGER = Metric(
    "tryon_ledger_disagreements",
    "gauge",
    "Counters, ledger and jobs that do not say the same; anything but 0 needs a person",
    (CPU,),
)
LEDGER_CHECKED = Metric(
    "tryon_ledger_checked_timestamp_seconds", "gauge", "When that was last counted; the latest one holds", (CPU,)
)

# Object store
S3_SECONDS = Metric(
    "tryon_s3_seconds",
    "histogram",
    "Calls of the object store; `outcome` is `ok`, `missing` or `failed`",
    (API, CPU, GPU),
    ("op", "outcome"),
    QUICK,
)

CATALOGUE: dict[str, Metric] = {
    metric.name: metric for metric in list(globals().values()) if isinstance(metric, Metric)
}
"""All of them by name, in the order of the table."""
