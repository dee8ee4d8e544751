"""How long steps may take and how often they are tried, by the kind of work; `workflows.steps` says which has which."""

from __future__ import annotations

from datetime import timedelta

from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType, ActivityConfig

CANCELLATION_DELAY = timedelta(seconds=2)
"""Workers pass on heartbeats at least this often; an activity learns of its cancellation in the answer to one."""

# Retrying a model of ours that does not validate, or a payload that is too large, repeats the same mistake.
_NEVER_RETRIED = ["ValidationError", "PayloadsTooLarge"]

# Steps that write objects: a run that ends early waits until they have stopped, or they would write after its clean-up.
_STOPPED_FIRST = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED

DOWNLOAD = ActivityConfig(
    # Two downloads of 10 s (front and back) with a redirect or two, then decoding.
    start_to_close_timeout=timedelta(seconds=40),
    # A killed worker is noticed this much later.
    heartbeat_timeout=timedelta(seconds=10),
    cancellation_type=_STOPPED_FIRST,
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=500),
        maximum_attempts=3,
        maximum_interval=timedelta(seconds=5),
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

INFERENCE = ActivityConfig(
    # Four garments on a slow CPU, or a diffusion model's four passes; a heartbeat comes with every stage.
    start_to_close_timeout=timedelta(seconds=180),
    # A worker that was killed is noticed this long after its last stage began.
    heartbeat_timeout=timedelta(seconds=15),
    # A deploy in mid-render costs one attempt, so there have to be more.
    cancellation_type=_STOPPED_FIRST,
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=500),
        maximum_attempts=4,
        maximum_interval=timedelta(seconds=10),
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

PICTURE_WORK = ActivityConfig(
    # Decode, stamp and encode one picture of at most 50 megapixels. A store or a database that is away for half a
    # minute must not lose a picture that is drawn already, hence the many attempts.
    start_to_close_timeout=timedelta(seconds=30),
    heartbeat_timeout=timedelta(seconds=10),
    cancellation_type=_STOPPED_FIRST,
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=500),
        maximum_attempts=10,
        maximum_interval=timedelta(seconds=5),
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

BOOKKEEPING = ActivityConfig(
    # One transaction; a database that is away for a while must not lose the job, so it is tried until the
    # run's own time is up.
    start_to_close_timeout=timedelta(seconds=10),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=200),
        maximum_interval=timedelta(seconds=10),
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

CLEANING = ActivityConfig(
    start_to_close_timeout=timedelta(seconds=20),
    # After that the purge does it; the run should not stay open for it.
    schedule_to_close_timeout=timedelta(minutes=3),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=20)),
)

# The three steps of a registration have less than the 40 s together that the API waits for it.

COPYING = ActivityConfig(
    # A download of 10 s, front and back side by side, then decoding; whoever registers waits for it.
    start_to_close_timeout=timedelta(seconds=20),
    schedule_to_close_timeout=timedelta(seconds=24),
    heartbeat_timeout=timedelta(seconds=10),
    cancellation_type=_STOPPED_FIRST,
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=500),
        maximum_attempts=2,
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

SAVING = ActivityConfig(
    # One transaction.
    start_to_close_timeout=timedelta(seconds=8),
    schedule_to_close_timeout=timedelta(seconds=10),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=200),
        maximum_interval=timedelta(seconds=2),
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

TIDYING = ActivityConfig(
    # What is left then, the daily sweep deletes.
    start_to_close_timeout=timedelta(seconds=4),
    retry_policy=RetryPolicy(maximum_attempts=1),
)

SWEEPING = ActivityConfig(
    # Up to a few hundred rows and as many objects; the next round does what this one did not reach.
    start_to_close_timeout=timedelta(seconds=50),
    retry_policy=RetryPolicy(maximum_attempts=1),
)

PURGING = ActivityConfig(
    # Two minutes of pages, and one of each kind beyond them; less than the run's own five.
    start_to_close_timeout=timedelta(minutes=4),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(maximum_attempts=1),
)

LONG_SWEEPING = ActivityConfig(
    # A listing of every product's pictures, account by account. The first try finds what nothing refers to, and fails;
    # the second, two minutes later, deletes.
    start_to_close_timeout=timedelta(minutes=20),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(maximum_attempts=2),
)

PLANNING = ActivityConfig(
    # Tens of thousands of rows read and judged, and a few hundred pages written.
    start_to_close_timeout=timedelta(minutes=15),
    # A store or a database that is away delays it; what no try helps must not try for ever.
    schedule_to_close_timeout=timedelta(hours=6),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1),
        maximum_interval=timedelta(minutes=1),
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

ITEM_WORK = ActivityConfig(
    # A few pictures read and looked into, one transaction; or a picture copied.
    start_to_close_timeout=timedelta(seconds=60),
    # A store or a database that is away delays items; one that no try helps must not hold up the others for ever.
    schedule_to_close_timeout=timedelta(hours=2),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=500),
        maximum_interval=timedelta(seconds=30),
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

RECORDING = ActivityConfig(
    # A page or two read and written.
    start_to_close_timeout=timedelta(seconds=60),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=500),
        maximum_interval=timedelta(seconds=30),
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

ERASING = ActivityConfig(
    # Thousands of objects and rows. What is away delays it: nobody waits, and it must not be left half done.
    start_to_close_timeout=timedelta(minutes=30),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1),
        maximum_interval=timedelta(minutes=1),
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

MAILING = ActivityConfig(
    # Connecting, signing in and handing over: a few answers of a server, for each of which there is a setting.
    start_to_close_timeout=timedelta(minutes=3),
    # A server that is away, or one that makes strangers wait, gets it later.
    schedule_to_close_timeout=timedelta(days=1),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=2),
        maximum_interval=timedelta(minutes=15),
        non_retryable_error_types=_NEVER_RETRIED,
    ),
)

CHECKING = ActivityConfig(
    # Sums over the whole ledger, which only grows.
    start_to_close_timeout=timedelta(minutes=30),
    retry_policy=RetryPolicy(maximum_attempts=2),
)
