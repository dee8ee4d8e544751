"""Every metric of the service's own: what it means, and where it is measured.

The table of ``docs/observability.md`` is made from this list, and tests compare it with what running processes serve.
No label ever holds a key, an account, a job, an e-mail address or a URL.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
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


CATALOGUE: dict[str, Metric] = {}  # all of them by name, in the order of the table


def _listed(
    kind: Literal["counter", "gauge", "histogram"],
    name: str,
    processes: str | tuple[str, ...],
    meaning: str,
    labels: str = "",
    *,
    buckets: tuple[float, ...] = (),
) -> Metric:
    served_by = (processes,) if isinstance(processes, str) else processes
    CATALOGUE[name] = Metric(name, kind, meaning, served_by, tuple(labels.split()), buckets)
    return CATALOGUE[name]


counter, gauge = partial(_listed, "counter"), partial(_listed, "gauge")
quick, slow = partial(_listed, "histogram", buckets=QUICK), partial(_listed, "histogram", buckets=SLOW)


# HTTP
HTTP_SECONDS = quick(
    "http_server_request_duration_seconds",
    API,
    "Requests by method, route template and status. `held` is `yes` for polls that asked to be held (`Prefer: wait`)",
    "method route status held",
)
HTTP_ACTIVE = gauge("http_server_active_requests", API, "Requests in flight, held polls included")
BODY_BYTES = gauge(
    "tryon_body_bytes_in_flight", API, "Bytes of request bodies in flight (`TRYON_API_BODY_BUDGET_BYTES`)"
)
REFUSED = counter("tryon_refused_total", API, "Answers with 4xx or 5xx by error code (errors.md)", "code")
RATE_LIMITED = counter("tryon_rate_limited_total", API, "Calls over the request rate of their key")
QUOTA_REFUSED = counter("tryon_quota_refused_total", API, "Jobs that no allowance or no daily cap had room for", "code")
IMAGE_REJECTED = counter(
    "tryon_image_rejected_total",
    (API, CPU),
    "Pictures refused by error code: inline ones by the API, fetched ones by the CPU worker",
    "reason",
)
SSRF_BLOCKED = counter(
    "tryon_ssrf_blocked_total",
    (API, CPU),
    "Picture addresses refused: `malformed`, `scheme`, `credentials`, `port`, `name`, `address` (not a public one)",
    "reason",
)

# Jobs
JOBS = counter(
    "tryon_jobs_total",
    (API, CPU),
    "Jobs ended, counted once each by the process whose transaction ended it. `reason` is the error code; `mode` is "
    "`test` for rehearsals of test keys",
    "kind mode outcome reason",
)
JOB_SECONDS = slow(
    "tryon_job_duration_seconds",
    CPU,
    "Completed jobs of live keys by stage, `accepted` (waiting to be started) to `watermarking`, and `total`",
    "kind stage",
)
RECONCILED = counter(
    "tryon_reconciled_total", CPU, "Jobs that nobody would have finished, ended by the reconciler", "action"
)
EXPIRED = counter("tryon_results_expired_total", CPU, "Results deleted at the end of their time")

# Backfills
BACKFILL_ITEMS = counter(
    "tryon_backfill_items_total",
    CPU,
    "Items of backfills that ended: `completed`, `skipped` (done before) or `failed`",
    "outcome",
)
BACKFILL_WAITS = counter(
    "tryon_backfill_waits_total",
    CPU,
    "Items of backfills refused because the account had no try-ons left, by error code; each is tried again",
    "code",
)

# Rendering
RENDER_SECONDS = slow(
    "tryon_render_seconds",
    GPU,
    "Renders from their beginning to their end or failure, waiting for the device included",
    "engine",
)
PAINT_SECONDS = slow(
    "tryon_paint_seconds", GPU, "Pictures in the network itself; engines that report no such time have none", "engine"
)
QUEUE_SECONDS = slow("tryon_render_queue_seconds", GPU, "Renders waiting for a worker", "engine")
SECOND_TRIES = counter(
    "tryon_render_second_tries_total", GPU, "Pictures that passed their checks only with another seed", "engine"
)
DEVICE_SECONDS = slow(
    "tryon_device_seconds",
    GPU,
    "Device held by `segment`, `render` or `examine`; the sum's rate is how much of the device is used (GPU seconds)",
    "step engine",
)

ENGINE_READING = "tryon_engine_"  # begins the names of an engine's own readings, which are gauges of the GPU worker
ENGINE_MEMORY = gauge("tryon_engine_memory_bytes", GPU, "Device memory that the engine holds; on CUDA alone", "engine")
ENGINE_MEMORY_PEAK = gauge("tryon_engine_memory_peak_bytes", GPU, "The most that it held since its start", "engine")

# State, read by the CPU worker
JOBS_IN_STATE = gauge(
    "tryon_jobs_in_state",
    CPU,
    "Jobs `waiting` for Temporal, `running`, and `kept` (completed, with a picture to fetch)",
    "state",
)
OUTBOX_PENDING = gauge("tryon_outbox_pending", CPU, "Accepted jobs that Temporal does not have yet")
OUTBOX_OLDEST = gauge("tryon_outbox_oldest_seconds", CPU, "Age of the oldest of them; 0 without any")
RESERVATIONS_OPEN = gauge("tryon_reservations_open", CPU, "Generations reserved and neither settled nor released")
MAILS_WAITING = gauge("tryon_mails_waiting", CPU, "Messages to owners that wait to be sent; 0 without a mail server")
MAIL_OLDEST = gauge("tryon_mail_oldest_seconds", CPU, "Age of the oldest of them; 0 without any")
WEBHOOKS_LATE = gauge("tryon_webhooks_late", CPU, "Events that should have been sent two minutes ago and more")
ERASURES_OPEN = gauge("tryon_erasures_open", CPU, "Accounts that are being erased")
ORDERS_OPEN = gauge("tryon_orders_open", CPU, "Orders of packs and plans that nobody has decided about")
QUEUE_BACKLOG = gauge(
    "tryon_queue_backlog", CPU, "Tasks that wait in Temporal for a worker, as Temporal estimates", "queue type"
)
STATE_READ = gauge(
    "tryon_state_read_timestamp_seconds", CPU, "When the state was last read; old gauges are worth nothing"
)
STORAGE_FREE = gauge(
    "tryon_storage_free_bytes", CPU, "Free bytes of the disk with the SQLite database; not with PostgreSQL"
)
STORAGE_SIZE = gauge("tryon_storage_size_bytes", CPU, "Size of that disk")
LEDGER = gauge(
    "tryon_ledger_disagreements",
    CPU,
    "Counters, ledger and jobs that do not say the same; anything but 0 needs a person",
)
LEDGER_CHECKED = gauge(
    "tryon_ledger_checked_timestamp_seconds", CPU, "When that was last counted; the latest one holds"
)

# Object store
S3_SECONDS = quick(
    "tryon_s3_seconds",
    (API, CPU, GPU),
    "Calls of the object store; `outcome` is `ok`, `missing` or `failed`",
    "op outcome",
)
