from __future__ import annotations

import pytest
import torch

from engines.base import EngineUnavailable
from engines.klein.devices import found_device
from engines.klein.painter import KleinPainter


def test_a_cpu_is_always_there() -> None:
    assert found_device("cpu") == torch.device("cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_without_a_gpu_one_sentence_says_what_to_do(device: str) -> None:
    with pytest.raises(EngineUnavailable, match="needs a CUDA GPU and torch finds none; use the engine warp"):
        KleinPainter(device=device).setup()


def test_the_text_encoder_needs_a_real_device_too() -> None:
    with pytest.raises(EngineUnavailable, match="'graphics card' is not the name of a device"):
        KleinPainter(device="cpu", text_encoder_device="graphics card").setup()


def test_other_devices_are_refused() -> None:
    with pytest.raises(EngineUnavailable, match="not on meta"):
        found_device("meta")


def test_gpus_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    assert found_device("cuda") == torch.device("cuda:0")
    assert found_device("cuda:1") == torch.device("cuda:1")
    with pytest.raises(EngineUnavailable, match="no GPU cuda:2; torch finds 2"):
        found_device("cuda:2")
