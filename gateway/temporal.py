"""Starting, stopping and looking at runs.

What is run is in `workflows`. What is here is how: under which id, what becomes of a second start under it, how long it
may take, and by what it is found in the Temporal UI.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Literal, TypeVar, cast

import structlog
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, Interceptor, WorkflowExecutionStatus, WorkflowHandle
from temporalio.common import (
    Priority,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
)
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.runtime import Runtime
from temporalio.service import RPCError, RPCStatusCode

from domain.errors import ErrorCode, TryOnError, known_code
from gateway.calls import AlreadyRunningError, RunFailedError, RunNotFoundError, TemporalAwayError, temporal_calls
from gateway.schedules import Schedules
from runtime.logs import ActivityLogContext
from runtime.settings import TemporalSettings
from workflows import queues
from workflows.accounts import (
    DeliverWebhookWorkflow,
    EraseAccountWorkflow,
    SendMailWorkflow,
    SetWatermarkWorkflow,
)
from workflows.backfills.contracts import BackfillInput, BackfillReport, BackfillState
from workflows.backfills.workflow import BackfillWorkflow
from workflows.check import LONGEST_CHECK, CheckWorkflow
from workflows.contracts import (
    CheckInput,
    DeliverWebhookInput,
    Drawing,
    EraseAccountInput,
    Findings,
    SendMailInput,
    SetWatermarkInput,
    TryOnInput,
    WatermarkSetting,
)
from workflows.products.contracts import ImportProductsInput, RegisterProductInput, SavedProduct
from workflows.products.registration import LONGEST_REGISTRATION, ImportProductsWorkflow, RegisterProductWorkflow
from workflows.queues import (
    ACCOUNT_ATTRIBUTE,
    BULK_PRIORITY,
    CHECK_PRIORITY,
    CPU_QUEUE,
    INTERACTIVE_PRIORITY,
    STAGE_ATTRIBUTE,
)
from workflows.steps import RENDER
from workflows.tryon import TryOnWorkflow, tryon_options

PATIENCE_SECONDS = 5.0  # until a call that no request waits for is given up

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.2, 5.0  # between looks whether Temporal is there; doubled every time

REFUSED = (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.INVALID_ARGUMENT)

IMPORT_MEMO = "importId"
"""Which file of products a run of the account registers."""

LONGEST_SUMMARY = 100  # characters of a product's name in the Temporal UI's list

_CLOSED: dict[WorkflowExecutionStatus, ErrorCode] = {
    WorkflowExecutionStatus.TERMINATED: "cancelled",
    WorkflowExecutionStatus.CANCELED: "cancelled",
    WorkflowExecutionStatus.TIMED_OUT: "timed_out",
}

_OPEN = (None, WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.CONTINUED_AS_NEW)

log = structlog.get_logger(__name__)

Argument = TypeVar("Argument")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Kind(Generic[Argument, Value]):
    """What is run, and for how long at most; another run under its id is meant, unless it has to be ``alone``."""

    run: Callable[[Any, Argument], Awaitable[Value]]
    longest: timedelta
    alone: bool = False


BACKFILL = Kind(BackfillWorkflow.run, timedelta(days=30), alone=True)  # waiting for generations included
CHECK = Kind(CheckWorkflow.run, LONGEST_CHECK)
ERASURE = Kind(EraseAccountWorkflow.run, timedelta(days=1))  # steps are tried until they succeed; then a new run
IMPORT = Kind(ImportProductsWorkflow.run, timedelta(days=2), alone=True)  # times when a part is away included
LOGO = Kind(SetWatermarkWorkflow.run, timedelta(minutes=2), alone=True)  # three downloads, half a minute; a restart
MAIL = Kind(SendMailWorkflow.run, timedelta(hours=25))  # the step is tried for a day
REGISTRATION = Kind(RegisterProductWorkflow.run, LONGEST_REGISTRATION)
WEBHOOK = Kind(DeliverWebhookWorkflow.run, timedelta(days=3))  # a day of attempts; pauses that receivers ask for


@dataclass(frozen=True)
class Progress:
    """Where a job's run is.

    Attributes:
        stage: Its own word for it.
        pending: By name, how many steps are under way or wait for a worker.
        drawing: How far the network is, while one draws.
        waits: Whether it lets time pass: for a part of the service that is away, or because a rehearsal takes its time.
        end: Why the run, which is closed, can no longer finish a job that is still open; None while it is open.
    """

    stage: str
    pending: Mapping[str, int]
    drawing: Drawing | None = None
    waits: bool = False
    end: ErrorCode | None = None


@dataclass(frozen=True)
class BackfillRun:
    """A backfill in Temporal's list."""

    backfill_id: str
    status: str
    stage: str


