"""The engine's own trained networks: ONNX files, run by OpenCV."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class OnnxNetwork:
    """A network that answers a picture and its mirror image together. Safe to call from several threads, one at a time.

    Args:
        path: Its ONNX file.
        answers: Names of the answers that are wanted.
    """

    def __init__(self, path: Path, answers: Sequence[str]) -> None:
        self._network = cv2.dnn.readNetFromONNX(str(path))
        self._answers = list(answers)
        self._lock = threading.Lock()

    def run(self, both: Floats) -> list[Floats]:
        """The answers to ``(2, planes, height, width)``, 0 to 255."""
        with self._lock:
            self._network.setInput(both)
            return [np.asarray(each, np.float32) for each in self._network.forward(self._answers)]


def softmax(logits: Floats, axis: int) -> Floats:
    """Probabilities over an axis, same shape."""
    powers = np.exp(logits - logits.max(axis=axis, keepdims=True))
    powers /= powers.sum(axis=axis, keepdims=True)
    return np.asarray(powers, np.float32)
