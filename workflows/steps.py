"""The steps of a job by their typed signatures: which queue runs them, for how long, and how often.

A `Step` is all that a workflow knows of an activity; ``activities/`` and ``worker_gpu/`` hold the code, registered
under the same names. A test compares the signatures.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType, ActivityConfig

from workflows.backfills.contracts import (
    AcceptedItem,
    AcceptItemInput,
    AwaitJobInput,
    BackfillPlan,
    FinishInput,
    FinishReport,
    KeepResultInput,
    KeptResult,
    PlanInput,
    RecordInput,
    RecordReport,
)
from workflows.contracts import (
    CleanUpInput,
    Contract,
    ErasedAccount,
    ErasureReport,
    FetchedGarment,
    FetchedLogo,
    FetchGarmentInput,
    FetchLogoInput,
    LedgerCheckInput,
    LedgerCheckReport,
    MailReport,
    RehearseInput,
    ReleaseInput,
    RenderedPicture,
    RenderInput,
    SaveWatermarkInput,
    SegmentedPerson,
    SegmentPersonInput,
    SendMailInput,
    SettleInput,
    SweepInput,
    SweepReport,
    TryOnOutcome,
    WatermarkedPicture,
    WatermarkInput,
    WatermarkSetting,
)
from workflows.products.contracts import (
    CleanUpRegistrationInput,
    CopiedPictures,
    CopyPicturesInput,
    RecordedRows,
    RecordRowsInput,
    SavedProduct,
    SaveProductInput,
    TakenUpRows,
    TakeUpRowsInput,
)
from workflows.queues import CPU_QUEUE, GPU_QUEUE

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

COPYING = ActivityConfig(
    # A download of 10 s, front and back side by side, then decoding; the caller who registers waits for it.
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

Input = TypeVar("Input", bound=Contract)

Output = TypeVar("Output")


@dataclass(frozen=True)
class Step(Generic[Input, Output]):
    """One activity as workflows see it.

    Attributes:
        name: The activity's registered name.
        input_type: Its one argument.
        output_type: What it returns.
        task_queue: Which workers run it.
        options: Its time budget.
    """

    name: str
    input_type: type[Input]
    output_type: type[Output]
    task_queue: str
    options: ActivityConfig

    async def run(
        self,
        argument: Input,
        summary: str | None = None,
        *,
        task_queue: str | None = None,
        budget: timedelta | None = None,
    ) -> Output:
        """Run the step from inside a workflow.

        Args:
            argument: Its input.
            summary: One line for people who read the run in the Temporal UI.
            task_queue: Another queue than its own.
            budget: Another time for one attempt than its own.
        """
        options: dict[str, Any] = {**self.options, "summary": summary}
        if budget is not None:
            options["start_to_close_timeout"] = budget
        result: Output = await workflow.execute_activity(
            self.name, argument, task_queue=task_queue or self.task_queue, result_type=self.output_type, **options
        )
        return result


FETCH_GARMENT = Step("fetch_garment", FetchGarmentInput, FetchedGarment, CPU_QUEUE, DOWNLOAD)

SEGMENT_PERSON = Step("segment_person", SegmentPersonInput, SegmentedPerson, GPU_QUEUE, INFERENCE)

RENDER = Step("render", RenderInput, RenderedPicture, GPU_QUEUE, INFERENCE)

REHEARSE = Step("rehearse", RehearseInput, RenderedPicture, CPU_QUEUE, PICTURE_WORK)

WATERMARK = Step("watermark", WatermarkInput, WatermarkedPicture, CPU_QUEUE, PICTURE_WORK)

SETTLE = Step("settle", SettleInput, TryOnOutcome, CPU_QUEUE, BOOKKEEPING)

RELEASE = Step("release", ReleaseInput, TryOnOutcome, CPU_QUEUE, BOOKKEEPING)

CLEAN_UP = Step("clean_up", CleanUpInput, SweepReport, CPU_QUEUE, CLEANING)

CHECK_LEDGER = Step("check_ledger", LedgerCheckInput, LedgerCheckReport, CPU_QUEUE, CHECKING)

RECONCILE = Step("reconcile", SweepInput, SweepReport, CPU_QUEUE, SWEEPING)

PURGE = Step("purge", SweepInput, SweepReport, CPU_QUEUE, PURGING)

FETCH_LOGO = Step("fetch_logo", FetchLogoInput, FetchedLogo, CPU_QUEUE, DOWNLOAD)

SAVE_WATERMARK = Step("save_watermark", SaveWatermarkInput, WatermarkSetting, CPU_QUEUE, BOOKKEEPING)

COPY_PRODUCT_PICTURES = Step("copy_product_pictures", CopyPicturesInput, CopiedPictures, CPU_QUEUE, COPYING)

SAVE_PRODUCT = Step("save_product", SaveProductInput, SavedProduct, CPU_QUEUE, SAVING)

PLAN_BACKFILL = Step("plan_backfill", PlanInput, BackfillPlan, CPU_QUEUE, PLANNING)

ACCEPT_ITEM = Step("accept_item", AcceptItemInput, AcceptedItem, CPU_QUEUE, ITEM_WORK)

AWAIT_JOB = Step("await_job", AwaitJobInput, TryOnOutcome, CPU_QUEUE, RECORDING)

KEEP_RESULT = Step("keep_result", KeepResultInput, KeptResult, CPU_QUEUE, ITEM_WORK)

RECORD_OUTCOMES = Step("record_outcomes", RecordInput, RecordReport, CPU_QUEUE, RECORDING)

FINISH_BACKFILL = Step("finish_backfill", FinishInput, FinishReport, CPU_QUEUE, PLANNING)

SEND_MAIL = Step("send_mail", SendMailInput, MailReport, CPU_QUEUE, MAILING)

CLEAN_UP_REGISTRATION = Step("clean_up_registration", CleanUpRegistrationInput, SweepReport, CPU_QUEUE, TIDYING)

END_ACCOUNT_RUNS = Step("end_account_runs", ErasedAccount, ErasureReport, CPU_QUEUE, ERASING)

DELETE_ACCOUNT_OBJECTS = Step("delete_account_objects", ErasedAccount, ErasureReport, CPU_QUEUE, ERASING)

FORGET_ACCOUNT_ROWS = Step("forget_account_rows", ErasedAccount, ErasureReport, CPU_QUEUE, ERASING)

TAKE_UP_ROWS = Step("take_up_rows", TakeUpRowsInput, TakenUpRows, CPU_QUEUE, RECORDING)

RECORD_ROWS = Step("record_rows", RecordRowsInput, RecordedRows, CPU_QUEUE, RECORDING)

SWEEP_PRODUCT_PICTURES = Step("sweep_product_pictures", SweepInput, SweepReport, CPU_QUEUE, LONG_SWEEPING)
