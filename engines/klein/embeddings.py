"""Prompt embeddings, kept in memory and in files, so that the text encoder is needed once per prompt.

The prompts come from a closed vocabulary (`engines.klein.prompt`), so the same ones come again and again. An embedding
of the full-size encoder takes 7.5 MiB: 512 tokens of 7680 values of two bytes. Files may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from engines.base import EngineUnavailable
from engines.weights.header import read_header

TENSOR = "prompt_embeds"
"""Name of the one tensor in a file."""


def embedding_file(folder: Path, prompt: str, revision: str) -> Path:
    """Where the embedding of a prompt lies; another revision of the weights has other embeddings."""
    digest = hashlib.sha256(f"{revision}\n{prompt}".encode()).hexdigest()
    return folder / f"{digest}.safetensors"


def store_embedding(folder: Path, prompt: str, revision: str, embedding: torch.Tensor) -> Path:
    """Write an embedding for the `EmbeddingCache` of this process or another; readers never see half a file.

    Args:
        folder: Made where it is missing.
        prompt: The words.
        revision: Of the weights that made it.
        embedding: ``(1, tokens, values)``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = embedding_file(folder, prompt, revision)
    # Processes may share the folder and write the same embedding at once.
    unfinished = path.with_suffix(f".{uuid.uuid4().hex}.part")
    try:
        save_file({TENSOR: embedding.detach().cpu().contiguous()}, unfinished, {"prompt": prompt, "revision": revision})
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


class EmbeddingCache:
    """Embeddings by prompt; the least recently used one is dropped first.

    Args:
        max_entries: How many are kept in memory; with 0 none.
        revision: Of the weights, part of the names of the files.
        dtype: What an embedding in a file has to be; another one would draw another picture.
        folder: Files of `store_embedding`; looked at before anything is encoded, and what was encoded goes there.
        pinned: Whether they are kept in memory from which a GPU copies without waiting.

    Attributes:
        hits: Prompts that were found in memory.
        reads: Prompts that were found in the folder.
        misses: Prompts that had to be encoded.
    """

    def __init__(
        self, max_entries: int, *, revision: str, dtype: torch.dtype, folder: Path | None = None, pinned: bool = False
    ) -> None:
        self._max_entries, self._revision, self._dtype = max_entries, revision, dtype
        self._folder, self._pinned = folder, pinned
        self._embeddings: OrderedDict[str, torch.Tensor] = OrderedDict()
        self._lock = threading.Lock()
        self.hits = self.reads = self.misses = 0

    def find(self, prompt: str) -> torch.Tensor | None:
        """The embedding of a prompt, on the CPU, where it is in memory or in the folder."""
        with self._lock:
            found = self._embeddings.get(prompt)
            if found is not None:
                self._embeddings.move_to_end(prompt)
                self.hits += 1
                return found
        stored = self._read(prompt)
        if stored is None:
            return None
        with self._lock:
            self.reads += 1
            return self._remember(prompt, stored)

    def keep(self, prompt: str, embedding: torch.Tensor) -> torch.Tensor:
        """Keep what a prompt was encoded to, in memory and in the folder.

        Args:
            prompt: The words.
            embedding: ``(1, tokens, values)``.

        Returns:
            The same on the CPU, as `find` gives it.
        """
        embedding = embedding.cpu()
        if self._folder is not None:
            # A full disk costs time at the next start, but no picture.
            with suppress(OSError, SafetensorError):
                store_embedding(self._folder, prompt, self._revision, embedding)
        with self._lock:
            self.misses += 1
            return self._remember(prompt, embedding)

    def check_folder(self, width: int) -> None:
        """See that the folder is there, or make it, and that its files are embeddings of this network.

        Args:
            width: Values per token.

        Raises:
            EngineUnavailable: The folder cannot be made, or a file is not a readable embedding of this width.
        """
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EngineUnavailable(
                f"The folder of prompt embeddings {self._folder} cannot be made: {error}."
            ) from None
        for path in sorted(self._folder.glob("*.safetensors")):
            entry = read_header(path).get(TENSOR)
            if entry is None:
                raise EngineUnavailable(f"{path} does not hold the tensor {TENSOR}.")
            if len(entry.shape) != 3 or entry.shape[0] != 1 or entry.shape[2] != width:
                raise EngineUnavailable(
                    f"{path}: {TENSOR} has the shape {entry.shape} instead of (1, tokens, {width})."
                )

    def _remember(self, prompt: str, embedding: torch.Tensor) -> torch.Tensor:
        if self._pinned:
            embedding = embedding.pin_memory()
        if self._max_entries > 0:
            self._embeddings[prompt] = embedding
        while len(self._embeddings) > self._max_entries:
            self._embeddings.popitem(last=False)
        return embedding

    def _read(self, prompt: str) -> torch.Tensor | None:
        """From the folder; None where it is not there or was made for numbers of another kind."""
        path = embedding_file(self._folder, prompt, self._revision) if self._folder else None
        if path is None or not path.is_file():
            return None
        try:
            with safe_open(path, framework="pt") as file:
                embedding: torch.Tensor = file.get_tensor(TENSOR)
        except (SafetensorError, OSError):
            return None
        return embedding if embedding.dtype == self._dtype else None
