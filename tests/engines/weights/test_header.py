"""What a file of weights holds is checked before anything of it is loaded."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from engines.base import EngineUnavailable
from engines.weights.header import TensorEntry, check_header, read_header

SHAPES = {"blocks.0.weight": (3, 4), "bias": (5,)}


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    save_file({name: torch.zeros(shape) for name, shape in SHAPES.items()}, path, metadata={"config": "{}"})
    return path


def test_header_names_types_and_shapes(weights: Path) -> None:
    assert read_header(weights) == {name: TensorEntry("F32", shape) for name, shape in SHAPES.items()}


def test_right_file_passes(weights: Path) -> None:
    check_header(weights, SHAPES)


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        (SHAPES | {"scale": (1,)}, "does not hold the tensor scale"),
        (SHAPES | {"bias": (6,)}, r"bias has the shape \(5,\) instead of \(6,\)"),
        ({"bias": (5,)}, r"holds blocks\.0\.weight, which is no part"),
    ],
    ids=["missing", "another shape", "unknown"],
)
def test_wrong_key_is_named_with_its_file(weights: Path, expected: dict[str, tuple[int, ...]], sentence: str) -> None:
    with pytest.raises(EngineUnavailable, match=sentence) as caught:
        check_header(weights, expected)
    assert "model.safetensors" in str(caught.value)


def test_file_cut_short_is_corrupt(weights: Path) -> None:
    weights.write_bytes(weights.read_bytes()[:-4])
    with pytest.raises(EngineUnavailable, match="corrupt"):
        read_header(weights)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_is_refused_unread(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(pickle.dumps({"weight": [0.0] * 100}, protocol=protocol))
    with pytest.raises(EngineUnavailable, match="pickle"):
        read_header(path)


def test_zip_of_torch_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    torch.save({"weight": torch.zeros(3)}, path)
    with pytest.raises(EngineUnavailable, match="pickle"):
        read_header(path)


def test_header_whose_length_begins_like_a_pickle_is_none(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    for name_length in range(1, 300):
        save_file({"n" * name_length: torch.zeros(1)}, path)
        if path.read_bytes()[0] == 0x80:
            break
    else:
        pytest.fail("no header is that long")
    assert list(read_header(path)) == ["n" * name_length]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x01\x02",
        b"\xff" * 8 + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (9).to_bytes(8, "little") + b'{"a": 1}x',
    ],
    ids=["empty", "too short", "endless header", "list", "no JSON"],
)
def test_anything_else_is_no_safetensors_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(EngineUnavailable, match="not a safetensors file"):
        read_header(path)


def file_of(path: Path, header: str, data: bytes = bytes(16)) -> Path:
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + data)
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"data_offsets": ["0", "16"]},
        {"data_offsets": [16]},
        {"data_offsets": [0, 8, 16]},
        {"data_offsets": [0.0, 16.0]},
        {"data_offsets": [-4, 12]},
        {"data_offsets": 16},
        {"shape": "22"},
        {"shape": [2, "2"]},
        {"shape": [-2, -2]},
        {"shape": [True, 4]},
    ],
    ids=str,
)
def test_entries_that_are_none(tmp_path: Path, change: dict[str, object]) -> None:
    entry = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    assert read_header(file_of(tmp_path / "right", json.dumps({"a": entry}))) == {"a": TensorEntry("F32", (2, 2))}
    with pytest.raises(EngineUnavailable, match="its header cannot be read"):
        read_header(file_of(tmp_path / "wrong", json.dumps({"a": entry | change})))


def test_header_without_an_end_to_its_depth(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="its header cannot be read"):
        read_header(file_of(tmp_path / "deep", '{"a":' * 100_000))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"shape": [2, 3]}, "is corrupt: a is not as long as its shape says"),
        ({"dtype": "BF16"}, "is corrupt: a is not as long as its shape says"),
        ({"data_offsets": [4, 16]}, "is corrupt: a is not as long as its shape says"),
        ({"dtype": "F9"}, "a is of the type F9, which safetensors does not know"),
    ],
    ids=str,
)
def test_shape_type_and_place_belong_together(tmp_path: Path, change: dict[str, object], sentence: str) -> None:
    entry = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]} | change
    with pytest.raises(EngineUnavailable, match=sentence):
        read_header(file_of(tmp_path / "file", json.dumps({"a": entry})))


@pytest.mark.parametrize(
    "kind", [torch.bool, torch.float8_e4m3fn, torch.bfloat16, torch.int32, torch.float64, torch.complex64]
)
def test_every_type_has_its_length(tmp_path: Path, kind: torch.dtype) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"a": torch.zeros(3, 5).to(kind), "nothing": torch.zeros(0, 5).to(kind)}, path)
    assert {name: entry.shape for name, entry in read_header(path).items()} == {"a": (3, 5), "nothing": (0, 5)}


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match=r"nowhere\.safetensors are missing"):
        read_header(tmp_path / "nowhere.safetensors")
