"""Which networks fit into which GPU: reckoned at full size without memory for their weights, drawn with tiny ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers.hooks.group_offloading import ModuleGroup
from diffusers.models.transformers.transformer_flux2 import Flux2Transformer2DModel
from torch import nn
from transformers.models.qwen3.configuration_qwen3 import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import Qwen3ForCausalLM

from engines.base import EngineUnavailable
from engines.klein.full_size import full_size
from engines.klein.memory import COSTS, Footprint, Offload, fitting, lend_blocks
from engines.klein.painter import KleinPainter
from tests.engines.klein.tiny import go_on, ignore, networks_of, reference, request

GIB = 2**30
QWEN3_4B = {
    "vocab_size": 151_936, "hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": True,
}  # fmt: skip
"""As published with Qwen3-4B, which klein reads."""


def footprint(*, fp8: bool = False, megapixels: float = 1.0) -> Footprint:
    networks = full_size("meta", torch.bfloat16)
    with torch.device("meta"):
        encoder = Qwen3ForCausalLM(Qwen3Config(**QWEN3_4B)).to(torch.bfloat16)
    return Footprint.of(
        networks.transformer, networks.vae, encoder, megapixels=megapixels, cache_bytes=256 * 2**20, fp8=fp8
    )


def test_what_each_way_needs_at_full_size() -> None:
    needs = {way: footprint().needs(way) / 1e9 for way in Offload}
    assert needs == pytest.approx({"nothing": 16.5, "text_encoder": 11.4, "blocks": 5.0}, abs=0.1)
    assert footprint(fp8=True).needs(Offload.TEXT_ENCODER) / 1e9 == pytest.approx(8.9, abs=0.1)
    assert footprint(megapixels=2.0).needs(Offload.BLOCKS) / 1e9 == pytest.approx(7.7, abs=0.1)


@pytest.mark.parametrize(
    ("card_gib", "way"), [(24, "nothing"), (16, "nothing"), (12, "text_encoder"), (10, "blocks"), (8, "blocks")]
)
def test_a_card_is_used_as_well_as_its_memory_allows(card_gib: int, way: str) -> None:
    free = card_gib * GIB - 600_000_000  # what the driver and this process take
    assert fitting(footprint(), free, blocks=True) == way
    assert COSTS[Offload(way)] == "" or "computes on the CPU" in COSTS[Offload(way)]


def test_a_card_that_is_too_small_is_refused_in_one_sentence() -> None:
    with pytest.raises(
        EngineUnavailable, match=r"needs 5\.0 GB of the GPU's memory and 4\.0 GB are free: free some or"
    ):
        fitting(footprint(), 4_000_000_000, blocks=True)
    with pytest.raises(EngineUnavailable, match=r"needs 11\.4 GB .* switch compile and fp8 off"):
        fitting(footprint(), 8_000_000_000, blocks=False)


@pytest.mark.parametrize("offload", ["text_encoder", "blocks"])
def test_what_is_offloaded_draws_the_same_picture(weights: Path, painter: KleinPainter, offload: str) -> None:
    asked = request(reference(1), reference(2))
    small = KleinPainter(str(weights), device="cpu", dtype="float32", offload=offload)
    small.setup()
    assert small.info.economy == COSTS[Offload(offload)]
    assert np.array_equal(small.paint(asked, ignore, go_on), painter.paint(asked, ignore, go_on))


def test_no_more_blocks_are_lent_at_a_time_than_reckoned(
    painter: KleinPainter, monkeypatch: pytest.MonkeyPatch
) -> None:
    networks = networks_of(painter)
    deeper = dict(networks.transformer.config) | {"num_layers": 2, "num_single_layers": 6}
    transformer = Flux2Transformer2DModel.from_config(deeper).eval().requires_grad_(requires_grad=False)
    reckoned = Footprint.of(transformer, nn.Module(), nn.Module(), megapixels=1.0, cache_bytes=0, fp8=False)
    lend_blocks(transformer, torch.device("cpu"))
    lent, most = dict[int, int](), [0]
    onload, offload = ModuleGroup.onload_, ModuleGroup.offload_

    def note_onload(group: ModuleGroup) -> None:
        tensors = [tensor for module in group.modules for tensor in (*module.parameters(), *module.buffers())]
        lent[id(group)] = sum(tensor.nbytes for tensor in (*tensors, *group.parameters, *group.buffers))
        most[0] = max(most[0], sum(lent.values()))
        onload(group)

    def note_offload(group: ModuleGroup) -> None:
        lent.pop(id(group), None)
        offload(group)

    monkeypatch.setattr(ModuleGroup, "onload_", note_onload)
    monkeypatch.setattr(ModuleGroup, "offload_", note_offload)
    small = KleinPainter(device="cpu", dtype="float32", networks=replace(networks, transformer=transformer))
    small.setup()
    small.paint(request(), ignore, go_on)
    assert lent == {}
    assert 0 < most[0] <= reckoned.lent < 0.8 * reckoned.transformer


def test_lending_blocks_excludes_what_changes_them(weights: Path) -> None:
    for other in ({"compile": True}, {"fp8": "storage"}):
        painter = KleinPainter(str(weights), device="cpu", dtype="float32", offload="blocks", **other)  # type: ignore[arg-type]
        with pytest.raises(EngineUnavailable, match="offload=blocks excludes compile and fp8=storage"):
            painter.setup()


def test_a_gpus_free_memory_is_asked(painter: KleinPainter, monkeypatch: pytest.MonkeyPatch) -> None:
    networks, free = networks_of(painter), 10**12
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _device: (free, 0))
    asked = (torch.device("cuda"), networks.transformer, networks.vae, nn.Module())
    assert KleinPainter(device="cuda")._way_to_fit(*asked) == "nothing"
    free = 3_600_000_000
    assert KleinPainter(device="cuda")._way_to_fit(*asked) == "nothing", "tiny networks fit anywhere"
    assert KleinPainter(device="cuda", text_encoder_device="cuda:1")._way_to_fit(*asked) == "nothing"
    free = 1_000_000_000
    with pytest.raises(EngineUnavailable, match="are free"):
        KleinPainter(device="cuda")._way_to_fit(*asked)
