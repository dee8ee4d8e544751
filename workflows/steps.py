"""The steps of a job by their typed signatures: which queue runs them, for how long, and how often.

A `Step` is all that a workflow knows of an activity; ``activities/`` and ``worker_gpu/`` hold the code, registered
under the same names. A test compares the signatures.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Generic, Literal, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception
from temporalio.workflow import ActivityCancellationType, ActivityConfig

# Not `from workflows.backfills import contracts`: the workflows' sandbox would load that a second time.
import workflows.backfills.contracts as backfills
import workflows.contracts as models
import workflows.products.contracts as products
from workflows.queues import CPU_QUEUE, GPU_BULK_QUEUE, GPU_QUEUE, WEBHOOK_QUEUE

HERE_TIMEOUT = timedelta(seconds=5)
"""For a step that is tried in the workflow's own worker: half of the time after which the server gives up on that."""

AWAY = "away"
"""The type of a step's failure that could not reach the object store or the database, and is not to blame."""

Away = Literal["retried", "raised", "outlasted"]
"""What is done where a step finds the store or the database away: it is tried again as after any fault, it fails at
once, or it begins again, with all its attempts, for as long as the run has."""

MISTAKES = ["ValidationError", "PayloadsTooLarge"]
"""Types of failures that another attempt would repeat: a model of ours that does not validate, too large a payload."""

LONGEST_REASON = 100
"""Characters of why a step waits, beside its timer; Temporal takes 400 bytes."""

CANCELLATION_DELAY = timedelta(seconds=2)
"""Workers pass on heartbeats at least this often; an activity learns of its cancellation in the answer to one."""


def _budget(
    seconds: float,
    *,
    in_all: timedelta | None = None,
    heartbeat: float | None = None,
    stopped_first: bool = False,
    attempts: int = 0,
    first_wait: float = 1.0,
    longest_wait: float | None = None,
) -> ActivityConfig:
    """The time and the tries of a step.

    Args:
        seconds: For one attempt.
        in_all: For all attempts and the waits between them.
        heartbeat: Seconds without one after which a worker is taken for dead.
        stopped_first: It writes objects: a run that ends early waits until it has stopped, or it would write after the
            run's clean-up.
        attempts: How many; 0 for as many as there is time for.
        first_wait: Seconds before the second attempt; doubled every time.
        longest_wait: Seconds that this grows to.
    """
    options = ActivityConfig(
        start_to_close_timeout=timedelta(seconds=seconds),
        retry_policy=RetryPolicy(
            initial_interval=timedelta(seconds=first_wait),
            maximum_interval=None if longest_wait is None else timedelta(seconds=longest_wait),
            maximum_attempts=attempts,
            non_retryable_error_types=MISTAKES,
        ),
    )
    if in_all is not None:
        options["schedule_to_close_timeout"] = in_all
    if heartbeat is not None:
        options["heartbeat_timeout"] = timedelta(seconds=heartbeat)
    if stopped_first:
        options["cancellation_type"] = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED
    return options


