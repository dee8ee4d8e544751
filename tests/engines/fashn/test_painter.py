from __future__ import annotations

import inspect
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

import engines.fashn.painter
from engines.base import (
    Category,
    DeviceBroken,
    DeviceOutOfMemory,
    EngineError,
    Garment,
    RenderStopped,
)
from engines.fashn.about import MODEL, POSES, FashnOptions
from engines.fashn.batching import WAIT
from engines.fashn.painter import FashnPainter
from engines.fashn.poses import finder
from engines.fashn.sampler import STEP, Sampler
from engines.generative.painter import Painter, PaintRequest
from engines.weights.fetch import MANIFEST
from tests.engines.drafts import (
    KeptDrafts,
    check_that_it_goes_on,
    check_that_quick_steps_are_not_kept,
    painted_from,
)
from tests.engines.fashn.painters import STEPS, paint, painter_of, request_for
from tests.engines.fashn.weights import write_pose_graphs


@pytest.fixture(scope="module")
def painter(weights: Path) -> FashnPainter:
    painter = painter_of(weights)
    painter.setup()
    return painter


def test_whole_frame_is_drawn_as_large_as_it_fits(painter: FashnPainter) -> None:
    assert paint(painter, request_for(size=(96, 60))).shape == (48, 30, 3)
    assert paint(painter, request_for(size=(60, 96))).shape == (22, 36, 3)
    assert paint(painter, request_for(size=(24, 18))).shape == (48, 36, 3)


def test_same_seed_and_inputs_give_the_same_picture(painter: FashnPainter) -> None:
    first = paint(painter, request_for(3))
    assert first.dtype == np.uint8
    assert first.std() > 5
    assert np.array_equal(first, paint(painter, request_for(3)))


@pytest.mark.parametrize(
    "other", [request_for(4), request_for(3, colour=10), request_for(3, category=Category.FULL_BODY)]
)
def test_seed_garment_and_category_change_the_picture(painter: FashnPainter, other: PaintRequest) -> None:
    assert not np.array_equal(paint(painter, request_for(3)), paint(painter, other))


