"""What a picture takes is counted on networks of full size without weights; how fast this machine is, is timed."""

from __future__ import annotations

import platform
import shutil

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import engines.estimate
from engines.base import EngineUnavailable
from engines.estimate import SLOWER_THAN_PRODUCTS, estimated
from engines.fashn.about import STEP_TFLOP as FASHN_STEP
from engines.fashn.about import FashnOptions
from engines.fashn.network import Conditions, FashnNetwork
from engines.fashn.sampler import Sampler
from engines.fashn.shape import FULL_SIZE
from engines.klein.about import STEP_TFLOP as KLEIN_STEP
from engines.klein.about import VAE_TFLOP
from engines.klein.full_size import EMBEDDING_VALUES, TOKENS, full_size

META = torch.device("meta")
NUMBERS = torch.bfloat16


def test_operations_of_fashn() -> None:
    with META:
        network = FashnNetwork(FULL_SIZE)
    frame = FULL_SIZE.input_shape
    options = FashnOptions(steps=3)
    with FlopCounterMode(display=False) as counted:
        Sampler(network, steps=options.steps, guidance=1.5).sample(
            Conditions.of_nothing(1, frame, META), torch.empty(1, 3, *frame, device=META), lambda _: None, lambda: False
        )
    assert counted.get_total_flops() / 1e12 == pytest.approx(options.picture_tflop(), rel=0.01)
    assert options.picture_tflop() == 2.5 * FASHN_STEP


def test_operations_of_klein() -> None:
    """With a photo of 1 megapixel and a garment of the default size: 16 x 16 pixels are a token."""
    networks = full_size(META, NUMBERS)
    side = 1024 // 16
    tokens = 2 * side**2 + round(0.35e6 / 16**2)

    def blank(*shape: int) -> torch.Tensor:
        return torch.empty(1, *shape, dtype=NUMBERS, device=META)

    with FlopCounterMode(display=False) as counted:
        networks.transformer(
            hidden_states=blank(tokens, 128),
            encoder_hidden_states=blank(TOKENS, EMBEDDING_VALUES),
            timestep=blank(),
            img_ids=blank(tokens, 4),
            txt_ids=blank(TOKENS, 4),
        )
    assert counted.get_total_flops() / 1e12 == pytest.approx(KLEIN_STEP, rel=0.01)
    with FlopCounterMode(display=False) as counted:
        networks.vae.encode(blank(3, 16 * side, 16 * side))
        networks.vae.decode(blank(32, 2 * side, 2 * side))
    assert counted.get_total_flops() / 1e12 == pytest.approx(VAE_TFLOP, rel=0.01)


def test_a_picture_takes_as_long_as_its_products_or_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines.estimate, "_TIMED_SECONDS", 0.05)
    found = estimated("fashn", 100.0, "cpu", "float32")
    assert found is not None
    assert found.device == "cpu in float32"
    assert found.most == SLOWER_THAN_PRODUCTS * found.least
    assert 100.0 / found.least < 100, "10^12 operations a second, which no CPU does"


def test_a_device_that_is_not_here_is_told_before_anything_is_fetched() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA GPU")
    with pytest.raises(EngineUnavailable, match="engine fashn needs a CUDA GPU"):
        estimated("fashn", 100.0, "cuda")


@pytest.mark.parametrize(
    ("tool", "system", "known"), [(None, "Linux", True), ("/bin/nvidia-smi", "Linux", False), (None, "Darwin", False)]
)
def test_without_torch_the_cpu_alone_is_known(
    monkeypatch: pytest.MonkeyPatch, tool: str | None, system: str, *, known: bool
) -> None:
    monkeypatch.setattr(engines.estimate, "_TIMED_SECONDS", 0.05)
    monkeypatch.setattr(engines.estimate, "find_spec", lambda _name: None)
    monkeypatch.setattr(shutil, "which", lambda _name: tool)
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    found = estimated("fashn", 100.0)
    assert (found is not None) is known
    assert found is None or 0 < found.least < found.most
