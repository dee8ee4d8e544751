from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from engines.base import (
    Category,
    DeviceBroken,
    DeviceOutOfMemory,
    EngineError,
    Garment,
    Hints,
    Picture,
    RenderStopped,
)
from engines.garment_kinds import GarmentKind
from engines.generative.painter import Reference
from engines.klein.about import MODEL, REVISION, KleinOptions
from engines.klein.painter import KleinPainter
from engines.klein.references import frame_for, prepared_person
from engines.klein.text_encoding import QwenEncoder
from engines.klein.warm_up import warm_up_request
from engines.pace import Step
from tests.engines.klein.tiny import go_on, ignore, networks_of, noise, reference, request


@pytest.fixture
def seen(painter: KleinPainter) -> Iterator[list[weakref.ref[torch.Tensor]]]:
    """What the transformer was given, one for each step, as long as it lives."""
    given: list[weakref.ref[torch.Tensor]] = []

    def note(_module: torch.nn.Module, _arguments: object, named: dict[str, torch.Tensor]) -> None:
        given.append(weakref.ref(named["hidden_states"]))

    hook = networks_of(painter).transformer.register_forward_pre_hook(note, with_kwargs=True)
    yield given
    hook.remove()


def test_all_that_is_asked_for_shows_in_the_picture(painter: KleinPainter) -> None:
    """Even random weights draw something else when they are shown something else."""
    pictures = [
        painter.paint(asked, ignore, go_on)
        for asked in (
            request(reference(1), reference(2)),
            request(reference(2), reference(1)),
            request(reference(1), reference(2), seed=8),
            request(reference(1), reference(2, Hints(kind=GarmentKind.COAT))),
            request(reference(1), reference(2, Hints(view_angle="back"), back=True)),
            request(reference(1)),
        )
    ]
    different = {picture.tobytes() for picture in pictures}
    assert len(different) == len(pictures)


def test_the_same_seed_gives_the_same_picture_and_leaves_others_alone(painter: KleinPainter) -> None:
    before = torch.get_rng_state()
    first = painter.paint(request(seed=2**63), ignore, go_on)
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(first, painter.paint(request(seed=2**63), ignore, go_on))


@pytest.mark.parametrize("size", [(96, 64), (100, 75), (70, 130)])
def test_the_picture_has_the_frame_of_the_photo(painter: KleinPainter, size: tuple[int, int]) -> None:
    assert painter.paint(request(size=size), ignore, go_on).shape == (*size, 3)


def test_photos_and_garments_are_shown_no_larger_than_asked(painter: KleinPainter) -> None:
    small, networks = 64 * 64 / 2**20, networks_of(painter)
    sparing = KleinPainter(
        device="cpu", dtype="float32", person_megapixels=4 * small, garment_megapixels=small, networks=networks
    )
    sparing.setup()
    tokens: list[int] = []
    hook = networks.transformer.register_forward_pre_hook(
        lambda _module, _arguments, named: tokens.append(named["hidden_states"].shape[1]), with_kwargs=True
    )
    garment = noise(200, 200, 3)
    large = Reference(Garment(garment, Category.UPPER_BODY), garment, garment[..., 0])
    picture = sparing.paint(request(large, size=(400, 400)), ignore, go_on)
    hook.remove()
    assert picture.shape == (128, 128, 3)
    assert tokens[0] == 2 * 8 * 8 + 4 * 4


def test_a_sign_of_life_at_every_step(painter: KleinPainter) -> None:
    steps: list[str] = []
    painter.paint(request(reference(21, Hints(kind=GarmentKind.CAPE)), reference(22)), steps.append, go_on)
    assert [(step.number, step.steps) for step in steps if isinstance(step, Step)] == [(n, 4) for n in (1, 2, 3, 4)]
    assert steps.count("denoise") == 4
    assert steps[-1] == "decode"
    assert steps.count("encode pictures") == 1 + 2
    assert steps.count("encode words") == 28
    assert list(dict.fromkeys(steps)) == ["prepare", "encode words", "encode pictures", "denoise", "decode"]


@pytest.mark.parametrize(("stage", "nth"), [("prepare", 1), ("encode pictures", 2), ("denoise", 1), ("denoise", 3)])
def test_it_stops_between_steps_and_leaves_nothing(
    painter: KleinPainter, seen: list[weakref.ref[torch.Tensor]], stage: str, nth: int
) -> None:
    steps: list[str] = []
    with pytest.raises(RenderStopped) as stopped:
        painter.paint(request(), steps.append, lambda: steps.count(stage) >= nth)
    assert stopped.value.__context__ is None
    assert steps[-1] == stage
    assert steps.count(stage) == nth
    assert len(seen) == (nth - 1 if stage == "denoise" else 0)
    assert [tensor() for tensor in seen] == [None] * len(seen)
    assert painter.paint(request(), ignore, go_on).shape == (96, 64, 3)


def test_too_little_memory_is_said_and_nothing_is_left(
    painter: KleinPainter, seen: list[weakref.ref[torch.Tensor]]
) -> None:
    """The CPU has no such error of its own, so the transformer raises it at its third step."""

    def fail(*_: object) -> None:
        if len(seen) == 3:
            raise torch.OutOfMemoryError

    hook = networks_of(painter).transformer.x_embedder.register_forward_pre_hook(fail)
    try:
        with pytest.raises(DeviceOutOfMemory, match="cpu") as raised:
            painter.paint(request(), ignore, go_on)
    finally:
        hook.remove()
    assert raised.value.__context__ is None
    assert [tensor() for tensor in seen] == [None] * 3
    assert painter.latents.size_bytes == 0
    painter.paint(request(), ignore, go_on)


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
    painter: KleinPainter, error: Exception, expected: type[Exception]
) -> None:
    def fail(*_: object) -> None:
        raise error

    hook = networks_of(painter).transformer.register_forward_pre_hook(fail)
    try:
        with pytest.raises(expected) as raised:
            painter.paint(request(), ignore, go_on)
    finally:
        hook.remove()
    assert type(raised.value) is expected
    assert raised.value.__context__ is None


