"""``segment_person``, ``render`` and ``examine``: the steps that need the engine's device."""

from __future__ import annotations

import asyncio
import io
import time
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
from opentelemetry.trace import NoOpTracer, Tracer
from temporalio import activity

from activities.device import Device, device_span, heartbeats
from activities.drafts import drafts_of
from activities.failures import expected_failures, failure, saying_which
from activities.objects import get_object, holder, put_object
from domain.errors import known_code
from domain.object_keys import work_key
from engines.advice import SENTENCES, advice_on_garment, advice_on_photo
from engines.base import (
    Category,
    DeviceBroken,
    DeviceOutOfMemory,
    Engine,
    EngineError,
    EngineUnavailable,
    Garment,
    Hints,
    OnStep,
    PersonMap,
    PersonSegmenter,
    Picture,
    RenderRequest,
    RenderResult,
    ShouldStop,
)
from engines.errors import noted_in
from engines.hint_sense import dressing_order
from engines.kind_folding import fold_kind
from engines.routes import RoutedEngines
from engines.sizes import fit_of
from imaging.decode import decode_image
from imaging.decoder_pool import DecoderPool
from imaging.encode import encode_png
from imaging.limits import STORED_LIMITS
from runtime.metric_catalogue import (
    ENGINE_READING,
    PAINT_SECONDS,
    QUEUE_SECONDS,
    RENDER_SECONDS,
    SECOND_TRIES,
)
from runtime.metrics import activity_meter
from runtime.object_store import ObjectStore
from workflows import steps
from workflows.contracts import (
    ExamineInput,
    FetchedGarment,
    Finding,
    Findings,
    GarmentHints,
    ObjectRef,
    RenderedPicture,
    RenderInput,
    RenderReport,
    SegmentedPerson,
    SegmentPersonInput,
)
from workflows.queues import INTERACTIVE_PRIORITY, is_urgent

RENDER_FOLLOWS_SECONDS = 1.0
"""Within which the render of a person who was just segmented asks for the device, the garments being there already."""

SEGMENTER = "person"  # what stands for an engine where the person is found

ENGINE_PAUSE = timedelta(seconds=20)
"""Until a render is offered again to the workers, one of which did not have the engine that it names."""

MOST_KEPT, KEPT_SECONDS = 4, 60.0
"""Photos and person maps, together, that wait in memory for their render, and for how long at most."""

PERSON_MAP_TYPE = "application/x-npz"


def pack_person_map(person_map: PersonMap) -> bytes:
    """NumPy archive, compressed as fast as can be: it is a fifth larger than NumPy's own, in a third of the time."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name in ("labels", "matte", "landmarks", "score"):
            with file.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(getattr(person_map, name)))
    return archive.getvalue()


def unpack_person_map(data: bytes) -> PersonMap:
    """The reverse of `pack_person_map`; never unpickles anything."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in ("labels", "matte", "landmarks")}
        return PersonMap(**arrays, score=float(archive["score"]))


def _is_urgent() -> bool:
    return is_urgent(activity.info().priority.priority_key or INTERACTIVE_PRIORITY)


def engine_hints(hints: GarmentHints) -> Hints:
    """The caller's hints in the engine's words, which keep the caller's own beside them."""
    # Not judged again: what was accepted before a bound became narrower is drawn all the same.
    return Hints.model_construct(
        **dict(hints), kind=fold_kind(hints.garment_category), fit=fit_of(hints.size, hints.customer_size)
    )


def report_of(engine: Engine, photo: Picture, result: RenderResult) -> RenderReport:
    """The part of a result that goes on the job's row."""
    return RenderReport(
        engine=engine.info.name,
        revision=engine.info.revision[:64],
        region=changed_region(photo, result.picture),
        trained=engine.info.trained,
        hints_applied=list(result.hints_applied),
        hints_not_applied={name: reason[:200] for name, reason in result.hints_not_applied.items()},
        timings_ms=dict(result.timings_ms),
        checks={name: round(float(figure), 4) for name, figure in result.checks.items()},
    )


def changed_region(before: Picture, after: Picture) -> list[int]:
    """Left, top, width and height of the smallest box around every pixel that differs; empty where none does."""
    if before.shape != after.shape:
        return []
    differs = (before != after).any(axis=2)
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not rows.size:
        return []
    left, top = int(columns[0]), int(rows[0])
    return [left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1]


