from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engines.base import EngineError, EngineUnavailable
from engines.klein.painter import KleinPainter
from tests.engines.klein.tiny import go_on, ignore, networks_of, request


def test_it_is_set_up_first(weights: Path) -> None:
    with pytest.raises(RuntimeError, match="not set up"):
        KleinPainter(str(weights), device="cpu").paint(request(), ignore, go_on)


def test_the_first_job_starts_with_an_empty_cache(painter: KleinPainter) -> None:
    fresh = KleinPainter(device="cpu", dtype="float32", networks=networks_of(painter))
    fresh.setup()
    assert fresh.latents.misses == 1
    assert fresh.latents.size_bytes == 0


def test_a_step_is_measured_and_told_with_the_device_and_its_numbers(painter: KleinPainter) -> None:
    fresh = KleinPainter(device="cpu", dtype="float32", networks=networks_of(painter))
    assert fresh.info.pace is None
    fresh.setup()
    pace = fresh.info.pace
    assert pace is not None
    assert (pace.device, pace.precision, pace.steps, pace.garments_per_pass) == ("cpu", "float32", 4, 4)
    assert 0 < pace.step_seconds < 30


def test_setup_says_what_is_wrong_in_one_sentence(painter: KleinPainter, tmp_path: Path) -> None:
    networks = networks_of(painter)
    with pytest.raises(EngineUnavailable, match="fetch it with tryon engines fetch klein"):
        KleinPainter(str(tmp_path / "none"), device="cpu").setup()
    with pytest.raises(EngineUnavailable, match="there are"):
        KleinPainter(device="cpu", attention_backend="quick", networks=networks).setup()
    (tmp_path / "file").touch()
    with pytest.raises(EngineUnavailable, match="folder of prompt embeddings"):
        KleinPainter(device="cpu", embeddings_folder=tmp_path / "file", networks=networks).setup()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), "does not fit into the memory of cpu"),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"), "does not fit into the memory of cpu"),
        (EngineError("result_not_usable", "no colours"), "cannot draw on cpu: no colours$"),
        (RuntimeError("no kernel\nTraceback and more"), "cannot draw on cpu: no kernel$"),
    ],
)
def test_a_first_picture_that_fails_ends_the_setup(painter: KleinPainter, error: Exception, sentence: str) -> None:
    def fail(*_: object) -> None:
        raise error

    networks = networks_of(painter)
    hook = networks.transformer.register_forward_pre_hook(fail)
    try:
        with pytest.raises(EngineUnavailable, match=sentence):
            KleinPainter(device="cpu", dtype="float32", networks=networks).setup()
    finally:
        hook.remove()