class TemporalGateway:
    """Everything that the service asks of Temporal; every method raises `TemporalAwayError` unless it says otherwise.

    Those that take a backfill's id raise `RunNotFoundError` where there is no such backfill, or it has ended where it
    is to be changed.

    Attributes:
        client: For workers, which need one, and for the doctor, who asks what nobody else does.
        schedules: What runs by the clock.
    """

    def __init__(self, client: Client, hurry: TemporalSettings | None = None) -> None:
        """Ask through ``client``; ``hurry`` has the times of a process that answers requests, else nobody waits."""
        self.client = client
        self.schedules = Schedules(client)
        self._start_seconds = hurry.start_timeout_seconds if hurry else PATIENCE_SECONDS
        self._look_seconds = hurry.describe_timeout_seconds if hurry else PATIENCE_SECONDS

    @classmethod
    async def connect(
        cls,
        settings: TemporalSettings,
        *,
        for_requests: bool = False,
        runtime: Runtime | None = None,
        interceptors: Sequence[Interceptor] = (),
    ) -> TemporalGateway:
        """Connect to Temporal.

        Where it is ``for_requests``, that is done at the first call, so that the process can start while Temporal is
        away, and calls are given up after the settings' seconds. The runtime serves metrics, see
        `runtime.metrics.sdk_runtime`; interceptors are also those of workers that use this client.
        """
        with temporal_calls():
            client = await Client.connect(
                settings.address,
                namespace=settings.namespace,
                data_converter=pydantic_data_converter,
                api_key=settings.api_key.get_secret_value() if settings.api_key else None,
                tls=settings.tls or settings.api_key is not None,
                lazy=for_requests,
                runtime=runtime,
                interceptors=[ActivityLogContext(), *interceptors],
            )
        return cls(client, settings if for_requests else None)

    @classmethod
    async def connect_once_there(
        cls, settings: TemporalSettings, *, runtime: Runtime | None = None, interceptors: Sequence[Interceptor] = ()
    ) -> TemporalGateway:
        """Connect a worker, however long Temporal takes to answer and to have the namespace; the log tells of it.

        Raises:
            TemporalAwayError: It answers, and refuses: no waiting mends a key that is not valid.
        """
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                gateway = await cls.connect(settings, runtime=runtime, interceptors=interceptors)
                await gateway.check_namespace()
            except TemporalAwayError as error:
                if isinstance(error.__cause__, RPCError) and error.__cause__.status in REFUSED:
                    raise
                if pause in (FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS):
                    log.warning("waiting for Temporal", address=settings.address, reason=str(error)[:200])
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            else:
                return gateway

    async def check_namespace(self) -> None:
        """Whether Temporal answers, and has the namespace."""
        asked = DescribeNamespaceRequest(namespace=self.client.namespace)
        with temporal_calls():
            service = self.client.workflow_service
            await service.describe_namespace(asked, timeout=timedelta(seconds=PATIENCE_SECONDS))

    async def check(self) -> None:
        """Whether Temporal answers."""
        with temporal_calls():
            await self.client.service_client.check_health()

    async def start_tryon(self, job: TryOnInput) -> None:
        """Start a job's run; does nothing if it was started before, running or closed."""
        with suppress(AlreadyRunningError):
            options = tryon_options(job)
            there = WorkflowIDConflictPolicy.USE_EXISTING
            await self._start(self.client.start_workflow(TryOnWorkflow.run, job, id_conflict_policy=there, **options))

    async def cancel_job(self, job_id: object) -> None:
        """Spare the workers a job whose outcome is decided. Nothing depends on that, so nothing is raised."""
        await self._cancel(queues.tryon_workflow_id(str(job_id)))

    async def end_of_job(self, job_id: str) -> ErrorCode | None:
        """Why an open job's run can no longer finish it.

        A run ends its job before it closes, so a job that is still open when its run is closed was left behind.

        Returns:
            The reason, or ``None`` while the run is open or unknown to Temporal (it may not have been handed over yet;
            the deadline decides then).
        """
        try:
            description = await self._look(self.client.get_workflow_handle(queues.tryon_workflow_id(job_id)).describe())
        except RunNotFoundError:
            return None
        return _end_of(description.status)

    async def progress_of_job(self, job_id: str) -> Progress:
        """Where an open job's run is; no worker is needed. Raises `RunNotFoundError` while there is no run yet."""
        description = await self._look(self.client.get_workflow_handle(queues.tryon_workflow_id(job_id)).describe())
        raw, end = description.raw_description, _end_of(description.status)
        steps = raw.pending_activities
        pending = Counter(step.activity_type.name for step in steps)
        stage = description.typed_search_attributes.get(STAGE_ATTRIBUTE, "")
        render = next((step for step in steps if step.activity_type.name == RENDER.name and _is_under_way(step)), None)
        # An open run that neither has a step nor is to decide on one has nothing but a timer.
        waits = end is None and not steps and not raw.HasField("pending_workflow_task")
        return Progress(stage, pending, await self._drawing(render) if render else None, waits, end)

    async def _drawing(self, render: PendingActivityInfo) -> Drawing | None:
        """What the last heartbeat told besides its line for people; another release may have told anything."""
        told = render.heartbeat_details.payloads
        if len(told) != 2:
            return None
        try:
            _, drawing = await self.client.data_converter.decode(told, [str, Drawing])
        except (ValueError, RuntimeError):  # pydantic's errors are ValueErrors; RuntimeError is the converter's own
            return None
        return cast("Drawing", drawing)

    async def register_product(
        self,
        registration: RegisterProductInput,
        *,
        priority: int = INTERACTIVE_PRIORITY,
        seconds: float | None = None,
    ) -> SavedProduct:
        """Add or change a product, and wait for that.

        What is not done when this gives up, after some seconds if it is told how many, is cancelled, so that it is not
        done behind the caller's back later on. It may be too late for that.

        Raises:
            RunFailedError: It was refused.
            TimeoutError: It took too long.
        """
        fields, run_id = registration.fields, queues.registration_workflow_id(registration.registration_id)
        summary = fields.external_id or fields.name or registration.product_id or ""
        said, account_id = f"product: {summary[:LONGEST_SUMMARY]}", registration.account_id
        return await self._result(
            REGISTRATION, registration, run_id, said, account_id, priority=priority, seconds=seconds
        )

    async def check_pictures(self, check: CheckInput, seconds: float) -> Findings:
        """Have pictures looked at, and wait for that; what takes longer than these seconds is cancelled.

        Raises:
            RunFailedError: It could not be found out.
            TimeoutError: It took too long.
        """
        run_id, said = queues.check_workflow_id(check.check_id), f"check of {len(check.garments)} garments"
        return await self._result(
            CHECK, check, run_id, said, check.account_id, priority=CHECK_PRIORITY, seconds=seconds
        )

    async def import_products(self, wanted: ImportProductsInput) -> None:
        """Start registering the rows of a file; raises `AlreadyRunningError` while another of the account is."""
        run_id, said = queues.import_workflow_id(wanted.account_id), f"import of {wanted.rows} products"
        memo = {IMPORT_MEMO: wanted.import_id}
        await self._begin(IMPORT, wanted, run_id, said, wanted.account_id, priority=BULK_PRIORITY, memo=memo)

    async def running_import(self, account_id: str) -> str | None:
        """Which file of the account is being imported, if any is; empty where its run began before version 0.6."""
        try:
            run = await self._start(self.client.get_workflow_handle(queues.import_workflow_id(account_id)).describe())
        except RunNotFoundError:
            return None
        return await run.memo_value(IMPORT_MEMO, "") if run.status in _OPEN else None

    async def set_watermark(self, wanted: SetWatermarkInput) -> WatermarkSetting:
        """Have a logo fetched and made the account's watermark, and wait for that.

        It is a run because only the CPU worker dials addresses that strangers chose. One runs at a time for an account:
        two could each delete the other's logo.

        Raises:
            TryOnError: One of the ``logo_…`` codes; ``busy`` when no worker got to it in time, ``internal`` otherwise.
        """
        try:
            run = await self._begin(LOGO, wanted, queues.watermark_workflow_id(wanted.account_id), "watermark")
            with temporal_calls():
                return await run.result()
        except AlreadyRunningError:
            raise TryOnError("logo_being_set") from None
        except RunFailedError as failure:
            raise TryOnError("busy" if failure.code is None else known_code(failure.code, "internal")) from failure

    async def erase_account(self, erasure: EraseAccountInput) -> None:
        """Start deleting what the account has stored, unless that is under way."""
        account_id = erasure.account_id
        await self._begin(ERASURE, erasure, queues.erasure_workflow_id(account_id), "erasure", account_id)

    async def send_mail(self, mail_id: str) -> None:
        """Start sending a message, unless that is under way.

        A message whose run has ended without sending it may be started again: the row says what is left to do.
        """
        await self._begin(MAIL, SendMailInput(mail_id=mail_id), queues.mail_workflow_id(mail_id), "mail")

    async def deliver_webhook(self, delivery_id: str, account_id: str) -> None:
        """Start delivering a message, unless that is under way; the row says what is left to do."""
        delivery, run_id = DeliverWebhookInput(delivery_id=delivery_id), queues.webhook_workflow_id(delivery_id)
        await self._begin(WEBHOOK, delivery, run_id, "webhook", account_id, priority=BULK_PRIORITY)

    async def start_backfill(self, backfill_id: str, backfill: BackfillInput) -> None:
        """Start a backfill, as engineers do with Temporal's own command line.

        Raises:
            AlreadyRunningError: A backfill of this name is running; one that has ended is no hindrance.
        """
        said = f"backfill for {backfill.account}"
        await self._begin(BACKFILL, backfill, backfill_id, said, priority=backfill.priority)

    async def backfill_report(self, backfill_id: str) -> BackfillReport:
        """Wait for the end of a backfill; raises `RunFailedError` where it has no report."""
        with temporal_calls():
            return await self._backfill(backfill_id).result()

    async def backfill_state(self, backfill_id: str) -> tuple[BackfillState, bool]:
        """How far a backfill is, and whether it is still running."""
        handle = self._backfill(backfill_id)
        with temporal_calls():
            state = await handle.query(BackfillWorkflow.progress)
            return state, (await handle.describe()).status is WorkflowExecutionStatus.RUNNING

    async def steer_backfill(self, backfill_id: str, signal: Literal["pause", "resume", "cancel"]) -> None:
        """Have it start no more items, go on, or end."""
        await self._start(self._backfill(backfill_id).signal(signal))

    async def set_backfill_concurrency(self, backfill_id: str, concurrency: int) -> BackfillState:
        """Change how many items may be in flight; it takes a CPU worker to do that."""
        run = self._backfill(backfill_id)
        return await self._start(run.execute_update(BackfillWorkflow.set_concurrency, concurrency))

    async def backfills(self, account_id: str | None = None) -> AsyncIterator[BackfillRun]:
        """Every backfill that Temporal still knows, the newest first; of one account only those that are running."""
        query = "WorkflowType = 'BackfillWorkflow' AND ExecutionStatus != 'ContinuedAsNew'"
        if account_id is not None:
            query += f" AND ExecutionStatus = 'Running' AND {ACCOUNT_ATTRIBUTE.name} = '{account_id}'"
        with temporal_calls():
            async for run in self.client.list_workflows(query):
                stage = run.typed_search_attributes.get(STAGE_ATTRIBUTE, "")
                yield BackfillRun(run.id, run.status.name.lower() if run.status else "", stage)

    def _backfill(self, backfill_id: str) -> WorkflowHandle[BackfillWorkflow, BackfillReport]:
        return self.client.get_workflow_handle_for(BackfillWorkflow.run, backfill_id)

    async def _result(
        self,
        kind: Kind[Argument, Value],
        argument: Argument,
        run_id: str,
        summary: str,
        account_id: str,
        *,
        priority: int,
        seconds: float | None,
    ) -> Value:
        """Run it and wait for what comes of it; cancel it where that is given up."""
        try:
            run = await self._begin(kind, argument, run_id, summary, account_id, priority=priority)
            async with asyncio.timeout(seconds):
                with temporal_calls():
                    return await run.result()
        except (TemporalAwayError, TimeoutError):
            await self._cancel(run_id)
            raise

    async def _begin(
        self,
        kind: Kind[Argument, Value],
        argument: Argument,
        run_id: str,
        summary: str,
        account_id: str | None = None,
        *,
        priority: int | None = None,
        memo: Mapping[str, str] | None = None,
    ) -> WorkflowHandle[Any, Value]:
        attributes = [] if account_id is None else [SearchAttributePair(ACCOUNT_ATTRIBUTE, account_id)]
        policy = WorkflowIDConflictPolicy.FAIL if kind.alone else WorkflowIDConflictPolicy.USE_EXISTING
        return await self._start(
            self.client.start_workflow(
                kind.run,
                argument,
                id=run_id,
                task_queue=CPU_QUEUE,
                id_conflict_policy=policy,
                execution_timeout=kind.longest,
                priority=Priority(priority_key=priority, fairness_key=account_id),
                search_attributes=TypedSearchAttributes(attributes),
                static_summary=summary,
                memo=memo,
            )
        )

    async def _start(self, call: Coroutine[Any, Any, Value]) -> Value:
        with temporal_calls():
            return await asyncio.wait_for(call, self._start_seconds)

    async def _look(self, call: Coroutine[Any, Any, Value]) -> Value:
        with temporal_calls():
            return await asyncio.wait_for(call, self._look_seconds)

    async def _cancel(self, run_id: str) -> None:
        with suppress(TemporalAwayError, RunNotFoundError):
            await self._start(self.client.get_workflow_handle(run_id).cancel())


def _end_of(status: WorkflowExecutionStatus | None) -> ErrorCode | None:
    return None if status in _OPEN else _CLOSED.get(status, "generation_failed")


def _is_under_way(step: PendingActivityInfo) -> bool:
    """Whether a worker has it; one that waits for another worker still has the last one's heartbeat."""
    return step.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