def test_a_picture_that_was_interrupted_is_drawn_on_where_it_was(
    weights: Path, painter: FashnPainter, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_that_quick_steps_are_not_kept(painter, request_for(3))
    monkeypatch.setattr(engines.fashn.painter, "WORTH_KEEPING_SECONDS", 0.0)
    another = painter_of(weights)
    another.setup()
    check_that_it_goes_on(painter, painter._loaded()[0], another, request_for(3), STEPS)


def test_a_picture_that_is_complete_is_not_drawn_again(painter: FashnPainter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later pass of an outfit was interrupted; the earlier ones are there."""
    monkeypatch.setattr(engines.fashn.painter, "WORTH_KEEPING_SECONDS", 0.0)
    drafts = KeptDrafts()
    whole, _ = painted_from(painter, request_for(3), drafts)
    again, drawn = painted_from(painter, request_for(3), drafts)
    assert drawn == []
    assert np.array_equal(again, whole)


def test_calls_drawn_together_are_what_they_would_be_alone(
    weights: Path, painter: FashnPainter, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    sample = Sampler.sample

    def record(self: Sampler, *given: object) -> torch.Tensor:
        sizes.append(len(given[1]))  # type: ignore[arg-type]
        return sample(self, *given)  # type: ignore[arg-type]

    requests = [request_for(seed, colour=50 * seed, size=(90 + seed, 60)) for seed in range(3)]
    alone = [paint(painter, request) for request in requests]
    shared = painter_of(weights, batch_size=3, wait_s=20.0)
    shared.setup()
    monkeypatch.setattr(Sampler, "sample", record)
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda request: paint(shared, request), requests, timeout=60))
    assert sizes == [3]
    for one, other in zip(alone, together, strict=True):
        assert np.abs(one.astype(int) - other).max() <= 1


def test_every_step_is_told(painter: FashnPainter) -> None:
    told: list[str] = []
    painter.paint(request_for(), told.append, lambda: False)
    assert [name for name in told if name != WAIT] == [finder.STEP, finder.STEP, *[STEP] * STEPS]


@pytest.mark.parametrize("after", [0, 1, 3])
def test_stops_between_steps(painter: FashnPainter, after: int) -> None:
    told: list[str] = []
    with pytest.raises(RenderStopped):
        painter.paint(request_for(), told.append, lambda: len(told) >= after)


def test_nobody_in_the_photo(own_weights: Path) -> None:
    write_pose_graphs(own_weights, score=0.1)
    painter = painter_of(own_weights)
    painter.setup()
    with pytest.raises(EngineError) as refusal:
        paint(painter, request_for())
    assert refusal.value.code == "person_not_found"


def test_batch_that_does_not_fit_is_drawn_in_halves(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    painter = painter_of(weights, batch_size=3, wait_s=20.0)
    painter.setup()
    sizes: list[int] = []
    sample = Sampler.sample

    def run_out(self: Sampler, *given: object) -> torch.Tensor:
        sizes.append(len(given[1]))  # type: ignore[arg-type]
        if sizes[-1] > 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return sample(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Sampler, "sample", run_out)
    requests = [request_for(seed, colour=80 * seed) for seed in range(3)]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda request: paint(painter, request), requests, timeout=60))
    assert sorted(sizes) == [1, 1, 1, 2, 3]
    monkeypatch.undo()
    alone = painter_of(weights)
    alone.setup()
    for one, other in zip(requests, together, strict=True):
        assert np.abs(paint(alone, one).astype(int) - other).max() <= 1


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.AcceleratorError("CUDA error: an illegal memory access was encountered"), DeviceBroken),
        (RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED"), DeviceBroken),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"), DeviceOutOfMemory),
        (RuntimeError("shapes cannot be multiplied"), RuntimeError),
    ],
)
def test_failures_of_the_device_are_told_from_others(
    painter: FashnPainter, monkeypatch: pytest.MonkeyPatch, error: Exception, expected: type[Exception]
) -> None:
    def fail(*_given: object) -> None:
        raise error

    for place in ("sampler.Sampler.sample", "poses.finder._run"):
        with monkeypatch.context() as patched, pytest.raises(expected) as raised:
            patched.setattr(f"engines.fashn.{place}", fail)
            paint(painter, request_for())
        assert type(raised.value) is expected
        assert raised.value.__context__ is None


def test_memory_that_does_not_suffice_for_one_is_everybodys_own_error(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    painter = painter_of(weights, batch_size=2, wait_s=20.0)
    painter.setup()

    def run_out(*_given: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(Sampler, "sample", run_out)
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(paint, painter, request_for(seed)) for seed in range(2)]
        for call in calls:
            error = call.exception(60)
            assert isinstance(error, DeviceOutOfMemory)
            assert error.__context__ is None  # it would keep the tensors on the device alive
        assert calls[0].exception() is not calls[1].exception()
    painter.free_memory()
    monkeypatch.undo()
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(paint, painter, request_for(seed)) for seed in range(2)]
        assert all(call.result(60).shape == (48, 30, 3) for call in calls)


def test_picture_without_numbers_is_the_error_of_its_own_job(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    painter = painter_of(weights, batch_size=2, wait_s=20.0)
    painter.setup()
    sample = Sampler.sample

    def spoil_darkest(self: Sampler, *given: object) -> torch.Tensor:
        drawn = sample(self, *given).clone()  # type: ignore[arg-type]
        drawn[given[0].garment.mean(dim=(1, 2, 3)).argmin()] = torch.nan  # type: ignore[attr-defined]
        return drawn

    monkeypatch.setattr(Sampler, "sample", spoil_darkest)
    with ThreadPoolExecutor(2) as pool:
        dark, bright = (pool.submit(paint, painter, request_for(colour=colour)) for colour in (0, 250))
        error = dark.exception(60)
        assert isinstance(error, EngineError)
        assert error.code == "result_not_usable"
        assert bright.result(60).shape == (48, 30, 3)


def test_what_an_operator_has_to_know(painter: FashnPainter) -> None:
    info = painter.info
    assert (info.name, info.device, info.trained, info.max_garments, info.parallel) == ("fashn", "cpu", True, 4, 4)
    assert (info.code_licence, info.weights_licence, info.commercial_use) == ("Apache-2.0", "unknown", False)
    assert info.hints == {"view_angle", "back_picture"}
    assert painter.garments_per_pass == 1
    protocol: Painter = painter
    assert protocol.refusal(Garment(np.zeros((1, 1, 3), np.uint8), Category.UPPER_BODY), "size") is not None


def test_fetched_weights_say_what_they_are(own_weights: Path) -> None:
    sources = [{"repository": name, "revision": f"c0ffee {name}"} for name in (MODEL, POSES)]
    (own_weights / MANIFEST).write_text(json.dumps({"sources": sources}))
    info = painter_of(own_weights).info
    assert (info.source, info.revision) == (MODEL, f"c0ffee {MODEL}")
    assert (info.weights_licence, info.commercial_use) == ("Apache-2.0", True)


def test_defaults_are_those_of_the_settings() -> None:
    settings = FashnOptions()
    defaults = {name: one.default for name, one in inspect.signature(FashnPainter).parameters.items()}
    assert defaults["steps"] == settings.steps
    assert defaults["guidance"] == settings.guidance
    assert defaults["batch_size"] == settings.batch_size
    assert 1000 * defaults["batch_wait_s"] == settings.batch_wait_ms


def test_figures_for_operators(weights: Path) -> None:
    painter = painter_of(weights, batch_size=2, wait_s=20.0)
    painter.setup()
    assert painter.readings() == {"batches": 0, "batch_pictures": 0, "poses_on_gpu": 0}
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda seed: paint(painter, request_for(seed)), range(2), timeout=60))
    assert painter.readings() == {"batches": 1, "batch_pictures": 2, "poses_on_gpu": 0}
