from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from engines.base import EngineUnavailable
from engines.klein.embeddings import EmbeddingCache, embedding_file, store_embedding


def encode(prompt: str) -> torch.Tensor:
    return torch.full((1, 2, 3), float(len(prompt)))


def get(embeddings: EmbeddingCache, prompt: str) -> torch.Tensor:
    """As the painter does."""
    found = embeddings.find(prompt)
    return embeddings.keep(prompt, encode(prompt)) if found is None else found


def cache(entries: int = 2, folder: Path | None = None, dtype: torch.dtype = torch.float32) -> EmbeddingCache:
    return EmbeddingCache(entries, revision="r1", dtype=dtype, folder=folder)


def test_the_same_words_give_the_same_tensor() -> None:
    embeddings = cache()
    first = get(embeddings, "a")
    assert embeddings.find("a") is first
    assert (embeddings.hits, embeddings.reads, embeddings.misses) == (1, 0, 1)


def test_what_was_not_used_for_longest_goes_first() -> None:
    embeddings = cache()
    for prompt in ("a", "b", "a", "c"):
        get(embeddings, prompt)
    assert embeddings.find("a") is not None
    assert embeddings.find("c") is not None
    get(embeddings, "b")
    assert (embeddings.hits, embeddings.misses) == (3, 4)


def test_nothing_is_kept_where_nothing_may_be() -> None:
    embeddings = cache(entries=0)
    get(embeddings, "a")
    get(embeddings, "a")
    assert embeddings.misses == 2


def test_files_are_read_once_and_hold_the_same_bits(tmp_path: Path) -> None:
    embedding = torch.randn(1, 4, 6)
    path = store_embedding(tmp_path / "new", "a", "r1", embedding)
    assert path == embedding_file(tmp_path / "new", "a", "r1")
    assert [file.name for file in (tmp_path / "new").iterdir()] == [path.name]
    embeddings = cache(folder=tmp_path / "new")
    found = embeddings.find("a")
    assert found is not None
    assert torch.equal(found, embedding)
    assert embeddings.find("a") is found
    assert (embeddings.hits, embeddings.reads, embeddings.misses) == (1, 1, 0)


def test_another_revision_has_other_files(tmp_path: Path) -> None:
    store_embedding(tmp_path, "a", "r2", torch.randn(1, 4, 6))
    embeddings = cache(folder=tmp_path)
    assert get(embeddings, "a").shape == (1, 2, 3)
    assert embeddings.misses == 1


def test_numbers_of_another_kind_are_not_used(tmp_path: Path) -> None:
    store_embedding(tmp_path, "a", "r1", torch.randn(1, 4, 6))
    embeddings = cache(folder=tmp_path, dtype=torch.bfloat16)
    get(embeddings, "a")
    assert embeddings.misses == 1


def test_a_file_that_was_cut_short_is_not_used(tmp_path: Path) -> None:
    path = store_embedding(tmp_path, "a", "r1", torch.randn(1, 4, 6))
    path.write_bytes(path.read_bytes()[:40])
    embeddings = cache(folder=tmp_path)
    get(embeddings, "a")
    assert embeddings.misses == 1


def test_what_was_encoded_is_there_for_the_next_process(tmp_path: Path) -> None:
    kept = get(cache(folder=tmp_path), "a")
    assert [file.name for file in tmp_path.iterdir()] == [embedding_file(tmp_path, "a", "r1").name]
    later = cache(folder=tmp_path)
    found = later.find("a")
    assert found is not None
    assert torch.equal(found, kept)
    assert (later.reads, later.misses) == (1, 0)


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_full(_tensors: object, path: Path, _metadata: object) -> None:
        path.write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr("engines.klein.embeddings.save_file", run_full)
    embeddings = cache(folder=tmp_path)
    kept = get(embeddings, "a")
    assert list(tmp_path.iterdir()) == []
    assert embeddings.find("a") is kept


def test_folders_are_checked_at_the_start(tmp_path: Path) -> None:
    cache().check_folder(6)
    cache(folder=tmp_path / "made" / "anew").check_folder(6)
    assert (tmp_path / "made" / "anew").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(EngineUnavailable, match=r"embeddings .*file/none cannot be made"):
        cache(folder=tmp_path / "file" / "none").check_folder(6)
    store_embedding(tmp_path, "a", "r1", torch.randn(1, 4, 6))
    cache(folder=tmp_path).check_folder(6)
    with pytest.raises(EngineUnavailable, match=r"prompt_embeds has the shape \(1, 4, 6\) instead of"):
        cache(folder=tmp_path).check_folder(7)
    save_file({"other": torch.zeros(1)}, tmp_path / "other.safetensors")
    (tmp_path / embedding_file(tmp_path, "a", "r1")).unlink()
    with pytest.raises(EngineUnavailable, match=r"other\.safetensors does not hold the tensor prompt_embeds"):
        cache(folder=tmp_path).check_folder(6)
