from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

import engines.fashn.painter
from engines.base import EngineUnavailable
from engines.fashn.about import FashnOptions
from engines.fashn.checkpoint import WEIGHTS_FILE
from engines.fashn.painter import FashnPainter, build
from engines.fashn.poses.finder import DETECTOR_FILE
from engines.fashn.sampler import Sampler
from engines.registration import Workplace
from tests.engines.fashn.numbers import Numbers
from tests.engines.fashn.painters import STEPS, paint, painter_of, request_for
from tests.engines.fashn.weights import write_checkpoint


def refused(painter: FashnPainter) -> str:
    with pytest.raises(EngineUnavailable) as refusal:
        painter.setup()
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_it_draws_nothing_before_it_is_set_up(weights: Path) -> None:
    with pytest.raises(RuntimeError, match=r"setup\(\) has to come first"):
        paint(painter_of(weights), request_for())


@pytest.mark.parametrize(
    ("device", "sentence"),
    [
        ("cuda", "The engine fashn needs a CUDA GPU and torch finds none; use the engine warp"),
        ("meta", "The engine fashn runs on cuda, mps or cpu, not on meta."),
    ],
)
def test_device_that_is_not_there(weights: Path, monkeypatch: pytest.MonkeyPatch, device: str, sentence: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert refused(painter_of(weights, device=device)).startswith(sentence)


def remove_weights(folder: Path, _numbers: Numbers) -> None:
    (folder / WEIGHTS_FILE).unlink()


def cut_weights(folder: Path, _numbers: Numbers) -> None:
    (folder / WEIGHTS_FILE).write_bytes((folder / WEIGHTS_FILE).read_bytes()[:-1])


def rename_key(folder: Path, numbers: Numbers) -> None:
    renamed = {name.replace("y_embedder", "class_embedder"): tensor for name, tensor in numbers.weights.items()}
    write_checkpoint(folder, renamed, numbers.configuration)


def remove_detector(folder: Path, _numbers: Numbers) -> None:
    (folder / DETECTOR_FILE).unlink()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (remove_weights, "The weights {folder}/model.safetensors are missing."),
        (cut_weights, "{folder}/model.safetensors is corrupt: it is not as long as its header says. Fetch it again."),
        (rename_key, "{folder}/model.safetensors does not hold the tensor y_embedder.weight."),
        (remove_detector, "The weights {folder}/dwpose/yolox_l.onnx are missing."),
    ],
)
def test_weights_that_are_not_right(
    own_weights: Path, numbers: Numbers, spoil: Callable[[Path, Numbers], None], sentence: str
) -> None:
    spoil(own_weights, numbers)
    assert refused(painter_of(own_weights)) == sentence.format(folder=own_weights)


def test_weights_that_do_not_fit_into_the_device(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_out(*_given: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(Sampler, "sample", run_out)
    assert "do not fit into the memory of cpu; choose a smaller batch" in refused(painter_of(weights))


@pytest.mark.parametrize(
    "error", [RuntimeError("no kernel\nand more"), ValueError("no kernel"), ImportError("no kernel")]
)
def test_first_picture_that_fails_is_one_sentence(
    weights: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_given: object) -> None:
        raise error

    monkeypatch.setattr(Sampler, "sample", fail)
    assert refused(painter_of(weights)) == "The engine fashn cannot draw on cpu: no kernel"


def test_network_that_makes_no_colours_is_not_set_up(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sampler, "sample", lambda *_given: torch.full((1, 3, 4, 4), torch.nan))
    assert refused(painter_of(weights)).endswith("The network made numbers that are no colours.")


def test_poses_are_found_with_as_many_threads_as_asked(weights: Path) -> None:
    painter = FashnPainter(weights, device="cpu", threads=2)
    painter.setup()
    assert painter._loaded()[1]._detector.get_session_options().intra_op_num_threads == 2


def test_blocks_are_compiled_where_asked_for(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []

    def compile_nothing(call: object, **options: object) -> object:
        assert options["dynamic"]
        compiled.append(call)
        return call

    monkeypatch.setattr(torch, "compile", compile_nothing)
    painter_of(weights).setup()
    assert compiled == []
    FashnPainter(weights, device="cpu", steps=STEPS, compile=True).setup()
    assert len(compiled) == 5


def test_a_step_is_measured_and_told_with_the_device_and_its_numbers(weights: Path) -> None:
    painter = painter_of(weights)
    assert painter.info.pace is None
    painter.setup()
    pace = painter.info.pace
    assert pace is not None
    assert (pace.device, pace.precision, pace.steps, pace.garments_per_pass) == ("cpu", "float32", STEPS, 1)
    assert 0 < pace.step_seconds < 5


def test_a_slow_step_is_measured_once(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines.fashn.painter, "_QUICK_SECONDS", 0.0)
    drawn, sample = list[object](), Sampler.sample

    def counted(*given: object) -> torch.Tensor:
        drawn.append(given)
        return sample(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(Sampler, "sample", counted)
    painter_of(weights).setup()
    assert len(drawn) == 1


@pytest.mark.parametrize(("device", "batch"), [("cuda", 4), ("mps", 1), ("cpu", 1), ("auto", 1)])
def test_only_cuda_draws_several_pictures_at_a_time(
    weights: Path, monkeypatch: pytest.MonkeyPatch, device: str, batch: int
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    place = Workplace(weights, device, threads=1, compile=False, segmenter=Mock())
    assert build(FashnOptions(), place).info.parallel == batch
