"""The measurements run, on small networks; what they say is for a GPU to say."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
import torch

from bench.gpu import fashn, klein
from bench.gpu.__main__ import main
from bench.gpu.scenes import paint_request
from engines.fashn.network import FashnNetwork
from engines.fashn.shape import NetworkShape
from engines.klein.loading import load_networks
from engines.klein.networks import Networks
from tests.engines.klein.tiny import save_tiny_pipeline
from tests.one_thread import one_thread  # noqa: F401  # a fixture

CPU = torch.device("cpu")


def test_klein_is_measured_by_garments_and_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_tiny_pipeline(tmp_path)
    made: list[weakref.ref[torch.nn.Module]] = []

    def networks() -> Networks:
        gc.collect()
        assert [transformer() for transformer in made] == [None] * len(made)
        new = load_networks(str(tmp_path), "", device=CPU, dtype=torch.float32, text_encoder_device=CPU)
        made.append(weakref.ref(new.transformer))
        return new

    figures = list(
        klein.measure(
            networks,
            "cpu",
            settings={
                "impossible": {"attention_backend": "none such"},
                "as it is": {},
                "impossible too": {"attention_backend": "none such"},
            },
            times=1,
            request=lambda garments: paint_request(garments, photo=(64, 64), product=(64, 64)),
            dtype="float32",
        )
    )
    assert [(figure.name, figure.samples) for figure in figures] == [
        ("klein, 1 garments, as it is", 1),
        ("klein, 4 garments, as it is", 1),
        ("klein, largest memory without text encoder, as it is", 1),
    ]
    assert figures[0].p50 > 0
    said = capsys.readouterr().out
    assert "klein, impossible: " in said
    assert "klein, impossible too: " in said
    assert len(made) == 3


def test_a_cpu_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("sys.argv", ["bench.gpu", "--device", "cpu"])
    with pytest.raises(SystemExit, match="on a CUDA GPU alone"):
        main()


def test_fashn_is_measured_alone_and_in_batches() -> None:
    shape = NetworkShape(
        input_shape=(48, 36),
        hidden_size=32,
        n_heads=2,
        double_blocks_depth=1,
        single_blocks_depth=1,
        axes_dim=(4, 6, 6),
    )
    figures = list(
        fashn.measure(lambda: FashnNetwork(shape).eval(), "cpu", batches=(1, 2), steps=2, times=1, compiled=[False])
    )
    assert [figure.name for figure in figures] == [
        "fashn, batch of 1, 2 steps, as it is",
        "fashn, batch of 2, 2 steps, as it is",
        "fashn, throughput of 2 over 1, as it is",
        "fashn, largest memory, as it is",
    ]
    assert figures[2].p50 == pytest.approx(2 * figures[0].p50 / figures[1].p50, rel=0.2)