def test_numbers_that_are_no_colours_are_no_picture(painter: KleinPainter) -> None:
    hook = networks_of(painter).transformer.proj_out.register_forward_hook(
        lambda _module, _arguments, made: made.fill_(torch.nan)
    )
    try:
        with pytest.raises(EngineError, match="no colours") as raised:
            painter.paint(request(), ignore, go_on)
    finally:
        hook.remove()
    assert raised.value.code == "result_not_usable"


def test_two_threads_with_the_same_words_encode_them_once(
    painter: KleinPainter, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode, encoded, waiting = QwenEncoder.encode, list[str](), threading.Event()

    def slowly(self: QwenEncoder, prompt: str, *callbacks: object) -> torch.Tensor:
        encoded.append(prompt)
        assert waiting.wait(20)
        return encode(self, prompt, *callbacks)  # type: ignore[arg-type]

    def say(stage: str) -> None:
        if stage == "wait for the text encoder":
            waiting.set()

    monkeypatch.setattr(QwenEncoder, "encode", slowly)
    asked = request(reference(1, Hints(kind=GarmentKind.CARDIGAN)), reference(2, Hints(kind=GarmentKind.CAPE)))
    pictures: list[Picture] = []
    threads = [
        threading.Thread(target=lambda: pictures.append(painter.paint(asked, say, go_on)), daemon=True)
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(encoded) == 1
    np.testing.assert_array_equal(pictures[0], pictures[1])


def test_every_step_tells_those_who_wait_that_it_moves(painter: KleinPainter) -> None:
    painter.embeddings._embeddings.clear()
    moved: list[tuple[str, float]] = []
    painter.paint(request(), lambda stage: moved.append((stage, painter._drawing._moved_at)), go_on)
    for stage, steps in (("encode words", 28), ("denoise", 4)):
        assert len({moved_at for name, moved_at in moved if name == stage}) == steps


def test_the_first_picture_on_a_gpu_is_as_large_as_any() -> None:
    for megapixels in (0.5, 1.0, 2.0):
        asked, share = warm_up_request(torch.device("cuda"), 4, megapixels)
        assert share == 1
        shown, _ = prepared_person(asked.person, megapixels)
        assert 0.9 * megapixels * 2**20 <= shown.shape[0] * shown.shape[1] <= megapixels * 2**20
    pictures = [picture for one in asked.references for picture in (one.picture, one.back) if picture is not None]
    assert len({picture.tobytes() for picture in pictures}) == 8
    largest = frame_for(*pictures[0].shape[:2], 0.35)
    assert largest.canvas_height * largest.canvas_width > 0.9 * 0.35 * 2**20


def test_defaults_are_those_of_the_settings() -> None:
    settings = {name: field.default for name, field in KleinOptions.model_fields.items()}
    defaults = {name: one.default for name, one in inspect.signature(KleinPainter).parameters.items()}
    common = (settings.keys() & defaults.keys()) - {"model", "revision"}
    assert {"garment_megapixels", "person_megapixels", "steps", "fp8"} <= common
    assert {name: defaults[name] for name in common} == {name: settings[name] for name in common}


def test_the_next_picture_is_made_ready_while_one_is_drawn(painter: KleinPainter) -> None:
    one, two = request(reference(31), seed=1), request(reference(32), seed=2)
    alone = painter.paint(one, ignore, go_on), painter.paint(two, ignore, go_on)
    painter.latents.clear()
    drawing, ready = threading.Event(), threading.Event()
    pictures: dict[int, Picture] = {}

    def hold(*_: object) -> None:
        drawing.set()
        assert ready.wait(20)

    def say(stage: str) -> None:
        if stage == "wait for the device":
            ready.set()

    def second() -> None:
        assert drawing.wait(20)
        pictures[2] = painter.paint(two, say, go_on)

    thread = threading.Thread(target=second, daemon=True)
    thread.start()
    hook = networks_of(painter).transformer.register_forward_pre_hook(hold)
    try:
        pictures[1] = painter.paint(one, ignore, go_on)
    finally:
        hook.remove()
        thread.join(20)
    np.testing.assert_array_equal(pictures[1], alone[0])
    np.testing.assert_array_equal(pictures[2], alone[1])


def test_what_operators_are_told(painter: KleinPainter) -> None:
    info = KleinPainter().info
    assert (info.name, info.source, info.revision) == ("klein", MODEL, REVISION)
    assert info.code_licence == info.weights_licence == "Apache-2.0"
    assert info.commercial_use
    assert info.trained
    assert (info.max_garments, info.parallel, painter.garments_per_pass) == (4, 2, 4)
    assert painter.info.device == "cpu"
    unknown = Garment(noise(4, 4, 1), Category.UPPER_BODY, Hints(garment_category="kimono"))
    assert "not known" in (painter.refusal(unknown, "kind") or "")


def test_operators_see_how_the_caches_do(painter: KleinPainter) -> None:
    asked = request(reference(41))
    painter.paint(asked, ignore, go_on)
    before = painter.readings()
    painter.paint(asked, ignore, go_on)
    after = painter.readings()
    changed = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert changed == {"latent_cache_hits": 1, "embedding_cache_hits": 1}
    assert before["latent_cache_bytes"] > 0
