"""`TryOnWorkflow`: one job from its stored inputs to its picture, or to the reason why there is none."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, TypedDict

from temporalio import workflow
from temporalio.common import (
    Priority,
    SearchAttributePair,
    SearchAttributeUpdate,
    TypedSearchAttributes,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception
from temporalio.exceptions import TimeoutError as ActivityTimeoutError

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from domain.errors import ErrorCode, is_code
    from workflows import steps
    from workflows.contracts import (
        LONGEST_SENTENCE,
        CleanUpInput,
        FetchedGarment,
        FetchGarmentInput,
        RehearsalScript,
        RehearseInput,
        ReleaseInput,
        RenderedPicture,
        RenderInput,
        SegmentedPerson,
        SegmentPersonInput,
        SettleInput,
        TryOnInput,
        TryOnOutcome,
        TryOnState,
        WatermarkInput,
    )
    from workflows.queues import (
        ACCOUNT_ATTRIBUTE,
        CPU_QUEUE,
        ENGINE_ATTRIBUTE,
        ERROR_ATTRIBUTE,
        STAGE_ATTRIBUTE,
        gpu_queue,
        is_urgent,
        tryon_workflow_id,
    )


GRACE_AFTER_DEADLINE = timedelta(minutes=5)
"""The run ends itself at its deadline. If it cannot, Temporal ends it this much later."""


LONG_DRAWING_SECONDS = 45.0
"""`workflows.steps.INFERENCE` holds four of these: it may be drawn twice, behind another one."""

LARGEST_HERE_BYTES = 16_000_000
"""Of a picture without loss, 5 megapixels uncompressed: it is watermarked in a fraction of a second. A larger one might
not be within the time of a step beside its workflow, and would be worked on twice."""

ENDS = ("completed", "failed")

MAIN_STAGES = ("rendering", "rehearsing", *ENDS)  # those that take long, or stay


class TryOnOptions(TypedDict):
    """How a job's workflow is started: by the API, the relay, or a backfill."""

    id: str
    task_queue: str
    id_reuse_policy: WorkflowIDReusePolicy
    execution_timeout: timedelta
    priority: Priority
    search_attributes: TypedSearchAttributes
    static_summary: str


def tryon_options(job: TryOnInput) -> TryOnOptions:
    """Its one id, its place in the queues, and what people find it by."""
    return TryOnOptions(
        id=tryon_workflow_id(job.job_id),
        task_queue=CPU_QUEUE,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        execution_timeout=timedelta(seconds=job.deadline_seconds) + GRACE_AFTER_DEADLINE,
        priority=Priority(priority_key=job.priority, fairness_key=job.account_id),
        search_attributes=TypedSearchAttributes(
            [SearchAttributePair(ACCOUNT_ATTRIBUTE, job.account_id), SearchAttributePair(STAGE_ATTRIBUTE, "accepted")]
        ),
        static_summary=f"{job.kind}: " + " + ".join(garment.category for garment in job.garments),
    )


def _gpu_budget(job: TryOnInput) -> timedelta | None:
    """A job that nobody waits for, or one that takes long by itself, may be at the device until its deadline.

    Its heartbeats tell that it lives.
    """
    is_quick = is_urgent(job.priority) and job.drawing_seconds < LONG_DRAWING_SECONDS
    return None if is_quick else timedelta(seconds=job.deadline_seconds)