# Two downloads of 10 s (front and back) with a redirect or two, then decoding. A shop's server is asked three times, by
# the step itself; the other attempts are for workers that are killed.
DOWNLOAD = _budget(40, heartbeat=10, stopped_first=True, attempts=10, first_wait=0.5, longest_wait=5)
# Four garments on a slow CPU, or a diffusion model's four passes; a heartbeat comes with every stage, and a worker that
# was killed is noticed 15 s after its last one began. A deploy in mid-render costs one attempt, so there are more.
INFERENCE = _budget(180, heartbeat=15, stopped_first=True, attempts=4, first_wait=0.5, longest_wait=10)
# Finding the person and laying four garments on them, without drawing: seconds, for which a caller waits. It stands
# behind jobs, and who waits gives up long before this does.
EXAMINING = _budget(30, in_all=timedelta(seconds=60), heartbeat=15, attempts=2, first_wait=0.2)
# Decode, stamp and encode one picture of at most 50 megapixels, which is drawn already: hence the many attempts.
PICTURE_WORK = _budget(30, heartbeat=10, stopped_first=True, attempts=10, first_wait=0.5, longest_wait=5)
# One transaction; a database that is away for a while must not lose the job, so it is tried until the run's own time
# is up.
BOOKKEEPING = _budget(10, first_wait=0.2, longest_wait=10)
# After three minutes the purge does it; the run should not stay open for it.
CLEANING = _budget(20, in_all=timedelta(minutes=3), longest_wait=20)
# A download of 10 s, front and back side by side, then decoding; the caller who registers waits for it.
COPYING = _budget(20, in_all=timedelta(seconds=24), heartbeat=10, stopped_first=True, attempts=2, first_wait=0.5)
# One transaction, with a caller who waits.
SAVING = _budget(8, in_all=timedelta(seconds=10), first_wait=0.2, longest_wait=2)
# What is left then, the daily sweep deletes.
TIDYING = _budget(4, attempts=1)
# Up to a few hundred rows and as many objects; the next round does what this one did not reach.
SWEEPING = _budget(50, attempts=1)
# Two minutes of pages, and one of each kind beyond them; less than the run's own five.
PURGING = _budget(240, heartbeat=30, attempts=1)
# A listing of every product's pictures, account by account. The first try finds what nothing refers to, and fails; the
# second, two minutes later, deletes; where that fails, both are done again, so that two such failures are outlasted.
LONG_SWEEPING = _budget(1200, heartbeat=30, attempts=6, first_wait=10)
# Tens of thousands of rows read and judged, and a few hundred pages written. A store or a database that is away delays
# it; what no try helps must not try for ever.
PLANNING = _budget(900, in_all=timedelta(hours=6), heartbeat=30, longest_wait=60)
# A few pictures read and looked into, one transaction; or a picture copied. A store or a database that is away delays
# items; one that no try helps must not hold up the others for ever.
ITEM_WORK = _budget(60, in_all=timedelta(hours=2), first_wait=0.5, longest_wait=30)
# A page or two read and written.
RECORDING = _budget(60, first_wait=0.5, longest_wait=30)
# Thousands of objects and rows. What is away delays it: nobody waits, and it must not be left half done.
ERASING = _budget(1800, heartbeat=30, longest_wait=60)
# Connecting, signing in and handing over: a few answers of a server, for each of which there is a setting. A server
# that is away, or one that makes strangers wait, gets it later.
MAILING = _budget(180, in_all=timedelta(days=1), first_wait=2, longest_wait=900)
# A receiver has 15 s; before and after it a transaction. The pauses between attempts are the run's: what is tried again
# here is what a killed worker left, and what a database that is away delays.
DELIVERING = _budget(40, first_wait=1, longest_wait=60)
# Sums over the whole ledger, which only grows.
CHECKING = _budget(1800, attempts=2)

Input = TypeVar("Input", bound=models.Contract)

Output = TypeVar("Output")


@dataclass(frozen=True)
class Step(Generic[Input, Output]):
    """One activity as workflows see it.

    Attributes:
        name: The activity's registered name.
        input_type: Its one argument.
        output_type: What it returns.
        options: Its time budget.
        task_queue: Which workers run it.
    """

    name: str
    input_type: type[Input]
    output_type: type[Output]
    options: ActivityConfig
    task_queue: str = CPU_QUEUE

    async def run(
        self,
        argument: Input,
        summary: str | None = None,
        *,
        task_queue: str | None = None,
        budget: timedelta | None = None,
        here_first: bool = False,
        away: Away = "retried",
    ) -> Output:
        """Run the step from inside a workflow, in another queue or time for one attempt than its own if need be.

        A step that hardly ever fails and takes milliseconds may be tried ``here_first``, once, in the worker that has
        the workflow: that costs Temporal's server one event instead of three and two tasks. If that try fails, whatever
        the reason, the step becomes an ordinary one, whose tries people see in the Temporal UI.

        Where what is ``away`` is outlasted, attempts are for what a step may be to blame for, such as the end of its
        worker.

        The summary is a line for people who read the run in the Temporal UI.
        """
        if here_first:
            try:
                made: Output = await workflow.execute_local_activity(
                    self.name,
                    argument,
                    result_type=self.output_type,
                    start_to_close_timeout=HERE_TIMEOUT,
                    retry_policy=RetryPolicy(maximum_attempts=1),
                    cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                    summary=summary,
                )
            except (ActivityError, ApplicationError) as error:  # the SDK wraps a local step's timeout, not its fault
                if is_cancelled_exception(error):
                    raise
            else:
                return made
        options: dict[str, Any] = {**self.options, "summary": summary}
        if budget is not None:
            options["start_to_close_timeout"] = budget
        if away != "retried":
            never = [*MISTAKES, AWAY]
            options["retry_policy"] = replace(options["retry_policy"], non_retryable_error_types=never)
        waited, cancelled_before = timedelta(0), _cancellations()
        while True:
            try:
                result: Output = await workflow.execute_activity(
                    self.name,
                    argument,
                    task_queue=task_queue or self.task_queue,
                    result_type=self.output_type,
                    **options,
                )
            except ActivityError as error:
                cause = error.cause
                if away != "outlasted" or not isinstance(cause, ApplicationError) or cause.type != AWAY:
                    raise
                if _cancellations() > cancelled_before:
                    raise asyncio.CancelledError from error
                pause = pause_while_away(cause.next_retry_delay or timedelta(0), waited)
                await workflow.sleep(pause, summary=f"{summary or self.name}: {cause.message}"[:LONGEST_REASON])
                waited += pause
            else:
                return result


