import pytest
import torch

from engines.fashn.key_map import Rule, converted, published_shapes, rules
from engines.fashn.network import FashnNetwork
from engines.fashn.shape import FULL_SIZE
from tests.engines.fashn.numbers import Numbers, published_keys


def shapes_of(network: FashnNetwork) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


@pytest.fixture(scope="module")
def full_size() -> dict[str, tuple[int, ...]]:
    with torch.device("meta"):
        return shapes_of(FashnNetwork(FULL_SIZE))


def test_published_file_of_full_size_is_known_to_the_last_key(full_size: dict[str, tuple[int, ...]]) -> None:
    expected = published_shapes(FULL_SIZE, full_size)
    assert expected == published_keys()
    assert len(expected) == 366


def test_every_tensor_of_the_network_comes_from_exactly_one_place(full_size: dict[str, tuple[int, ...]]) -> None:
    named = [name for rule in rules(FULL_SIZE) for name in rule.ours]
    assert sorted(named) == sorted(full_size)
    assert len({rule.published for rule in rules(FULL_SIZE)}) == len(rules(FULL_SIZE))


def test_network_with_another_tensor_is_refused(full_size: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="extra comes from nowhere"):
        published_shapes(FULL_SIZE, full_size | {"extra": (1,)})


def test_network_without_a_tensor_is_refused(full_size: dict[str, tuple[int, ...]]) -> None:
    less = {name: shape for name, shape in full_size.items() if name != "norm_out.linear.bias"}
    with pytest.raises(ValueError, match=r"final_layer.adaLN_modulation.1.bias has no place"):
        published_shapes(FULL_SIZE, less)


def test_tensors_are_split_and_the_last_modulation_is_swapped(network: FashnNetwork, numbers: Numbers) -> None:
    ours = converted(numbers.weights, numbers.shape, shapes_of(network))
    qkv = numbers.weights["double_blocks.1.txt_attn.qkv.weight"]
    assert torch.equal(ours["double_blocks.1.attn.add_k_proj.weight"], qkv[32:64])
    linear = numbers.weights["single_blocks.0.linear1.bias"]
    assert torch.equal(ours["single_blocks.0.proj_mlp.bias"], linear[96:])
    norms = {"query": "norm_q", "key": "norm_k"}
    for published, own in norms.items():
        scale = numbers.weights[f"x_patch_mixer.0.norm.{published}_norm.scale"]
        assert torch.equal(ours[f"person_blocks.0.attn.{own}.weight"], scale)
        scale = numbers.weights[f"double_blocks.1.txt_attn.norm.{published}_norm.scale"]
        assert torch.equal(ours[f"double_blocks.1.attn.{own.replace('norm', 'norm_added')}.weight"], scale)
    last = numbers.weights["final_layer.adaLN_modulation.1.bias"]
    assert torch.equal(ours["norm_out.linear.bias"], torch.cat([last[32:], last[:32]]))


def test_missing_unknown_and_misshapen_tensors_are_refused(network: FashnNetwork, numbers: Numbers) -> None:
    ours = shapes_of(network)
    with pytest.raises(KeyError, match=r"y_embedder.weight"):
        converted({k: v for k, v in numbers.weights.items() if k != "y_embedder.weight"}, numbers.shape, ours)
    with pytest.raises(ValueError, match="more is no part"):
        converted(numbers.weights | {"more": torch.zeros(1)}, numbers.shape, ours)
    with pytest.raises(ValueError, match=r"y_embedder.weight has the shape \(5, 32\)"):
        converted(numbers.weights | {"y_embedder.weight": torch.zeros(5, 32)}, numbers.shape, ours)


def test_one_rule_swaps() -> None:
    assert [rule for rule in rules(FULL_SIZE) if rule.swapped] == [
        Rule(f"final_layer.adaLN_modulation.1.{kind}", (f"norm_out.linear.{kind}",), swapped=True)
        for kind in ("weight", "bias")
    ]
