"""What is done for an account besides its try-ons: mail to its owner, its webhooks, its logo, its end."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import steps
    from workflows.contracts import (
        DeliverWebhookInput,
        EraseAccountInput,
        ErasedAccount,
        ErasureReport,
        FetchLogoInput,
        MailReport,
        SaveWatermarkInput,
        SendMailInput,
        SetWatermarkInput,
        WatermarkSetting,
        WebhookReport,
    )


@workflow.defn(name="SendMailWorkflow", failure_exception_types=[ValidationError])
class SendMailWorkflow:
    """A message to an owner, handed to the server that takes mail, however long that is away.

    One step. The row in the database says whether it has to be done.
    """

    @workflow.run
    async def run(self, mail: SendMailInput) -> MailReport:
        """Send the message."""
        return await steps.SEND_MAIL.run(mail)


@workflow.defn(name="DeliverWebhookWorkflow", failure_exception_types=[ValidationError])
class DeliverWebhookWorkflow:
    """A message about an event, delivered to one endpoint, with growing pauses over a day.

    The row in the database says how often it was tried; how long to wait is `domain.webhooks`' business, so that a
    release may change it for runs that are open.
    """

    @workflow.run
    async def run(self, delivery: DeliverWebhookInput) -> WebhookReport:
        """Deliver it, or find out that it cannot be."""
        report = await steps.ATTEMPT_WEBHOOK.run(delivery, "attempt 1")
        while report.outcome == "waiting":
            said = f"until attempt {report.attempts + 1}"
            await workflow.sleep(timedelta(seconds=report.pause_seconds), summary=said)
            report = await steps.ATTEMPT_WEBHOOK.run(delivery, f"attempt {report.attempts + 1}")
        return report


@workflow.defn(name="SetWatermarkWorkflow", failure_exception_types=[ValidationError])
class SetWatermarkWorkflow:
    """Fetch a logo and make it the account's watermark. Where the fetch fails, what was set before stays as it was.

    It is a workflow because only the CPU worker dials addresses that strangers chose.
    """

    @workflow.run
    async def run(self, wanted: SetWatermarkInput) -> WatermarkSetting:
        """Set the watermark; a logo that cannot be used fails the run with its code of the catalogue."""
        logo = await steps.FETCH_LOGO.run(wanted.part(FetchLogoInput), "logo")
        said = f"logo of {logo.width} x {logo.height} pixels, {'on' if wanted.enabled else 'off'}"
        return await steps.SAVE_WATERMARK.run(wanted.part(SaveWatermarkInput, logo=logo), said)


@workflow.defn(name="EraseAccountWorkflow", failure_exception_types=[ValidationError])
class EraseAccountWorkflow:
    """Everything that an account has stored goes, whatever fails on the way.

    It is started once `domain.erasure.begin_erasure` has been committed, by the process that did that and, for as long
    as it is not done, by the reconciler. It ends what runs, deletes pictures, waits for what was just being written,
    deletes that too, and forgets the rows.
    """

    @workflow.run
    async def run(self, erasure: EraseAccountInput) -> ErasureReport:
        """Carry it out."""
        account = erasure.part(ErasedAccount)
        first = await steps.END_ACCOUNT_RUNS.run(account)
        deleted = await steps.DELETE_ACCOUNT_OBJECTS.run(account)
        await workflow.sleep(timedelta(seconds=erasure.aftermath_seconds), summary="steps that are under way end")
        second = await steps.END_ACCOUNT_RUNS.run(account)
        rest = await steps.DELETE_ACCOUNT_OBJECTS.run(account)
        forgotten = await steps.FORGET_ACCOUNT_ROWS.run(account)
        return ErasureReport(
            cancelled=first.cancelled + second.cancelled,
            deleted=deleted.deleted + rest.deleted,
            forgotten=forgotten.forgotten,
        )
