"""Running one of the small convolutional networks on a square cut out of a photo."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.framing import framed

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Square:
    """A square region of a photo, possibly turned and possibly reaching beyond the frame.

    Attributes:
        x: Column of the centre, in pixels of the photo.
        y: Row of the centre.
        side: Length of a side in pixels.
        angle: Clockwise turn of the square's upright, in radians.
    """

    x: float
    y: float
    side: float
    angle: float = 0.0

    def matrix_to(self, size: int) -> NDArray[np.float64]:
        """The ``(2, 3)`` affine matrix from photo pixels to pixels of the square drawn at ``size`` pixels."""
        cosine = np.cos(self.angle) * size / self.side
        sine = np.sin(self.angle) * size / self.side
        right = (size - 1) / 2 - cosine * self.x - sine * self.y
        down = (size - 1) / 2 + sine * self.x - cosine * self.y
        return np.array([[cosine, sine, right], [-sine, cosine, down]])

    def cut(self, photo: Picture, size: int) -> Picture:
        """The square drawn at ``(size, size, 3)``; black beyond the frame, as the networks were trained."""
        return framed(photo, self.matrix_to(size), (size, size))

    def to_photo(self, points: Floats, size: int) -> Floats:
        """Bring ``(n, 2)`` points, in lengths of a pixel from the drawn square's corner, to pixels of the photo."""
        back = cv2.invertAffineTransform(self.matrix_to(size))
        return ((points - 0.5) @ back[:, :2].T + back[:, 2]).astype(np.float32)

    def paste(self, drawn: Floats, width: int, height: int) -> Floats:
        """Draw a ``(size, size)`` map of the square onto a ``(height, width)`` frame; 0 where it does not reach."""
        back = cv2.invertAffineTransform(self.matrix_to(drawn.shape[0]))
        return np.asarray(cv2.warpAffine(drawn, back, (width, height)), dtype=np.float32)


class Network:
    """A ``.tflite`` file, loaded. Safe to call from several threads, one at a time.

    Args:
        path: The model file.
        threads: How many threads one call may use.
        lowest: What black becomes: 0 for networks that take 0 to 1, -1 for those that take -1 to 1.
    """

    def __init__(self, path: Path, threads: int, *, lowest: float = 0.0) -> None:
        from ai_edge_litert.interpreter import Interpreter  # takes a while to load; not every process needs it

        self._interpreter: Any = Interpreter(str(path), num_threads=threads)
        self._interpreter.allocate_tensors()
        entry = self._interpreter.get_input_details()[0]
        self._entry: int = entry["index"]
        self._exits: list[int] = [exit_["index"] for exit_ in self._interpreter.get_output_details()]
        self._lowest = lowest
        self._lock = threading.Lock()
        self.size = int(entry["shape"][1])

    def run(self, square: Picture) -> list[Floats]:
        """Every output of the network for a ``(size, size, 3)`` picture, in the order of the file."""
        scaled = square.astype(np.float32) * ((1.0 - self._lowest) / 255.0) + self._lowest
        with self._lock:
            self._interpreter.set_tensor(self._entry, scaled[None])
            self._interpreter.invoke()
            return [np.array(self._interpreter.get_tensor(index)[0], dtype=np.float32) for index in self._exits]
