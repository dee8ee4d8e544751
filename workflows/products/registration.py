"""`RegisterProductWorkflow`: a product added or changed, with pictures of its own.

A registration either takes effect as a whole or fails with a code of the error catalogue and changes nothing.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, ApplicationErrorCategory, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from domain.errors import ErrorCode, known_code
    from workflows import steps
    from workflows.products.contracts import (
        CleanUpRegistrationInput,
        CopiedPictures,
        CopyPicturesInput,
        RegisterProductInput,
        SavedProduct,
        SaveProductInput,
    )

LONGEST_REGISTRATION = timedelta(minutes=2)
"""The steps' own budgets end a run within 40 s of being picked up by a worker."""


@workflow.defn(name="RegisterProductWorkflow", failure_exception_types=[ValidationError])
class RegisterProductWorkflow:
    """Copy the pictures, save the row, delete what was only needed on the way."""

    @workflow.run
    async def run(self, registration: RegisterProductInput) -> SavedProduct:
        """Carry out the registration.

        Raises:
            ApplicationError: Its type is a code of the catalogue; its detail, if any, the field that was refused.
        """
        kept: list[str] = []
        try:
            pictures = await self._copy(registration)
            kept = pictures.keys
            saved = await self._save(registration, pictures)
        except (ActivityError, asyncio.CancelledError) as error:
            # Whether a step that was cut off has saved the row is not known: its pictures are left to the sweep then.
            await self._clean_up(registration, [] if _is_refusal(error) else kept)
            raise _as_failure(error) from error
        await self._clean_up(registration, saved.picture_keys)
        return saved

    async def _copy(self, registration: RegisterProductInput) -> CopiedPictures:
        if registration.front is None and registration.back is None:
            return CopiedPictures()
        return await steps.COPY_PRODUCT_PICTURES.run(
            CopyPicturesInput(
                registration_id=registration.registration_id,
                account_id=registration.account_id,
                front=registration.front,
                back=registration.back,
            )
        )

    async def _save(self, registration: RegisterProductInput, pictures: CopiedPictures) -> SavedProduct:
        return await steps.SAVE_PRODUCT.run(
            SaveProductInput(
                registration_id=registration.registration_id,
                account_id=registration.account_id,
                product_id=registration.product_id,
                fields=registration.fields,
                clear=registration.clear,
                pictures=pictures,
            )
        )

    async def _clean_up(self, registration: RegisterProductInput, keep: list[str]) -> None:
        if registration.front is None and registration.back is None:
            return
        try:
            await steps.CLEAN_UP_REGISTRATION.run(
                CleanUpRegistrationInput(
                    registration_id=registration.registration_id, account_id=registration.account_id, keep=keep
                )
            )
        except ActivityError:
            workflow.logger.warning("clean-up failed", extra={"registration_id": registration.registration_id})


def _is_refusal(error: BaseException) -> bool:
    """Whether a step said no for good, rather than being cut off."""
    cause = error.cause if isinstance(error, ActivityError) else None
    return isinstance(cause, ApplicationError) and cause.non_retryable


def _as_failure(error: BaseException) -> ApplicationError:
    """The run's failure, by the code of the step that failed."""
    cause = error.cause if isinstance(error, ActivityError) else error
    code: ErrorCode = "timed_out"
    details: tuple[object, ...] = ()
    if is_cancelled_exception(error):
        code = "cancelled"
    elif isinstance(cause, ApplicationError):
        # An exception that nobody expected is nearly always a part that is away; Temporal keeps it as the cause.
        code, details = known_code(cause.type, "storage_unavailable"), tuple(cause.details)
        if code != cause.type:
            about = {"fault": cause.type}
            workflow.logger.error("a registration failed for a reason that nobody expected", extra=about)
    return ApplicationError(
        str(cause), *details, type=code, non_retryable=True, category=ApplicationErrorCategory.BENIGN
    )
