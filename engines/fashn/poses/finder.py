"""DWPose's two networks on ONNX Runtime: from a picture to the pose of the person in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnxruntime  # type: ignore[import-untyped,unused-ignore]  # typed in some of its builds
from numpy.typing import NDArray

from engines.base import EngineUnavailable, OnStep, Picture, RenderStopped, ShouldStop
from engines.fashn.poses import detector, estimator
from engines.fashn.poses.skeleton import WHOLE_BODY, Pose, pose_of, with_neck

DETECTOR_FILE = "dwpose/yolox_l.onnx"
ESTIMATOR_FILE = "dwpose/dw-ll_ucoco_384.onnx"
"""Places in the folder of weights, as published."""

STEP = "pose"
"""Name of the stage, told before each run of a network."""

_CUDA, _CPU = "CUDAExecutionProvider", "CPUExecutionProvider"

_ERRORS_ONLY = 3
"""Severity from which ONNX Runtime reports; it warns about every node that it leaves on the CPU."""

_DETECTOR_TAKES = (1, 3, detector.SIDE, detector.SIDE)
_DETECTOR_GIVES = ((1, detector.CELLS, 5 + detector.CLASSES),)
_ESTIMATOR_TAKES = (1, 3, estimator.HEIGHT, estimator.WIDTH)
_ESTIMATOR_GIVES = (
    (1, WHOLE_BODY, estimator.SPLIT * estimator.WIDTH),
    (1, WHOLE_BODY, estimator.SPLIT * estimator.HEIGHT),
)

Shapes: TypeAlias = tuple[tuple[int, ...], ...]


class PoseFinder:
    """Finds the pose of the most prominent person in a picture; may be used from several threads.

    Args:
        folder: Holds `DETECTOR_FILE` and `ESTIMATOR_FILE`.
        cuda_device: Number of the GPU to run on, where ONNX Runtime was built for one; None for the CPU.
        threads: Of the CPU for one run of a network; 0 leaves the choice to ONNX Runtime.

    Raises:
        EngineUnavailable: A file is missing, corrupt, or another network.
    """

    def __init__(self, folder: Path, *, cuda_device: int | None, threads: int = 0) -> None:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _ERRORS_ONLY
        options.intra_op_num_threads = threads
        providers = _providers(cuda_device)
        self._detector = _session(folder / DETECTOR_FILE, options, providers, _DETECTOR_TAKES, _DETECTOR_GIVES)
        self._estimator = _session(folder / ESTIMATOR_FILE, options, providers, _ESTIMATOR_TAKES, _ESTIMATOR_GIVES)

    @property
    def on_gpu(self) -> bool:
        """Whether both networks really run on a GPU; ONNX Runtime takes the CPU where it cannot load its CUDA part."""
        return all(_CUDA in session.get_providers() for session in (self._detector, self._estimator))

    def find(self, picture: Picture, on_step: OnStep, should_stop: ShouldStop) -> Pose:
        """Find the person; where the detector sees nobody, the whole picture is searched.

        Args:
            picture: ``(h, w, 3)``.
            on_step: Called with `STEP` before each run of a network.
            should_stop: Asked as often.

        Raises:
            EngineError: ``person_not_found``.
            RenderStopped: ``should_stop`` said so.
        """
        height, width = picture.shape[:2]
        _announce(on_step, should_stop)
        square, scale = detector.letterboxed(picture)
        boxes = detector.people(_run(self._detector, square)[0], scale)
        if not len(boxes):
            boxes = np.array([[0, 0, width, height]], np.float32)
        found = []
        for box in boxes:
            _announce(on_step, should_stop)
            crop = estimator.crop_around(box)
            across, down = _run(self._estimator, estimator.cut(picture, crop))
            found.append(estimator.points_in(across, down, crop))
        points, scores = with_neck(np.stack([each for each, _ in found]), np.stack([each for _, each in found]))
        return pose_of(points, scores, height, width)


def _providers(cuda_device: int | None) -> list[Any]:
    """Where ONNX Runtime is to run, in order of preference."""
    if cuda_device is None or _CUDA not in onnxruntime.get_available_providers():
        return [_CPU]
    return [(_CUDA, {"device_id": cuda_device}), _CPU]


def _session(path: Path, options: Any, providers: list[Any], takes: tuple[int, ...], gives: Shapes) -> Any:
    """Load a network and run it once on nothing, to see that it makes what it should."""
    if not path.is_file():
        raise EngineUnavailable(f"The weights {path} are missing.")
    try:
        session = onnxruntime.InferenceSession(str(path), sess_options=options, providers=providers)
        made = tuple(output.shape for output in _run(session, np.zeros(takes, np.float32)))
    except Exception as error:  # noqa: BLE001 - its errors have no common type
        reason = str(error).splitlines()[0]
        raise EngineUnavailable(f"{path} cannot be loaded as the network it should be: {reason}") from None
    if made != gives:
        raise EngineUnavailable(f"{path} is another network: it makes {made} instead of {gives}.")
    return session


def _run(session: Any, blob: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    outputs: list[NDArray[np.float32]] = session.run(None, {session.get_inputs()[0].name: blob})
    return outputs


def _announce(on_step: OnStep, should_stop: ShouldStop) -> None:
    if should_stop():
        raise RenderStopped
    on_step(STEP)
