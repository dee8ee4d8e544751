"""Small ONNX graphs in place of DWPose's networks: they take and give the same shapes, and what they give is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

CELLS = 8400
POINTS = 133
WIDTH, HEIGHT = 288, 384
OPSET = 17
IR = 9

SQUARE = helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, 640, 640])
PART = helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch", 3, HEIGHT, WIDTH])
"""The published estimator leaves its first axis open."""


def write_detector(path: Path, boxes: Mapping[int, tuple[float, float, float, float, float]]) -> None:
    """A detector that always sees the same.

    Args:
        path: Where it goes.
        boxes: Number of a cell to centre and logarithmic size in units of that cell, and the score for a person.
    """
    rows = np.zeros((1, CELLS, 85), np.float32)
    for cell, (*box, score) in boxes.items():
        rows[0, cell, :4] = box
        rows[0, cell, 4], rows[0, cell, 5] = 1.0, score
    _write(path, SQUARE, {"output": rows})


def write_estimator(path: Path, points: NDArray[np.float64], scores: NDArray[np.float64]) -> None:
    """An estimator that always finds the same points.

    Args:
        path: Where it goes.
        points: ``(133, 2)``, x and y in pixels of what it looks at.
        scores: ``(133,)``.
    """
    responses = {}
    for axis, (name, length) in enumerate({"simcc_x": WIDTH, "simcc_y": HEIGHT}.items()):
        response = np.zeros((1, POINTS, 2 * length), np.float32)
        response[0, np.arange(POINTS), np.rint(2 * points[:, axis]).astype(int)] = scores
        responses[name] = response
    _write(path, PART, responses)


def write_brightest_spot(path: Path) -> None:
    """An estimator that finds all its points at the brightest column and row."""
    outputs, nodes, constants = [], [], []
    for name, length, axes in (("simcc_x", WIDTH, [1, 2]), ("simcc_y", HEIGHT, [1, 3])):
        steps = ["ReduceMax", "Unsqueeze", "Tile", "Reshape", "Expand"]
        values = {
            f"{name}_axis": np.array([2]),
            f"{name}_twice": np.array([1, 1, 2]),
            f"{name}_flat": np.array([1, 1, 2 * length]),
            f"{name}_all": np.array([1, POINTS, 2 * length]),
        }
        constants += [numpy_helper.from_array(value.astype(np.int64), key) for key, value in values.items()]
        taken = "input"
        for step, constant in zip(steps, [None, *values], strict=True):
            given = name if step == "Expand" else f"{name}_{step}"
            attributes = {"axes": axes, "keepdims": 0} if constant is None else {}
            nodes.append(
                helper.make_node(step, [taken] if constant is None else [taken, constant], [given], **attributes)
            )
            taken = given
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, POINTS, 2 * length]))
    _save(path, helper.make_graph(nodes, "graph", [PART], outputs, constants))


def _write(path: Path, taken: onnx.ValueInfoProto, given: Mapping[str, NDArray[np.float32]]) -> None:
    """A graph that gives constants, and nought times the mean of what it takes."""
    nodes = [
        helper.make_node("ReduceMean", [taken.name], ["mean"], keepdims=0),
        helper.make_node("Mul", ["mean", "nought"], ["nothing"]),
    ]
    constants = [numpy_helper.from_array(np.array(0.0, np.float32), "nought")]
    outputs = []
    for name, value in given.items():
        constants.append(numpy_helper.from_array(value, f"{name}_constant"))
        nodes.append(helper.make_node("Add", [f"{name}_constant", "nothing"], [name]))
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, list(value.shape)))
    _save(path, helper.make_graph(nodes, "graph", [taken], outputs, constants))


def _save(path: Path, graph: onnx.GraphProto) -> None:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)
