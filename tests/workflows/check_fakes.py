"""Steps of a check that do as a test says, under the real names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from temporalio import activity

from activities.failures import expected_failures
from tests.workflows.fakes import ref
from workflows import steps
from workflows.contracts import (
    CheckInput,
    CleanUpCheckInput,
    ExamineInput,
    FetchedGarment,
    FetchGarmentInput,
    Finding,
    Findings,
    GarmentSource,
    SweepReport,
)

Before = Callable[[str, Any], Awaitable[None]]

SHADOWS = Finding(code="photo_dark", severity="advice", advice="The photo is dark.")


class FakeCheckSteps:
    """The steps by their names; ``before`` runs first and may wait or raise."""

    def __init__(self, before: Before | None = None) -> None:
        self.calls: list[tuple[str, Any]] = []
        self._before = before

    async def _enter(self, name: str, argument: Any) -> None:
        self.calls.append((name, argument))
        if self._before is not None:
            with expected_failures():
                await self._before(name, argument)

    @activity.defn(name=steps.FETCH_GARMENT.name)
    async def fetch(self, request: FetchGarmentInput) -> FetchedGarment:
        await self._enter("fetch", request)
        index = request.garment.index
        return FetchedGarment(index=index, category=request.garment.category, picture=ref(f"fetched-{index}"))

    @activity.defn(name=steps.EXAMINE.name)
    async def examine(self, request: ExamineInput) -> Findings:
        await self._enter("examine", request)
        return Findings(findings=[SHADOWS])

    @activity.defn(name=steps.CLEAN_UP_CHECK.name)
    async def clean_up(self, request: CleanUpCheckInput) -> SweepReport:
        await self._enter("clean_up", request)
        return SweepReport()


def check_input(check_id: str, garments: int = 1, **fields: Any) -> CheckInput:
    """As the API sends it."""
    return CheckInput(
        check_id=check_id,
        account_id="an-account",
        person=ref("person"),
        garments=[
            GarmentSource(index=index, category="upper_body", picture_url=f"https://shop.example/{index}.jpg")
            for index in range(garments)
        ],
        **fields,
    )
