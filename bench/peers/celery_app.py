"""The job as a team that knows Celery would have it done; run by ``celery --app bench.peers.celery_app worker``.

One task instead of a chain. Every step may be repeated, and what one leaves for the next is too large for a message; a
chain would send four more messages through the broker, and read the picture from the store once more for each link.
It would save work where a late step fails, and allow processes of their own for the device.
"""

from __future__ import annotations

from celery import Celery

from bench.peers.job import workplace

NAME = "bench.peers.job"
PROCESSES = 2

LONGEST_SECONDS = 30
"""Of a task: then its process is killed, and the task goes back to the queue."""

VISIBILITY_SECONDS = 60
"""After which the broker gives out again what a worker took and never acknowledged, because it was killed as a whole.

Longer than the longest task with a pause before it, or tasks would be done twice. Celery's default is an hour."""

app = Celery("peers")  # the broker's address is in CELERY_BROKER_URL
app.conf.update(
    broker_transport_options={"visibility_timeout": VISIBILITY_SECONDS},
    broker_connection_retry_on_startup=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,  # the row in the database says how a job ended
    task_time_limit=LONGEST_SECONDS,
    worker_prefetch_multiplier=1,
    worker_concurrency=PROCESSES,
    worker_pool="prefork",
)


def _job(job_id: str, engine_seconds: float) -> None:
    workplace().do(job_id, engine_seconds)


app.task(
    _job,
    name=NAME,
    autoretry_for=(Exception,),
    retry_backoff=True,
    retry_backoff_max=20,
    retry_jitter=True,
    max_retries=5,
)
