from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from engines.base import EngineUnavailable
from engines.klein.embeddings import EmbeddingCache, embedding_file, store_embedding


def encode(prompt: str) -> torch.Tensor:
    return torch.full((1, 2, 3), float(len(prompt)))


def never(_prompt: str) -> torch.Tensor:
    raise AssertionError


def cache(entries: int = 2, folder: Path | None = None, dtype: torch.dtype = torch.float32) -> EmbeddingCache:
    return EmbeddingCache(entries, revision="r1", dtype=dtype, folder=folder)


def test_the_same_words_give_the_same_tensor() -> None:
    embeddings = cache()
    first = embeddings.get("a", encode)
    assert embeddings.get("a", never) is first
    assert (embeddings.hits, embeddings.reads, embeddings.misses) == (1, 0, 1)


def test_what_was_not_used_for_longest_goes_first() -> None:
    embeddings = cache()
    for prompt in ("a", "b", "a", "c"):
        embeddings.get(prompt, encode)
    embeddings.get("a", never)
    embeddings.get("c", never)
    embeddings.get("b", encode)
    assert (embeddings.hits, embeddings.misses) == (3, 4)


def test_nothing_is_kept_where_nothing_may_be() -> None:
    embeddings = cache(entries=0)
    embeddings.get("a", encode)
    embeddings.get("a", encode)
    assert embeddings.misses == 2


def test_files_are_read_once_and_hold_the_same_bits(tmp_path: Path) -> None:
    embedding = torch.randn(1, 4, 6)
    path = store_embedding(tmp_path / "new", "a", "r1", embedding)
    assert path == embedding_file(tmp_path / "new", "a", "r1")
    assert [file.name for file in (tmp_path / "new").iterdir()] == [path.name]
    embeddings = cache(folder=tmp_path / "new")
    assert torch.equal(embeddings.get("a", never), embedding)
    embeddings.get("a", never)
    assert (embeddings.hits, embeddings.reads, embeddings.misses) == (1, 1, 0)


def test_another_revision_has_other_files(tmp_path: Path) -> None:
    store_embedding(tmp_path, "a", "r2", torch.randn(1, 4, 6))
    embeddings = cache(folder=tmp_path)
    assert embeddings.get("a", encode).shape == (1, 2, 3)
    assert embeddings.misses == 1


def test_numbers_of_another_kind_are_not_used(tmp_path: Path) -> None:
    store_embedding(tmp_path, "a", "r1", torch.randn(1, 4, 6))
    embeddings = cache(folder=tmp_path, dtype=torch.bfloat16)
    embeddings.get("a", encode)
    assert embeddings.misses == 1


def test_a_file_that_was_cut_short_is_not_used(tmp_path: Path) -> None:
    path = store_embedding(tmp_path, "a", "r1", torch.randn(1, 4, 6))
    path.write_bytes(path.read_bytes()[:40])
    embeddings = cache(folder=tmp_path)
    embeddings.get("a", encode)
    assert embeddings.misses == 1


def test_folders_are_checked_at_the_start(tmp_path: Path) -> None:
    cache().check_folder(6)
    with pytest.raises(EngineUnavailable, match="is missing"):
        cache(folder=tmp_path / "none").check_folder(6)
    store_embedding(tmp_path, "a", "r1", torch.randn(1, 4, 6))
    cache(folder=tmp_path).check_folder(6)
    with pytest.raises(EngineUnavailable, match=r"prompt_embeds has the shape \(1, 4, 6\) instead of"):
        cache(folder=tmp_path).check_folder(7)
    save_file({"other": torch.zeros(1)}, tmp_path / "other.safetensors")
    (tmp_path / embedding_file(tmp_path, "a", "r1")).unlink()
    with pytest.raises(EngineUnavailable, match=r"other\.safetensors does not hold the tensor prompt_embeds"):
        cache(folder=tmp_path).check_folder(6)
