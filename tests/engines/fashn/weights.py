"""A folder of weights as the publishers lay it out, with a tiny network and tiny graphs in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor

from engines.fashn.checkpoint import CONFIGURATION, WEIGHTS_FILE
from engines.fashn.poses.finder import DETECTOR_FILE, ESTIMATOR_FILE
from tests.engines.fashn.graphs import HEIGHT, POINTS, WIDTH, write_detector, write_estimator

STANDING = np.array([0.5, 0.5]) + np.array(
    [
        *((0, -0.4), (0.02, -0.42), (-0.02, -0.42), (0.05, -0.41), (-0.05, -0.41)),  # nose, eyes, ears
        *((0.15, -0.28), (-0.15, -0.28), (0.2, -0.1), (-0.2, -0.1), (0.22, 0.05), (-0.22, 0.05)),  # arms
        *((0.1, 0.05), (-0.1, 0.05), (0.1, 0.22), (-0.1, 0.22), (0.1, 0.4), (-0.1, 0.4)),  # legs
    ]
)
"""Somebody's 17 joints in shares of what the estimator looks at, the left ones to the right."""


def write_checkpoint(folder: Path, weights: Mapping[str, Tensor], configuration: str | None) -> Path:
    metadata = {"format": "pt"} | ({} if configuration is None else {CONFIGURATION: configuration})
    save_file({name: tensor.contiguous() for name, tensor in weights.items()}, folder / WEIGHTS_FILE, metadata)
    return folder / WEIGHTS_FILE


def write_pose_graphs(folder: Path, *, score: float = 0.9) -> None:
    """Nobody is detected, so the whole picture is searched, and somebody stands in its middle."""
    write_detector(folder / DETECTOR_FILE, {})
    write_estimator(folder / ESTIMATOR_FILE, standing() * [WIDTH, HEIGHT], np.full(POINTS, score))


def standing() -> NDArray[np.float64]:
    """All 133 points, ``(133, 2)``: hands and face at the wrists and the nose."""
    points = np.empty((POINTS, 2))
    points[:17] = STANDING
    points[17:23] = STANDING[[15, 15, 15, 16, 16, 16]]
    points[23:91] = STANDING[0]
    points[91:112] = STANDING[9]
    points[112:] = STANDING[10]
    return points
