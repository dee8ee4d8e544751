from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import MagicMock, Mock

import numpy as np
import pytest
from PIL import Image
from temporalio.common import MetricMeter
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities import device as device_module
from activities.device import Device
from activities.inference import InferenceActivities, engine_hints, pack_person_map, unpack_person_map
from engines.base import (
    DeviceBroken,
    DeviceOutOfMemory,
    EngineError,
    Hints,
    OnStep,
    RenderRequest,
    RenderResult,
    ShouldStop,
)
from engines.errors import blamed_on
from engines.garment_kinds import GarmentKind
from engines.routes import Route, RoutedEngines
from engines.sizes import Fit
from imaging.decoder_pool import DecoderPool
from tests.activities.engines import FakeEngine, only, person_map
from tests.memory_store import MemoryObjectStore
from tests.pictures import encoded, photo
from workflows import steps
from workflows.contracts import (
    ExamineInput,
    FetchedGarment,
    Finding,
    GarmentHints,
    ObjectRef,
    RenderInput,
    SegmentPersonInput,
)


async def stored(store: MemoryObjectStore, key: str, data: bytes) -> ObjectRef:
    await store.put(key, data, "image/jpeg")
    return ObjectRef.of("tryon", key, data, "image/jpeg")


@pytest.fixture
def steps_of() -> Any:
    devices: list[Device] = []

    def build(store: MemoryObjectStore, engine: FakeEngine) -> InferenceActivities:
        devices.append(Device())
        return InferenceActivities(store, engine, only(engine), devices[-1], lambda: None, decoders=DecoderPool())

    yield build
    for device in devices:
        device.close()


StepsOf = Callable[[MemoryObjectStore, FakeEngine], InferenceActivities]


def test_a_person_map_survives_the_way_between_steps() -> None:
    original = person_map()
    copy = unpack_person_map(pack_person_map(original))
    assert np.array_equal(copy.labels, original.labels)
    assert np.array_equal(copy.matte, original.matte)
    assert np.array_equal(copy.landmarks, original.landmarks)
    assert copy.score == original.score


async def test_the_person_is_segmented_upright(steps_of: StepsOf) -> None:
    store = MemoryObjectStore()
    sideways = encoded(photo(400, 320), exif=exif_orientation(6))
    ref = await stored(store, "jobs/j/input/0", sideways)
    result = await ActivityEnvironment().run(
        steps_of(store, FakeEngine()).segment_person, SegmentPersonInput(job_id="j", person=ref)
    )
    assert unpack_person_map(await store.get(result.person_map.key)).labels.shape == (400, 320)