@workflow.defn(name="TryOnWorkflow", failure_exception_types=[ValidationError])
class TryOnWorkflow:
    """Fetch and segment side by side, render, watermark, settle; release whatever goes wrong."""

    @workflow.init
    def __init__(self, job: TryOnInput) -> None:
        self._job = job
        self._newer = job.run_version > 1
        self._away: steps.Away = "outlasted" if self._newer else "retried"
        self._stage = "accepted"
        self._stage_began = workflow.now()
        self._stage_ms: dict[str, int] = {}
        self._engine: str | None = None
        self._error_code: str | None = None
        self._fault: str | None = None

    @workflow.run
    async def run(self, job: TryOnInput) -> TryOnOutcome:
        """Carry out the job. A failed job is an outcome, not a failed workflow."""
        deadline = asyncio.timeout(self._seconds_left())
        try:
            async with deadline:
                outcome = await self._generate(job)
        except (ActivityError, TimeoutError, asyncio.CancelledError) as error:
            # A deadline shows as the cancellation of whatever step was under way.
            code, advice = ("timed_out", None) if deadline.expired() else self._reason(error)
            release = ReleaseInput(job_id=job.job_id, error_code=code, error_advice=advice)
            outcome = await steps.RELEASE.run(release, self._fault or code, here_first=self._newer)
        self._error_code = outcome.error_code
        self._enter(outcome.status)
        await self._clean_up(job)
        return outcome

    @workflow.query
    def state(self) -> TryOnState:
        """What this run is doing."""
        return TryOnState(
            stage=self._stage,
            garments=len(self._job.garments),
            engine=self._engine,
            stage_ms=self._stage_ms,
            error_code=self._error_code,
        )

    def _seconds_left(self) -> float:
        """Until the deadline in the job's row; a run that was not told of it counts from its beginning."""
        at = self._job.deadline_at
        return self._job.deadline_seconds if at is None else (at - workflow.now()).total_seconds()

    def _reason(self, error: BaseException) -> tuple[ErrorCode, str | None]:
        """Why there is no picture: a code, and advice from the failed step for the person who chose the pictures.

        A failure whose type is a code comes from `activities.failures`. Any other type is an exception that nobody
        expected: people find it in the run and in the log, and the client reads no more than that it failed.
        """
        if is_cancelled_exception(error):
            return "cancelled", None
        cause = error.cause if isinstance(error, ActivityError) else error
        if isinstance(cause, ActivityTimeoutError):
            return "timed_out", None
        if isinstance(cause, ApplicationError) and is_code(cause.type):
            told = cause.details[0] if cause.details else None
            return cause.type, told[:LONGEST_SENTENCE] if isinstance(told, str) else None
        kind = (cause.type if isinstance(cause, ApplicationError) else None) or type(cause).__name__
        self._fault = f"{kind} in {error.activity_type}" if isinstance(error, ActivityError) else kind
        about = {"job_id": self._job.job_id, "account_id": self._job.account_id, "fault": self._fault}
        workflow.logger.error("a job failed for a reason that nobody expected", extra=about)
        return "generation_failed", None

    async def _generate(self, job: TryOnInput) -> TryOnOutcome:
        rendered = await (self._draw(job) if job.rehearsal is None else self._rehearse(job, job.rehearsal))
        self._engine = rendered.report.engine
        self._enter("watermarking")
        drawn = job.part(
            WatermarkInput,
            picture=rendered.picture,
            photo_sha256=job.person.sha256,
            **rendered.report.model_dump(include={"engine", "revision", "region", "trained"}),
        )
        small = rendered.picture.size <= LARGEST_HERE_BYTES
        finished = await steps.WATERMARK.run(
            drawn, "the JPEG for the customer", here_first=self._newer and small, away=self._away
        )
        self._enter("settling")
        # The engine's report with the times of everything around it.
        stages = {f"stage_{name}": milliseconds for name, milliseconds in self._stage_ms.items()}
        report = rendered.report.model_copy(update={"timings_ms": {**rendered.report.timings_ms, **stages}})
        settlement = SettleInput(job_id=job.job_id, result=finished.result, report=report)
        return await steps.SETTLE.run(settlement, "completed and billed", here_first=self._newer)

    async def _draw(self, job: TryOnInput) -> RenderedPicture:
        self._enter("preparing")
        segmented, garments = await self._prepare(job)
        self._enter("rendering")
        rendered = await steps.RENDER.run(
            job.part(RenderInput, person_map=segmented.person_map, garments=garments),
            " + ".join(garment.category for garment in garments),
            task_queue=gpu_queue(job.priority),
            budget=_gpu_budget(job),
            away=self._away,
        )
        timings = {"segment": segmented.segment_ms, **rendered.report.timings_ms}
        return rendered.model_copy(update={"report": rendered.report.model_copy(update={"timings_ms": timings})})

    async def _rehearse(self, job: TryOnInput, script: RehearsalScript) -> RenderedPicture:
        """What a test key gets: no model is asked."""
        self._enter("rehearsing")
        if script.delay_seconds:
            await workflow.sleep(script.delay_seconds)
        request = job.part(RehearseInput, error_code=script.error_code)
        said = script.error_code or "test key: no model is asked"
        return await steps.REHEARSE.run(request, said, away=self._away)

    async def _prepare(self, job: TryOnInput) -> tuple[SegmentedPerson, list[FetchedGarment]]:
        """Segment the person while the garments are fetched; the first failure stops the others."""
        person = asyncio.create_task(
            steps.SEGMENT_PERSON.run(
                job.part(SegmentPersonInput),
                "person",
                task_queue=gpu_queue(job.priority),
                budget=_gpu_budget(job),
                away=self._away,
            )
        )
        garments = [
            asyncio.create_task(
                steps.FETCH_GARMENT.run(
                    FetchGarmentInput(job_id=job.job_id, garment=garment),
                    f"garment {garment.index + 1} of {len(job.garments)}: {garment.category}",
                    away=self._away,
                )
            )
            for garment in job.garments
        ]
        together: list[asyncio.Task[Any]] = [person, *garments]
        try:
            done, _ = await workflow.wait(together, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        except (Exception, asyncio.CancelledError):
            await steps.end(together)
            raise
        return person.result(), [garment.result() for garment in garments]

    async def _clean_up(self, job: TryOnInput) -> None:
        try:
            # Never beside the workflow: a task that is lost is gone through again, the steps before this one too, and
            # these need what it deletes.
            await steps.CLEAN_UP.run(job.part(CleanUpInput), "inputs and intermediate pictures")
        except ActivityError:
            # The job's outcome stands; the purge deletes what is left.
            workflow.logger.warning("clean-up failed", extra={"job_id": job.job_id, "account_id": job.account_id})

    def _enter(self, stage: str) -> None:
        """Note where the run is, for the query, the UI's details and searches."""
        now = workflow.now()
        self._stage_ms[self._stage] = round((now - self._stage_began) / timedelta(milliseconds=1))
        self._stage, self._stage_began = stage, now
        every = self._job.run_version == 1
        if every or stage in MAIN_STAGES:
            attributes: list[SearchAttributeUpdate[str]] = [STAGE_ATTRIBUTE.value_set(stage)]
            if self._engine is not None and (stage == "watermarking" if every else stage in ENDS):
                attributes.append(ENGINE_ATTRIBUTE.value_set(self._engine))
            if self._error_code is not None and stage == "failed":
                attributes.append(ERROR_ATTRIBUTE.value_set(self._error_code))
            workflow.upsert_search_attributes(attributes)
        lines = [f"**{stage}**" + (f": `{self._error_code}`" if self._error_code else "")]
        lines += [f"- {name}: {milliseconds} ms" for name, milliseconds in self._stage_ms.items() if name != "accepted"]
        lines += [f"- {what}: {said}" for what, said in (("engine", self._engine), ("fault", self._fault)) if said]
        workflow.set_current_details("\n".join(lines))  # Markdown that the Temporal UI shows above the history
