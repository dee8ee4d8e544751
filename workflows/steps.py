"""The steps of a job by their typed signatures: which queue runs them, for how long, and how often.

A `Step` is all that a workflow knows of an activity; ``activities/`` and ``worker_gpu/`` hold the code, registered
under the same names. A test compares the signatures.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from temporalio import workflow
from temporalio.workflow import ActivityConfig

from workflows.backfills.contracts import BackfillPlan
from workflows.backfills.step_contracts import (
    AcceptedItem,
    AcceptItemInput,
    AwaitJobInput,
    FinishInput,
    FinishReport,
    KeepResultInput,
    KeptResult,
    PlanInput,
    RecordInput,
    RecordReport,
)
from workflows.budgets import (
    BOOKKEEPING,
    CHECKING,
    CLEANING,
    COPYING,
    DOWNLOAD,
    ERASING,
    INFERENCE,
    ITEM_WORK,
    LONG_SWEEPING,
    MAILING,
    PICTURE_WORK,
    PLANNING,
    PURGING,
    RECORDING,
    SAVING,
    SWEEPING,
    TIDYING,
)
from workflows.contracts import (
    CleanUpInput,
    Contract,
    FetchedGarment,
    FetchGarmentInput,
    LedgerCheckInput,
    LedgerCheckReport,
    RehearseInput,
    ReleaseInput,
    RenderedPicture,
    RenderInput,
    SegmentedPerson,
    SegmentPersonInput,
    SettleInput,
    SweepInput,
    SweepReport,
    TryOnOutcome,
    WatermarkedPicture,
    WatermarkInput,
)
from workflows.erasure_contracts import ErasedAccount, ErasureReport
from workflows.logo_contracts import FetchedLogo, FetchLogoInput, SaveWatermarkInput, WatermarkSetting
from workflows.mail_contracts import MailReport, SendMailInput
from workflows.products.contracts import (
    CleanUpRegistrationInput,
    CopiedPictures,
    CopyPicturesInput,
    SavedProduct,
    SaveProductInput,
)
from workflows.products.import_contracts import RecordedRows, RecordRowsInput, TakenUpRows, TakeUpRowsInput
from workflows.queues import CPU_QUEUE, GPU_QUEUE

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
            summary: One line for whoever reads the run in the Temporal UI.
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
