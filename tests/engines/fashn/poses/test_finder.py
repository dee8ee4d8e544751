from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from engines.base import EngineError, EngineUnavailable, Picture, RenderStopped
from engines.fashn.poses.finder import DETECTOR_FILE, ESTIMATOR_FILE, STEP, PoseFinder
from engines.fashn.poses.skeleton import Pose
from tests.engines.fashn.graphs import write_brightest_spot, write_detector
from tests.engines.fashn.weights import write_pose_graphs

BOX = (40 * 80 + 40, 0.0, 0.0, np.log(20), np.log(30), 0.9)
"""Around the middle of the square, 160 by 240 pixels of it."""


def find(finder: PoseFinder, picture: Picture) -> Pose:
    return finder.find(picture, lambda _: None, lambda: False)


def spotted(height: int, width: int, x: int, y: int) -> Picture:
    """A dark picture with a bright spot."""
    picture = np.full((height, width, 3), 20, np.uint8)
    picture[y - 4 : y + 5, x - 4 : x + 5] = 120
    picture[y - 1 : y + 2, x - 1 : x + 2] = 255
    return picture


@pytest.mark.parametrize(
    ("size", "spot"), [((864, 648), (300, 500)), ((400, 300), (180, 210)), ((500, 800), (380, 260))]
)
@pytest.mark.parametrize("boxes", [{}, {BOX[0]: BOX[1:]}])
def test_spot_is_found_where_it_is(
    tmp_path: Path, boxes: dict[int, tuple[float, ...]], size: tuple[int, int], spot: tuple[int, int]
) -> None:
    """Through detection, cutting out and decoding, with a box and without."""
    write_detector(tmp_path / DETECTOR_FILE, boxes)  # type: ignore[arg-type]
    write_brightest_spot(tmp_path / ESTIMATOR_FILE)
    pose = find(PoseFinder(tmp_path, cuda_device=None), spotted(*size, *spot))
    found = pose.body * size[::-1]
    assert np.abs(found - spot).max() < 3.5 * max(size) / 640
    assert pose.body_seen.all()


def test_known_points_come_back(weights: Path) -> None:
    pose = find(PoseFinder(weights, cuda_device=None), np.zeros((400, 300, 3), np.uint8))
    # Without a box the whole picture is searched, a quarter larger.
    assert np.allclose(pose.body[0], [0.5, 0.5 - 0.4 * 1.25], atol=2e-3)
    assert np.allclose(pose.body[1], [0.5, 0.5 - 0.28 * 1.25], atol=2e-3)


def test_nobody(tmp_path: Path) -> None:
    write_pose_graphs(tmp_path, score=0.1)
    with pytest.raises(EngineError) as refusal:
        find(PoseFinder(tmp_path, cuda_device=None), np.zeros((40, 30, 3), np.uint8))
    assert refusal.value.code == "person_not_found"


def test_steps_are_told_and_it_stops_between_them(weights: Path) -> None:
    finder, told = PoseFinder(weights, cuda_device=None), list[str]()
    finder.find(np.zeros((40, 30, 3), np.uint8), told.append, lambda: False)
    assert told == [STEP, STEP]
    with pytest.raises(RenderStopped):
        finder.find(np.zeros((40, 30, 3), np.uint8), told.append, lambda: len(told) == 3)
    assert len(told) == 3


@pytest.mark.parametrize("name", [DETECTOR_FILE, ESTIMATOR_FILE])
def test_missing_file_is_named(tmp_path: Path, name: str) -> None:
    write_pose_graphs(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(EngineUnavailable) as refusal:
        PoseFinder(tmp_path, cuda_device=None)
    assert str(refusal.value) == f"The weights {tmp_path / name} are missing."


@pytest.mark.parametrize("name", [DETECTOR_FILE, ESTIMATOR_FILE])
def test_corrupt_file_is_named(tmp_path: Path, name: str) -> None:
    write_pose_graphs(tmp_path)
    (tmp_path / name).write_bytes(b"no network")
    with pytest.raises(EngineUnavailable) as refusal:
        PoseFinder(tmp_path, cuda_device=None)
    assert str(refusal.value).startswith(f"{tmp_path / name} cannot be loaded")
    assert "\n" not in str(refusal.value)


def test_networks_in_each_others_place_are_refused(tmp_path: Path) -> None:
    write_pose_graphs(tmp_path)
    (tmp_path / DETECTOR_FILE).rename(tmp_path / "other")
    (tmp_path / ESTIMATOR_FILE).rename(tmp_path / DETECTOR_FILE)
    (tmp_path / "other").rename(tmp_path / ESTIMATOR_FILE)
    with pytest.raises(EngineUnavailable, match=r"yolox_l.onnx cannot be loaded as the network it should be"):
        PoseFinder(tmp_path, cuda_device=None)


def test_detector_with_other_classes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pose_graphs(tmp_path)
    monkeypatch.setattr("tests.engines.fashn.graphs.CELLS", 8399)
    write_detector(tmp_path / DETECTOR_FILE, {})
    with pytest.raises(EngineUnavailable, match=r"is another network: it makes \(\(1, 8399, 85\),\)"):
        PoseFinder(tmp_path, cuda_device=None)


@pytest.mark.parametrize(
    ("available", "device", "expected"),
    [
        (["CPUExecutionProvider"], 1, ["CPUExecutionProvider"]),
        (
            ["CUDAExecutionProvider", "CPUExecutionProvider"],
            1,
            [("CUDAExecutionProvider", {"device_id": 1}), "CPUExecutionProvider"],
        ),
        (["CUDAExecutionProvider", "CPUExecutionProvider"], None, ["CPUExecutionProvider"]),
    ],
)
def test_gpu_is_used_where_onnx_runtime_has_one(
    weights: Path, monkeypatch: pytest.MonkeyPatch, available: list[str], device: int | None, expected: list[object]
) -> None:
    asked: list[object] = []
    threads: list[int] = []
    session = onnxruntime.InferenceSession

    def record(path: str, *, sess_options: onnxruntime.SessionOptions, providers: list[object]) -> object:
        asked.append(providers)
        threads.append(sess_options.intra_op_num_threads)
        return session(path, sess_options=sess_options, providers=["CPUExecutionProvider"])

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: available)
    monkeypatch.setattr(onnxruntime, "InferenceSession", record)
    found = PoseFinder(weights, cuda_device=device, threads=3)
    assert asked == [expected, expected]
    assert threads == [3, 3]
    assert not found.on_gpu  # whatever was asked for, these sessions run on the CPU
    monkeypatch.setattr(session, "get_providers", lambda _session: ["CUDAExecutionProvider", "CPUExecutionProvider"])
    assert found.on_gpu
