"""Weights come from the hub whole, or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import huggingface_hub.constants
import pytest

from engines.base import EngineUnavailable
from engines.weights.fetch import MANIFEST, Repository, fetch_weights, missing_megabytes, read_manifest
from tests.servers.hub import COMMIT, FakeHub, running_hub

LARGE = bytes(range(256)) * 94_000
"""24 MB: half of it is more than one piece of the client's downloads, which go on with whole pieces."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    files = {"model.safetensors": LARGE, "config.json": b'{"a": 1}', "other/readme.md": b"not wanted"}
    with running_hub(FakeHub(files)) as running:
        yield running


def fetched(hub: FakeHub, folder: Path, *patterns: str, revision: str = COMMIT) -> list[str]:
    said: list[str] = []
    repository = Repository("owner/model", revision, patterns or ("*.safetensors", "config.json"))
    fetch_weights([repository], folder, licence="Apache-2.0", report=said.append, endpoint=hub.address)
    return said


def test_wanted_files_arrive_whole_with_a_manifest(hub: FakeHub, tmp_path: Path) -> None:
    said = fetched(hub, tmp_path / "weights")
    assert (tmp_path / "weights" / "model.safetensors").read_bytes() == LARGE
    assert not (tmp_path / "weights" / "other").exists()
    assert "2 files, 0.02 GB, 2 to fetch" in said[0]
    assert any("model.safetensors: 24.1 MB, SHA-256 verified" in sentence for sentence in said)
    manifest = read_manifest(tmp_path / "weights")
    assert manifest["licence"] == "Apache-2.0"
    assert manifest["sources"][0]["revision"] == COMMIT  # type: ignore[index]


def test_what_is_missing_is_told_before_it_is_fetched(hub: FakeHub, tmp_path: Path) -> None:
    repository = Repository("owner/model", COMMIT, ("*.safetensors", "config.json"))
    folder = tmp_path / "weights"
    assert missing_megabytes(repository, folder, hub.address) == (len(LARGE) + len(hub.files["config.json"])) / 1e6
    assert not folder.exists()
    fetched(hub, folder)
    assert missing_megabytes(repository, folder, hub.address) == 0


def test_second_time_nothing_is_fetched(hub: FakeHub, tmp_path: Path) -> None:
    fetched(hub, tmp_path)
    hub.downloads.clear()
    assert "0 to fetch" in fetched(hub, tmp_path)[0]
    assert hub.downloads == []


def test_download_that_breaks_off_is_gone_on_with(hub: FakeHub, tmp_path: Path) -> None:
    hub.break_once.add("model.safetensors")
    fetched(hub, tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == LARGE
    first_bytes = [first for path, first in hub.downloads if path == "model.safetensors"]
    assert first_bytes[0] == 0
    assert all(first > 0 for first in first_bytes[1:])
    assert len(first_bytes) > 1


def test_damaged_file_is_fetched_again(hub: FakeHub, tmp_path: Path) -> None:
    fetched(hub, tmp_path)
    (tmp_path / "model.safetensors").write_bytes(bytes(len(LARGE)))
    hub.downloads.clear()
    fetched(hub, tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == LARGE
    assert [path for path, _ in hub.downloads] == ["model.safetensors"]


def test_content_that_is_not_what_the_hub_describes_is_refused_and_leaves_no_manifest(
    hub: FakeHub, tmp_path: Path
) -> None:
    hub.lie.add("model.safetensors")
    with pytest.raises(EngineUnavailable, match=r"model\.safetensors is not the file that the hub describes"):
        fetched(hub, tmp_path)
    assert not (tmp_path / MANIFEST).exists()


def test_fetching_again_begins_without_the_old_manifest(hub: FakeHub, tmp_path: Path) -> None:
    fetched(hub, tmp_path, "config.json")
    hub.lie.add("model.safetensors")
    with pytest.raises(EngineUnavailable, match="is not the file"):
        fetched(hub, tmp_path)
    assert not (tmp_path / MANIFEST).exists()


def test_hub_that_is_away_takes_nothing_from_a_whole_folder(hub: FakeHub, tmp_path: Path) -> None:
    fetched(hub, tmp_path, "config.json")
    with pytest.raises(EngineUnavailable):
        fetched(FakeHub({}, address="http://127.0.0.1:9"), tmp_path, "config.json")
    assert read_manifest(tmp_path)["sources"]


@pytest.mark.parametrize("path", ["../outside.json", "a/../../outside.json", "{outside}", "a\\..\\outside.json"])
def test_path_that_leads_out_is_refused_before_anything_is_touched(hub: FakeHub, tmp_path: Path, path: str) -> None:
    outside, folder = tmp_path / "outside.json", tmp_path / "weights"
    outside.write_text("mine")
    fetched(hub, folder, "config.json")
    hub.downloads.clear()
    hub.files[path.format(outside=outside)] = b"theirs"
    with pytest.raises(EngineUnavailable, match="would lie outside the folder"):
        fetched(hub, folder, "*.json")
    assert outside.read_text() == "mine"
    assert hub.downloads == []
    assert (folder / MANIFEST).exists()


def test_pattern_that_matches_nothing_is_named(hub: FakeHub, tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match=r"holds no vae/\*"):
        fetched(hub, tmp_path, "vae/*")


def test_revision_that_does_not_exist_is_one_sentence(hub: FakeHub, tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="The hub does not give the weights") as caught:
        fetched(hub, tmp_path, revision="nowhere")
    assert "\n" not in str(caught.value)


def test_hub_that_does_not_answer_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="The hub does not give the weights"):
        fetched(FakeHub({}, address="http://127.0.0.1:9"), tmp_path)


def test_disk_that_is_too_small_is_said_before_anything_is_fetched(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Mock(free=1_000_000))
    with pytest.raises(EngineUnavailable, match=r"needs 0\.0 GB more, and 0\.0 GB are free"):
        fetched(hub, tmp_path)
    assert hub.downloads == []


@pytest.mark.parametrize("content", [None, "{", json.dumps(["no object"])])
def test_folder_filled_by_other_means_has_no_manifest(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / MANIFEST).write_text(content)
    assert read_manifest(tmp_path) == {}