def pause_while_away(first: timedelta, waited: timedelta) -> timedelta:
    """Until a step tries again that has waited so long for what is away: an eighth of that, or a quarter of an hour.

    So a job wakes soon after the end, and a day is some 140 tries: with five steps side by side 7,600 events, of the
    51,200 that Temporal lets a run have.
    """
    return min(max(first, waited / 8), timedelta(minutes=15))


async def end(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel what is under way and wait for it: what it stores must not come behind a clean-up."""
    # In this order. A TaskGroup has a set of its tasks: it would cancel them in another one on replay.
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _cancellations() -> int:
    """How often the task that runs was told to end. A step that failed before it heard of that does not say so."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


FETCH_GARMENT = Step("fetch_garment", models.FetchGarmentInput, models.FetchedGarment, DOWNLOAD)
SEGMENT_PERSON = Step(
    "segment_person", models.SegmentPersonInput, models.SegmentedPerson, INFERENCE, task_queue=GPU_QUEUE
)
RENDER = Step("render", models.RenderInput, models.RenderedPicture, INFERENCE, task_queue=GPU_QUEUE)
EXAMINE = Step("examine", models.ExamineInput, models.Findings, EXAMINING, task_queue=GPU_BULK_QUEUE)
REHEARSE = Step("rehearse", models.RehearseInput, models.RenderedPicture, PICTURE_WORK)
WATERMARK = Step("watermark", models.WatermarkInput, models.WatermarkedPicture, PICTURE_WORK)
SETTLE = Step("settle", models.SettleInput, models.TryOnOutcome, BOOKKEEPING)
RELEASE = Step("release", models.ReleaseInput, models.TryOnOutcome, BOOKKEEPING)
CLEAN_UP = Step("clean_up", models.CleanUpInput, models.SweepReport, CLEANING)

CLEAN_UP_CHECK = Step("clean_up_check", models.CleanUpCheckInput, models.SweepReport, TIDYING)

CHECK_LEDGER = Step("check_ledger", models.LedgerCheckInput, models.LedgerCheckReport, CHECKING)
RECONCILE = Step("reconcile", models.SweepInput, models.SweepReport, SWEEPING)
PURGE = Step("purge", models.SweepInput, models.SweepReport, PURGING)
SWEEP_PRODUCT_PICTURES = Step("sweep_product_pictures", models.SweepInput, models.SweepReport, LONG_SWEEPING)

FETCH_LOGO = Step("fetch_logo", models.FetchLogoInput, models.FetchedLogo, DOWNLOAD)
SAVE_WATERMARK = Step("save_watermark", models.SaveWatermarkInput, models.WatermarkSetting, BOOKKEEPING)
SEND_MAIL = Step("send_mail", models.SendMailInput, models.MailReport, MAILING)
ATTEMPT_WEBHOOK = Step(
    "attempt_webhook", models.DeliverWebhookInput, models.WebhookReport, DELIVERING, task_queue=WEBHOOK_QUEUE
)
END_ACCOUNT_RUNS = Step("end_account_runs", models.ErasedAccount, models.ErasureReport, ERASING)
DELETE_ACCOUNT_OBJECTS = Step("delete_account_objects", models.ErasedAccount, models.ErasureReport, ERASING)
FORGET_ACCOUNT_ROWS = Step("forget_account_rows", models.ErasedAccount, models.ErasureReport, ERASING)

COPY_PRODUCT_PICTURES = Step("copy_product_pictures", products.CopyPicturesInput, products.CopiedPictures, COPYING)
SAVE_PRODUCT = Step("save_product", products.SaveProductInput, products.SavedProduct, SAVING)
CLEAN_UP_REGISTRATION = Step("clean_up_registration", products.CleanUpRegistrationInput, models.SweepReport, TIDYING)
TAKE_UP_ROWS = Step("take_up_rows", products.TakeUpRowsInput, products.TakenUpRows, RECORDING)
RECORD_ROWS = Step("record_rows", products.RecordRowsInput, products.RecordedRows, RECORDING)

PLAN_BACKFILL = Step("plan_backfill", backfills.PlanInput, backfills.BackfillPlan, PLANNING)
ACCEPT_ITEM = Step("accept_item", backfills.AcceptItemInput, backfills.AcceptedItem, ITEM_WORK)
AWAIT_JOB = Step("await_job", backfills.AwaitJobInput, models.TryOnOutcome, RECORDING)
KEEP_RESULT = Step("keep_result", backfills.KeepResultInput, backfills.KeptResult, ITEM_WORK)
RECORD_OUTCOMES = Step("record_outcomes", backfills.RecordInput, backfills.RecordReport, RECORDING)
FINISH_BACKFILL = Step("finish_backfill", backfills.FinishInput, backfills.FinishReport, PLANNING)