def exif_orientation(value: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = value
    return exif.tobytes()


async def render_input(store: MemoryObjectStore, *hints: GarmentHints) -> RenderInput:
    garments = [
        FetchedGarment(
            index=index,
            category="upper_body",
            hints=hint,
            picture=await stored(store, f"jobs/j/work/{index}", encoded(photo(300, 300 + index))),
        )
        for index, hint in enumerate(hints)
    ]
    return RenderInput(
        job_id="j",
        person=await stored(store, "jobs/j/input/0", encoded(photo(320, 400))),
        person_map=await stored(store, "jobs/j/work/map", pack_person_map(person_map())),
        garments=garments,
        seed=5,
    )


async def test_an_engine_that_is_not_here_is_named_and_another_worker_may_have_it(steps_of: StepsOf) -> None:
    store, engine = MemoryObjectStore(), FakeEngine()
    request = (await render_input(store, GarmentHints())).model_copy(update={"engine": "klein"})
    with pytest.raises(ApplicationError) as refused:
        await ActivityEnvironment().run(steps_of(store, engine).render, request)
    assert (refused.value.type, refused.value.non_retryable) == ("generation_failed", False)
    pause, tries = refused.value.next_retry_delay, steps.RENDER.options["retry_policy"].maximum_attempts
    assert pause is not None
    assert pause * (tries - 1) >= timedelta(minutes=1), "the other one may be busy, or loading its weights"
    assert refused.value.details == ("No GPU worker has the engine klein: name it in TRYON_ENGINES_BESIDE.",)
    assert engine.requests == []


async def test_rendering_stores_the_picture_and_reports(steps_of: StepsOf) -> None:
    store, engine = MemoryObjectStore(), FakeEngine()
    request = await render_input(store, GarmentHints(size="M", tuck_state="tucked"))
    heartbeats: list[Any] = []
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *details: heartbeats.append(details)
    result = await environment.run(steps_of(store, engine).render, request)
    assert Image.open(io.BytesIO(await store.get("jobs/j/work/rendered.png"))).size == (320, 400)
    assert (result.report.engine, result.report.trained) == ("fake", True)
    assert result.report.hints_applied == ["size"]
    assert result.report.hints_not_applied == {"tuck_state": "no waist in sight"}
    assert result.report.timings_ms == {"paint": 3}
    assert result.report.checks == {"cover": 0.1235}
    assert engine.requests[0].seed == 5
    assert engine.requests[0].garments[0].hints.size == "M"
    assert heartbeats


async def test_a_store_that_takes_its_time_for_the_picture_is_waited_for(
    steps_of: StepsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Temporal gives a step that sends no heartbeat to another worker, which would draw the picture again."""
    beats, written = 0, list[str]()

    class SlowStore(MemoryObjectStore):
        async def put(self, key: str, data: bytes, content_type: str) -> None:
            before = beats
            if "work" in key and data[:4] in (b"\x89PNG", b"PK\x03\x04"):
                async with asyncio.timeout(5):
                    while beats < before + 3:
                        await asyncio.sleep(0.01)
                written.append(key)
            await super().put(key, data, content_type)

    def count(*_details: object) -> None:
        nonlocal beats
        beats += 1

    monkeypatch.setattr(device_module, "INTERVAL_SECONDS", 0.01)
    store = SlowStore()
    photo_ref = await stored(store, "jobs/j/input/0", encoded(photo(320, 400)))
    garment = FetchedGarment(
        index=0, category="upper_body", picture=await stored(store, "jobs/j/input/1", encoded(photo(300, 300)))
    )
    steps, environment = steps_of(store, FakeEngine()), ActivityEnvironment()
    environment.on_heartbeat = count
    found = await environment.run(steps.segment_person, SegmentPersonInput(job_id="j", person=photo_ref))
    wanted = RenderInput(job_id="j", person=photo_ref, person_map=found.person_map, garments=[garment], seed=5)
    drawn = await environment.run(steps.render, wanted)
    assert written == [found.person_map.key, drawn.picture.key]


async def test_what_was_made_for_the_render_is_kept_where_it_was_made(steps_of: StepsOf) -> None:
    store, engine = MemoryObjectStore(), FakeEngine()
    request = await render_input(store, GarmentHints())
    here, elsewhere = steps_of(store, engine), steps_of(store, engine)
    found = await ActivityEnvironment().run(here.segment_person, SegmentPersonInput(job_id="j", person=request.person))
    request = request.model_copy(update={"person_map": found.person_map})
    drawn = await ActivityEnvironment().run(elsewhere.render, request)
    there = await store.get(drawn.picture.key)
    for key in (request.person.key, found.person_map.key):
        await store.delete_prefix(key)
    drawn = await ActivityEnvironment().run(here.render, request)
    assert await store.get(drawn.picture.key) == there
    with pytest.raises(ApplicationError):  # once drawn, it is kept no longer
        await ActivityEnvironment().run(here.render, request)


async def test_a_jacket_goes_on_after_the_shirt_whatever_the_callers_order(steps_of: StepsOf) -> None:
    store, engine = MemoryObjectStore(), FakeEngine()
    request = await render_input(store, GarmentHints(garment_category="Denim Jacket"), GarmentHints())
    await ActivityEnvironment().run(steps_of(store, engine).render, request)
    assert [garment.hints.kind for garment in engine.requests[0].garments] == [None, GarmentKind.JACKET]


def test_hints_are_folded_and_keep_the_callers_words() -> None:
    given = GarmentHints(
        garment_category="Pantalón", size="W34/L32", customer_size="32/32", tuck_state="tucked", view_angle="back"
    )
    assert engine_hints(given) == Hints(
        kind=GarmentKind.TROUSERS,
        size="W34/L32",
        customer_size="32/32",
        tuck_state="tucked",
        view_angle="back",
        garment_category="Pantalón",
        fit=Fit(1.0),
    )


def test_what_cannot_be_folded_stays_as_text() -> None:
    hints = engine_hints(GarmentHints(garment_category="Zorb", size="M", customer_size="38"))
    assert (hints.kind, hints.garment_category, hints.fit) == (None, "Zorb", None)
    assert (hints.size, hints.customer_size) == ("M", "38")


async def test_the_back_photo_reaches_the_engine(steps_of: StepsOf) -> None:
    store, engine = MemoryObjectStore(), FakeEngine()
    request = await render_input(store, GarmentHints(view_angle="back"))
    back = await stored(store, "jobs/j/work/back", encoded(photo(310, 290)))
    garment = request.garments[0].model_copy(update={"back_picture": back})
    await ActivityEnvironment().run(steps_of(store, engine).render, request.model_copy(update={"garments": [garment]}))
    drawn = engine.requests[0].garments[0]
    assert drawn.hints.view_angle == "back"
    assert drawn.back_picture is not None
    assert drawn.back_picture.shape[:2] != drawn.picture.shape[:2]


@pytest.mark.parametrize("code", ["person_not_found", "several_people", "pose_not_usable"])
async def test_what_the_photo_is_to_blame_for_is_final(steps_of: StepsOf, code: str) -> None:
    store = MemoryObjectStore()
    ref = await stored(store, "jobs/j/input/0", encoded())
    steps = steps_of(store, FakeEngine(EngineError(code)))
    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(steps.segment_person, SegmentPersonInput(job_id="j", person=ref))
    assert (caught.value.type, caught.value.non_retryable) == (code, True)


class PickyEngine(FakeEngine):
    """Does not recognise the garment that is put on last."""

    advice = ""

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        with blamed_on(request.garments[-1]):
            raise EngineError("garment_not_recognised", "It is blank.", advice=self.advice)


@pytest.mark.parametrize("advice", ["", "Lay it flat."])
async def test_which_of_several_garments_was_not_recognised_is_said(steps_of: StepsOf, advice: str) -> None:
    store, engine = MemoryObjectStore(), PickyEngine()
    engine.advice = advice
    # A jacket is put on last, wherever the caller names it.
    request = await render_input(store, GarmentHints(), GarmentHints(garment_category="jacket"), GarmentHints())
    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(steps_of(store, engine).render, request)
    assert caught.value.type == "garment_not_recognised"
    what_to_do = advice or "Its picture must show the garment alone on a plain background."
    assert caught.value.details == (f"It is number 2 of 3. {what_to_do}",)


async def test_the_only_garment_needs_no_number(steps_of: StepsOf) -> None:
    store = MemoryObjectStore()
    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(
            steps_of(store, PickyEngine()).render, await render_input(store, GarmentHints())
        )
    assert caught.value.details == ()


async def test_inputs_that_were_deleted_meanwhile_end_the_job(steps_of: StepsOf) -> None:
    store = MemoryObjectStore()
    ref = ObjectRef.of("tryon", "jobs/j/input/0", b"gone", "image/jpeg")
    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(
            steps_of(store, FakeEngine()).segment_person, SegmentPersonInput(job_id="j", person=ref)
        )
    assert caught.value.non_retryable


async def test_bytes_that_are_not_those_described_are_not_used(steps_of: StepsOf) -> None:
    store = MemoryObjectStore()
    ref = await stored(store, "jobs/j/input/0", encoded())
    await store.put("jobs/j/input/0", encoded(photo(seed=9)), "image/jpeg")
    with pytest.raises(Exception, match="jobs/j/input/0"):
        await ActivityEnvironment().run(
            steps_of(store, FakeEngine()).segment_person, SegmentPersonInput(job_id="j", person=ref)
        )


class CrowdedEngine(FakeEngine):
    """Does not fit into the device's memory the first few times."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.left, self.freed = failures, list[str]()

    def free_memory(self) -> None:
        self.freed.append(threading.current_thread().name)

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        if self.left:
            self.left -= 1
            raise DeviceOutOfMemory("80 GB are not enough")
        return super().render(request, on_step, should_stop)


async def test_render_that_did_not_fit_is_tried_again_with_its_memory_freed(steps_of: StepsOf) -> None:
    store, engine = MemoryObjectStore(), CrowdedEngine(failures=1)
    request = await render_input(store, GarmentHints())
    await ActivityEnvironment().run(steps_of(store, engine).render, request)
    assert len(engine.requests) == 1
    (where,) = engine.freed
    assert where.startswith("device"), "where a driver that hangs is noticed"


async def test_one_that_does_not_fit_twice_fails_for_good_and_the_process_gives_up() -> None:
    store, device, gave_up = MemoryObjectStore(), Device(), Mock()
    engine = CrowdedEngine(failures=2)
    inference = InferenceActivities(store, engine, only(engine), device, gave_up, decoders=DecoderPool())
    with pytest.raises(ApplicationError, match="out of device memory twice") as caught:
        await ActivityEnvironment().run(inference.render, await render_input(store, GarmentHints()))
    device.close()
    assert (caught.value.type, caught.value.non_retryable) == ("generation_failed", True)
    gave_up.assert_called_once_with()


async def test_renders_are_metered_with_their_engine_and_its_readings(steps_of: StepsOf) -> None:
    store, meter = MemoryObjectStore(), MagicMock(spec=MetricMeter)
    meter.with_additional_attributes.return_value = meter
    environment = ActivityEnvironment()
    environment.metric_meter = meter
    await environment.run(steps_of(store, FakeEngine()).render, await render_input(store, GarmentHints()))
    histograms = [call.args[0] for call in meter.create_histogram_float.call_args_list]
    assert histograms == [
        "tryon_device_seconds",
        "tryon_render_seconds",
        "tryon_paint_seconds",
        "tryon_render_queue_seconds",
    ]
    labels = [call.args[1] for call in meter.create_histogram_float.return_value.record.call_args_list]
    assert labels == [{"step": "render", "engine": "fake"}, *3 * [{"engine": "fake"}]]
    assert meter.create_gauge_float.call_args.args[0] == "tryon_engine_memory_bytes"
    meter.create_gauge_float.return_value.set.assert_called_once_with(5.0, {"engine": "fake"})


class BrokenEngine(FakeEngine):
    """Its device answers with errors from now on, or not at all."""

    def readings(self) -> dict[str, float]:
        raise AssertionError("whoever asks waits for the device")

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        raise DeviceBroken("an illegal memory access was encountered")


async def test_broken_device_ends_the_process_and_leaves_the_job_to_another() -> None:
    store, device, gave_up, engine = MemoryObjectStore(), Device(), Mock(), BrokenEngine()
    inference = InferenceActivities(store, engine, only(engine), device, gave_up, decoders=DecoderPool())
    with pytest.raises(DeviceBroken):  # not an ApplicationError that would end the job
        await ActivityEnvironment().run(inference.render, await render_input(store, GarmentHints()))
    device.close()
    gave_up.assert_called_once_with()


class HeldEngine(FakeEngine):
    """Draws one picture at a time, and ends none before it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.let, self.under_way = threading.Event(), threading.Event(), 0

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        self.under_way += 1
        self.begun.set()
        assert self.let.wait(10)
        return super().render(request, on_step, should_stop)


async def test_an_engine_draws_no_more_at_a_time_than_it_declares_and_holds_up_nothing_else() -> None:
    store, held, other = MemoryObjectStore(), HeldEngine(), FakeEngine()
    other.info = replace(other.info, name="other", parallel=3)
    engines = RoutedEngines(Route("held", {}), {"held": held, "other": other})
    device = Device(engines.parallel)
    inference = InferenceActivities(store, other, engines, device, lambda: None, decoders=DecoderPool())
    request = await render_input(store, GarmentHints())
    elsewhere = request.model_copy(update={"engine": "other"})
    drawing = [asyncio.create_task(ActivityEnvironment().run(inference.render, request)) for _ in range(2)]
    assert await asyncio.to_thread(held.begun.wait, 60)
    async with asyncio.timeout(60):
        await ActivityEnvironment().run(inference.examine, await examine_input(store, GarmentHints()))
        await ActivityEnvironment().run(inference.render, elsewhere)
    assert (held.under_way, len(held.examined), len(other.requests)) == (1, 1, 1)
    held.let.set()
    await asyncio.gather(*drawing)
    assert (device.close(), held.under_way) == (True, 2)


async def examine_input(store: MemoryObjectStore, *hints: GarmentHints) -> ExamineInput:
    whole = await render_input(store, *hints)
    return ExamineInput(person=whole.person, garments=whole.garments)


async def test_findings_are_of_the_photo_or_of_a_garment_in_the_callers_order(steps_of: StepsOf) -> None:
    store, engine = MemoryObjectStore(), FakeEngine()
    request = await examine_input(store, GarmentHints(garment_category="Denim Jacket"), GarmentHints())
    before = set(store.objects)

    def refuse_the_jacket(*asked: Any) -> list[EngineError]:
        error = EngineError("garment_not_recognised", advice="It looks like trousers.")
        error.garment = asked[2][-1]  # put on last
        return [EngineError("pose_not_usable"), error]

    engine.examine = refuse_the_jacket  # type: ignore[method-assign]
    found = await ActivityEnvironment().run(steps_of(store, engine).examine, request)
    problems = [each for each in found.findings if each.severity == "problem"]
    assert problems == [
        Finding(code="pose_not_usable"),
        Finding(code="garment_not_recognised", garment=0, advice="It looks like trousers."),
    ]
    advice = [(each.code, each.garment) for each in found.findings if each.severity == "advice"]
    assert {("garment_small", 0), ("garment_small", 1)} <= set(advice)
    assert found.findings == [*problems, *found.findings[2:]], "problems first"
    assert set(store.objects) == before, "nothing is kept"


async def test_garments_are_examined_where_the_photo_shows_nobody(steps_of: StepsOf) -> None:
    store, engine = MemoryObjectStore(), FakeEngine(EngineError("several_people", advice="Use a photo of you alone."))
    found = await ActivityEnvironment().run(steps_of(store, engine).examine, await examine_input(store, GarmentHints()))
    assert found.findings[0] == Finding(code="several_people", advice="Use a photo of you alone.")
    ((_, nobody, garments),) = engine.examined
    assert (nobody, len(garments)) == (None, 1)