@dataclass
class InferenceActivities:
    """Steps on the GPU queue. Only the engine itself holds the device; fetching and encoding happen beside it.

    Attributes:
        give_up: Called when the device is broken, or when a render did not fit into its memory a second time: a
            process whose memory is that fragmented, or whose neighbour took it, is better started anew.
    """

    store: ObjectStore
    segmenter: PersonSegmenter
    engines: RoutedEngines
    device: Device
    give_up: Callable[[], None]
    decoders: DecoderPool
    tracer: Tracer = field(default_factory=NoOpTracer)
    _kept: OrderedDict[ObjectRef, Picture | PersonMap] = field(default_factory=OrderedDict, init=False)

    @activity.defn(name=steps.SEGMENT_PERSON.name)
    async def segment_person(self, request: SegmentPersonInput) -> SegmentedPerson:
        """Find the person and store the map."""
        entered = time.monotonic()
        with expected_failures():
            async with heartbeats():
                photo = await self._photo(request.person)
            began = time.monotonic()
            with device_span(self.tracer, "segment", SEGMENTER) as watch:
                person_map = await self.device.run(
                    watch.over(lambda on_step, should_stop: self.segmenter.segment(photo, on_step, should_stop)),
                    urgent=_is_urgent(),
                    hold_seconds=RENDER_FOLLOWS_SECONDS if _is_urgent() else 0.0,
                )
            spent = round(1000 * (time.monotonic() - began))
            async with heartbeats(time.monotonic() - entered):
                data = await asyncio.to_thread(pack_person_map, person_map)
                key = work_key(request.job_id, "person-map.npz")
                ref = await put_object(self.store, key, data, PERSON_MAP_TYPE)
        self._keep(request.person, photo)
        self._keep(ref, person_map)
        return SegmentedPerson(person_map=ref, segment_ms=spent)

    @activity.defn(name=steps.RENDER.name)
    async def render(self, request: RenderInput) -> RenderedPicture:
        """Draw the picture and store it, lossless."""
        entered = time.monotonic()
        with expected_failures():
            async with heartbeats():
                photo, person_map, garments = await asyncio.gather(
                    self._photo(request.person),
                    self._person_map(request.person_map),
                    asyncio.gather(*(self._garment(garment) for garment in request.garments)),
                )
            async with drafts_of(self.store, request.job_id) as drafts:
                prepared = RenderRequest(photo, person_map, dressing_order(garments), request.seed, drafts)
                try:
                    engine = self.engines.engine_for(prepared.garments, request.engine)
                except EngineUnavailable as error:  # another worker may have it, and be busy or loading it
                    said = str(error)
                    raise failure("generation_failed", said, again=ENGINE_PAUSE, about=said) from None
                with saying_which(garments):
                    result = await self._drawn(engine, prepared)
                async with heartbeats(time.monotonic() - entered):
                    await asyncio.shield(drafts.close())
                    png = await asyncio.to_thread(encode_png, result.picture)
                    report = await asyncio.to_thread(report_of, engine, prepared.person, result)
                    picture = await put_object(self.store, work_key(request.job_id, "rendered.png"), png, "image/png")
        return RenderedPicture(picture=picture, report=report)

    @activity.defn(name=steps.EXAMINE.name)
    async def examine(self, request: ExamineInput) -> Findings:
        """Say what keeps the engine from drawing a picture, and what would make a better one. Nothing is stored."""
        with expected_failures():
            async with heartbeats():
                photo, garments = await asyncio.gather(
                    self._photo(request.person),
                    asyncio.gather(*(self._garment(garment) for garment in request.garments)),
                )
            engine = self.engines.engine_for(garments)

            def look(on_step: OnStep, should_stop: ShouldStop) -> list[Finding]:
                refusals, person_map = list[EngineError](), None
                with noted_in(refusals):
                    person_map = self.segmenter.segment(photo, on_step, should_stop)
                refusals += engine.examine(photo, person_map, dressing_order(garments), on_step, should_stop)
                place = {id(each): fetched.index for each, fetched in zip(garments, request.garments, strict=True)}
                problems = [
                    Finding(code=known_code(each.code), garment=place.get(id(each.garment)), advice=each.advice or None)
                    for each in refusals
                ]
                advice: dict[int | None, list[str]] = {None: advice_on_photo(photo, person_map)}
                advice |= {place[id(each)]: advice_on_garment(each.picture) for each in garments}
                return problems + [
                    Finding(code=code, severity="advice", garment=where, advice=SENTENCES[code])
                    for where, codes in advice.items()
                    for code in codes
                ]

            with device_span(self.tracer, "examine", engine.info.name) as watch:
                return Findings(findings=await self.device.run(watch.over(look), urgent=False))

    async def _drawn(self, engine: Engine, request: RenderRequest) -> RenderResult:
        """One render, and another one where the device's memory was full, and was emptied."""
        try:
            return await self._metered(engine, request)
        except DeviceOutOfMemory:
            activity.logger.warning("device out of memory", extra={"engine": engine.info.name})
        try:
            return await self._metered(engine, request)
        except DeviceOutOfMemory as error:
            self.give_up()
            raise failure("generation_failed", f"out of device memory twice: {error}") from error

    async def _metered(self, engine: Engine, request: RenderRequest) -> RenderResult:
        """One render. After a device is broken every further one would fail in milliseconds, job after job."""
        began, result, pace = time.monotonic(), None, engine.info.pace

        def render(on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
            try:
                return engine.render(request, on_step, should_stop)
            except DeviceOutOfMemory as error:
                full = DeviceOutOfMemory(str(error))
            # Before anybody else has the device, and out here: the other error's traceback holds what fills it.
            engine.free_memory()
            raise full

        try:
            with device_span(self.tracer, "render", engine.info.name) as watch:
                result = await self.device.run(
                    watch.over(render),
                    urgent=_is_urgent(),
                    step_seconds=pace.step_seconds if pace else 0.0,
                    engine=engine.info,
                )
                watch.describe(result)
            return result
        except DeviceBroken:
            self.give_up()
            raise
        finally:
            record_render(engine, time.monotonic() - began, result)

    def _keep(self, ref: ObjectRef, made: Picture | PersonMap) -> None:
        """Have it at hand for the render, which nearly always comes next and here; the store stays the truth."""
        self._kept[ref] = made
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        asyncio.get_running_loop().call_later(KEPT_SECONDS, self._kept.pop, ref, None)

    async def _photo(self, ref: ObjectRef) -> Picture:
        kept = self._kept.pop(ref, None)
        if isinstance(kept, np.ndarray):
            return kept
        return await self.decoders.decode(holder(), await get_object(self.store, ref), STORED_LIMITS)

    async def _person_map(self, ref: ObjectRef) -> PersonMap:
        kept = self._kept.pop(ref, None)
        if isinstance(kept, PersonMap):
            return kept
        return await asyncio.to_thread(unpack_person_map, await get_object(self.store, ref))

    async def _normalised(self, ref: ObjectRef) -> Picture:
        return await asyncio.to_thread(decode_image, await get_object(self.store, ref), STORED_LIMITS)

    async def _garment(self, garment: FetchedGarment) -> Garment:
        return Garment(
            picture=await self._normalised(garment.picture),
            category=Category(garment.category),
            hints=engine_hints(garment.hints),
            back_picture=await self._normalised(garment.back_picture) if garment.back_picture else None,
        )


def record_render(engine: Engine, seconds: float, result: RenderResult | None) -> None:
    """Record one render, waiting for the device included, inside its activity; without a result there is no picture."""
    meter, name = activity_meter(), engine.info.name
    meter.record(RENDER_SECONDS, seconds, engine=name)
    if result is not None and "paint" in result.timings_ms:
        meter.record(PAINT_SECONDS, result.timings_ms["paint"] / 1000, engine=name)
    if result is not None and result.checks.get("tries", 1) > 1:
        meter.add(SECOND_TRIES, engine=name)
    info = activity.info()
    waited = (info.started_time - info.current_attempt_scheduled_time).total_seconds()
    meter.record(QUEUE_SECONDS, max(waited, 0.0), engine=name)
    if result is None:
        return  # a thread that hangs in the device's driver may hold what its memory is counted under
    for reading, value in engine.readings().items():
        gauge = activity.metric_meter().create_gauge_float(
            ENGINE_READING + reading, f"The engine's own reading {reading}"
        )
        gauge.set(float(value), {"engine": name})
