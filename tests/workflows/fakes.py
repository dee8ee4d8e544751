"""Activities that remember what they were asked and do as a test says, under the real names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import ValidationError
from temporalio import activity

from activities.failures import expected_failures, failure
from domain.errors import known_code
from workflows import steps
from workflows.contracts import (
    CleanUpInput,
    Contract,
    FetchedGarment,
    FetchGarmentInput,
    GarmentSource,
    ObjectRef,
    RehearseInput,
    ReleaseInput,
    RenderedPicture,
    RenderInput,
    RenderReport,
    SegmentedPerson,
    SegmentPersonInput,
    SettleInput,
    SweepInput,
    SweepReport,
    TryOnInput,
    TryOnOutcome,
    WatermarkedPicture,
    WatermarkInput,
)


def ref(key: str) -> ObjectRef:
    return ObjectRef(bucket="tryon", key=key, sha256="0" * 64, size=1, content_type="image/png")


def mistake_of_ours() -> ValidationError:
    """An exception that no step expects and that Temporal does not try again: a step is over for good at once."""
    try:
        SweepInput(limit=0)
    except ValidationError as error:
        return error
    raise AssertionError


def tryon_input(job_id: str, garments: int = 1, **fields: Any) -> TryOnInput:
    """As the API sends it."""
    return TryOnInput(
        job_id=job_id,
        account_id="an-account",
        kind="single" if garments == 1 else "combo",
        person=ref("person"),
        garments=[
            GarmentSource(index=index, category="upper_body", picture=ref(f"garment-{index}"))
            for index in range(garments)
        ],
        **{"run_version": 2} | fields,
    )


class FakeSteps:
    """Every activity; ``before`` runs first and may wait, or raise what the real step would: it fails as that does."""

    def __init__(self, before: Callable[[str], Awaitable[None]] | None = None) -> None:
        self.calls: list[tuple[str, Contract]] = []
        self.only: set[str] | None = None
        """Jobs that count; runs that other tests left behind are played to their end and not noted."""
        self.picture_bytes = 1
        self._before = before

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    def input_of(self, name: str) -> Any:
        return next(argument for called, argument in self.calls if called == name)

    async def _enter(self, name: str, argument: Contract) -> None:
        if self.only is not None and getattr(argument, "job_id", None) not in self.only:
            return
        self.calls.append((name, argument))
        if self._before is not None:
            beating = asyncio.create_task(self._beat())
            try:
                with expected_failures():
                    await self._before(name)
            finally:
                beating.cancel()

    @staticmethod
    async def _beat() -> None:
        while not activity.info().is_local:
            activity.heartbeat()
            await asyncio.sleep(0.05)

    def cpu_activities(self) -> list[Callable[..., Any]]:
        return [self.fetch_garment, self.rehearse, self.watermark, self.settle, self.release, self.clean_up]

    def gpu_activities(self) -> list[Callable[..., Any]]:
        return [self.segment_person, self.render]

    @activity.defn(name=steps.FETCH_GARMENT.name)
    async def fetch_garment(self, request: FetchGarmentInput) -> FetchedGarment:
        await self._enter("fetch_garment", request)
        return FetchedGarment(
            index=request.garment.index,
            category=request.garment.category,
            picture=ref(f"fetched-{request.garment.index}"),
        )

    @activity.defn(name=steps.SEGMENT_PERSON.name)
    async def segment_person(self, request: SegmentPersonInput) -> SegmentedPerson:
        await self._enter("segment_person", request)
        return SegmentedPerson(person_map=ref("map"), segment_ms=7)

    @activity.defn(name=steps.RENDER.name)
    async def render(self, request: RenderInput) -> RenderedPicture:
        await self._enter("render", request)
        picture = ref("rendered").model_copy(update={"size": self.picture_bytes})
        return RenderedPicture(picture=picture, report=RenderReport(engine="fake", timings_ms={"draw": 5}))

    @activity.defn(name=steps.REHEARSE.name)
    async def rehearse(self, request: RehearseInput) -> RenderedPicture:
        await self._enter("rehearse", request)
        if request.error_code:
            raise failure(known_code(request.error_code), "as asked")
        return RenderedPicture(picture=ref("rendered"), report=RenderReport(engine="rehearsal"))

    @activity.defn(name=steps.WATERMARK.name)
    async def watermark(self, request: WatermarkInput) -> WatermarkedPicture:
        await self._enter("watermark", request)
        return WatermarkedPicture(result=ref("result"))

    @activity.defn(name=steps.SETTLE.name)
    async def settle(self, request: SettleInput) -> TryOnOutcome:
        await self._enter("settle", request)
        return TryOnOutcome(status="completed", generation_ms=1)

    @activity.defn(name=steps.RELEASE.name)
    async def release(self, request: ReleaseInput) -> TryOnOutcome:
        await self._enter("release", request)
        return TryOnOutcome(status="failed", error_code=request.error_code)

    @activity.defn(name=steps.CLEAN_UP.name)
    async def clean_up(self, request: CleanUpInput) -> SweepReport:
        await self._enter("clean_up", request)
        return SweepReport()
