import json
import pickle
from pathlib import Path

import pytest
import torch

from engines.base import EngineUnavailable
from engines.fashn.checkpoint import WEIGHTS_FILE, check_weights, checked_shape, full_size, load_network
from engines.fashn.network import FashnNetwork
from engines.fashn.poses.finder import ESTIMATOR_FILE
from engines.fashn.shape import FULL_SIZE, NetworkShape
from tests.engines.fashn.numbers import Numbers
from tests.engines.fashn.weights import write_checkpoint, write_pose_graphs

CPU = torch.device("cpu")


def refused(folder: Path) -> str:
    with pytest.raises(EngineUnavailable) as refusal:
        load_network(folder, device=CPU, dtype=torch.float32)
    return str(refusal.value)


def test_network_is_loaded_frozen_and_in_the_type_asked_for(weights: Path, network: FashnNetwork) -> None:
    half = load_network(weights, device=CPU, dtype=torch.bfloat16)
    assert {parameter.dtype for parameter in half.parameters()} == {torch.bfloat16}
    assert not half.training
    assert not any(parameter.requires_grad for parameter in half.parameters())
    assert network.dtype == torch.float32
    assert network.shape.input_shape == (48, 36)


def test_file_without_a_configuration_is_of_full_size(tmp_path: Path, numbers: Numbers) -> None:
    write_checkpoint(tmp_path, numbers.weights, None)
    assert refused(tmp_path).endswith("y_embedder.weight has the shape (4, 32) instead of (4, 1280).")


def test_missing_file(tmp_path: Path) -> None:
    assert refused(tmp_path) == f"The weights {tmp_path / WEIGHTS_FILE} are missing."


def test_missing_key_is_named_with_the_file(tmp_path: Path, numbers: Numbers) -> None:
    name = "single_blocks.1.linear2.bias"
    path = write_checkpoint(tmp_path, {k: v for k, v in numbers.weights.items() if k != name}, numbers.configuration)
    assert refused(tmp_path) == f"{path} does not hold the tensor {name}."


def test_unknown_key_is_named(tmp_path: Path, numbers: Numbers) -> None:
    write_checkpoint(tmp_path, numbers.weights | {"lora": torch.zeros(1)}, numbers.configuration)
    assert "holds lora, which is no part" in refused(tmp_path)


def test_wrong_shape_is_named(tmp_path: Path, numbers: Numbers) -> None:
    write_checkpoint(tmp_path, numbers.weights | {"y_embedder.weight": torch.zeros(5, 32)}, numbers.configuration)
    assert "y_embedder.weight has the shape (5, 32) instead of (4, 32)" in refused(tmp_path)


def test_whole_numbers_are_no_weights(tmp_path: Path, numbers: Numbers) -> None:
    whole = numbers.weights["y_embedder.weight"].to(torch.int32)
    write_checkpoint(tmp_path, numbers.weights | {"y_embedder.weight": whole}, numbers.configuration)
    assert "y_embedder.weight is of the type I32" in refused(tmp_path)


def test_file_that_was_cut_short(tmp_path: Path, weights: Path) -> None:
    data = (weights / WEIGHTS_FILE).read_bytes()
    (tmp_path / WEIGHTS_FILE).write_bytes(data[:-10])
    assert "is corrupt" in refused(tmp_path)


def test_tensors_that_overlap_are_refused(tmp_path: Path, weights: Path) -> None:
    """The header looks right and is as long as the file; only safetensors itself sees it."""
    data = (weights / WEIGHTS_FILE).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    first, second = [name for name, entry in header.items() if entry.get("shape") == [32, 128]][:2]
    header[first]["data_offsets"] = header[second]["data_offsets"]
    text = json.dumps(header).encode()
    (tmp_path / WEIGHTS_FILE).write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])
    assert "cannot be opened" in refused(tmp_path)


def test_pickle_is_never_opened(tmp_path: Path) -> None:
    (tmp_path / WEIGHTS_FILE).write_bytes(pickle.dumps({"a": 1}))
    assert "is a pickle" in refused(tmp_path)


@pytest.mark.parametrize(
    "configuration",
    [
        "{",
        "[]",
        '{"depth": 3}',
        '{"hidden_size": 31}',
        '{"hidden_size": "32"}',
        '{"axes_dim": 4}',
        '{"axes_dim": [4, 6]}',
        '{"single_blocks_depth": 1001}',
        '{"input_shape": [864, 4104]}',
    ],
)
def test_configuration_that_makes_no_sense(tmp_path: Path, numbers: Numbers, configuration: str) -> None:
    path = write_checkpoint(tmp_path, numbers.weights, configuration)
    assert refused(tmp_path).startswith(f"{path}: the configuration in its metadata cannot be used: ")


def test_header_alone_tells_the_size(weights: Path, numbers: Numbers) -> None:
    assert checked_shape(weights / WEIGHTS_FILE) == numbers.shape


def test_folder_is_checked_without_loading(weights: Path, tmp_path: Path, numbers: Numbers) -> None:
    check_weights(weights)
    write_checkpoint(tmp_path, numbers.weights, numbers.configuration)
    write_pose_graphs(tmp_path)
    (tmp_path / ESTIMATOR_FILE).unlink()
    with pytest.raises(EngineUnavailable, match=rf"{ESTIMATOR_FILE} are missing"):
        check_weights(tmp_path)
    (tmp_path / WEIGHTS_FILE).unlink()
    with pytest.raises(EngineUnavailable, match=rf"{WEIGHTS_FILE} are missing"):
        check_weights(tmp_path)


def test_network_of_full_size_without_a_file() -> None:
    network = full_size(device=torch.device("meta"), dtype=torch.bfloat16)
    assert network.shape == FULL_SIZE
    assert network.dtype == torch.bfloat16


def test_random_weights_make_numbers(monkeypatch: pytest.MonkeyPatch, numbers: Numbers) -> None:
    monkeypatch.setattr("engines.fashn.checkpoint.FULL_SIZE", numbers.shape)
    network = full_size(device=CPU, dtype=torch.float32)
    assert isinstance(network.shape, NetworkShape)
    with torch.inference_mode():
        assert network(numbers.input["noise"], numbers.input["t"], numbers.conditions).isfinite().all()
