"""What crosses Temporal when an account is erased."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from workflows.contracts import Contract, Identifier


class EraseAccountInput(Contract):
    """Delete what an account has stored.

    Attributes:
        aftermath_seconds: How long to wait for steps that were under way and may still write something.
    """

    account_id: Identifier
    aftermath_seconds: Annotated[int, Field(ge=0, le=86_400)] = 300


class ErasedAccount(Contract):
    """The account that a step is about; it is blocked, and none of its keys is valid."""

    account_id: Identifier


class ErasureReport(Contract):
    """What was done.

    Attributes:
        cancelled: Jobs and backfills that were in progress.
        deleted: Objects.
        forgotten: Rows, without those of jobs, which are emptied and stay.
    """

    cancelled: int = 0
    deleted: int = 0
    forgotten: int = 0
