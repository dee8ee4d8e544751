import dataclasses
from collections import Counter
from collections.abc import Callable

import pytest
import torch

from engines.fashn.network import Conditions, FashnNetwork
from engines.fashn.shape import FULL_SIZE, NetworkShape, parse_shape
from tests.engines.fashn.numbers import CLOSE, Numbers, masked

CLOSER = 2e-6
"""Attention is so even with the reference's random weights that wrong positions change the velocity by 4e-6 alone."""


def test_velocity_is_that_of_the_published_network(network: FashnNetwork, numbers: Numbers) -> None:
    given = numbers.input
    conditions = masked(numbers.conditions, given["conditioned"])
    with torch.inference_mode():
        velocity = network(given["noise"], given["t"], conditions)
    assert (velocity - numbers.expected["velocity"]).abs().max() < CLOSER


@pytest.mark.parametrize("order", [[0, 2, 1], [2, 1, 0], [1, 0, 2]])
def test_numbers_tell_wrong_positions_from_right_ones(
    network: FashnNetwork, numbers: Numbers, monkeypatch: pytest.MonkeyPatch, order: list[int]
) -> None:
    given = numbers.input
    right = network._places(torch.device("cpu"))
    monkeypatch.setattr(network, "_places", lambda _device: right[:, order])
    with torch.inference_mode():
        velocity = network(given["noise"], given["t"], masked(numbers.conditions, given["conditioned"]))
    assert (velocity - numbers.expected["velocity"]).abs().max() > CLOSER


@pytest.mark.parametrize("name", ["person", "person_pose", "garment", "garment_pose", "category"])
def test_every_condition_counts(network: FashnNetwork, numbers: Numbers, name: str) -> None:
    given = numbers.input
    other = dataclasses.replace(numbers.conditions, **{name: numbers.input[name].flip(0)})
    with torch.inference_mode():
        before = network(given["noise"], given["t"], numbers.conditions)
        after = network(given["noise"], given["t"], other)
    assert (before - after).abs().max() > CLOSE


def test_joined_conditions_are_a_batch_in_order(numbers: Numbers) -> None:
    rows = [numbers.conditions.each(lambda tensor, row=row: tensor[row : row + 1]) for row in (0, 1)]
    joined = type(rows[0]).joined(rows)
    assert torch.equal(joined.garment, numbers.conditions.garment)
    assert torch.equal(joined.category, numbers.conditions.category)


def test_time_is_rounded_before_it_is_scaled(numbers: Numbers) -> None:
    network = FashnNetwork(numbers.shape).to(torch.bfloat16)
    seen: list[torch.Tensor] = []
    network.time_wave.register_forward_pre_hook(lambda _module, given: seen.append(given[0]))
    with torch.inference_mode():
        network(numbers.input["noise"], torch.tensor([0.325, 0.425]), numbers.conditions)
    assert seen[0].tolist() == [324.0, 426.0]  # and not 326 and 424


def test_repeated_blocks_are_compiled_and_nothing_else(
    own_network: FashnNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tracing itself takes seconds for each block and is left out here."""
    compiled: list[str] = []

    def compile_nothing(call: Callable[..., object], **options: object) -> Callable[..., object]:
        compiled.append(type(call.__self__).__name__)  # type: ignore[attr-defined]
        assert options == {"fullgraph": True}
        return call

    monkeypatch.setattr(torch, "compile", compile_nothing)
    own_network.compile_repeated_blocks(fullgraph=True)
    assert Counter(compiled) == {"FluxTransformerBlock": 2, "FluxSingleTransformerBlock": 3}


def test_attention_backend_can_be_chosen(own_network: FashnNetwork) -> None:
    own_network.set_attention_backend("native")


def test_full_size_is_that_of_the_published_weights() -> None:
    with torch.device("meta"):
        network = FashnNetwork(FULL_SIZE)
    assert FULL_SIZE.grid == (72, 48)
    assert round(sum(parameter.numel() for parameter in network.parameters()) / 1e6, 1) == 971.8


def test_full_size_draws_its_frame() -> None:
    """With one block of each sort and without numbers: that the shapes fit one another."""
    with torch.device("meta"), torch.inference_mode():
        network = FashnNetwork(
            dataclasses.replace(FULL_SIZE, patch_mixer_depth=1, double_blocks_depth=1, single_blocks_depth=1)
        )
        pictures = (torch.empty(2, channels, *FULL_SIZE.input_shape) for channels in (3, 1, 3, 1))
        conditions = Conditions(*pictures, torch.zeros(2, dtype=torch.int64))
        velocity = network(torch.empty(2, 3, *FULL_SIZE.input_shape), torch.empty(2), conditions)
    assert velocity.shape == (2, 3, 864, 576)


@pytest.mark.parametrize(
    "change",
    [
        {"hidden_size": 1281},
        {"mlp_ratio": 3},
        {"input_shape": (863, 576)},
        {"single_blocks_depth": 0},
        {"double_blocks_depth": 10**9},
        {"n_heads": True},
    ],
)
def test_sizes_that_fit_no_network_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        dataclasses.replace(FULL_SIZE, **change)


def test_configuration_of_a_file(numbers: Numbers) -> None:
    shape = parse_shape(numbers.configuration)
    assert shape == NetworkShape((48, 36), 32, 2, 2, 2, 1, 12, (4, 6, 6), 4)
    assert parse_shape("{}") == FULL_SIZE
