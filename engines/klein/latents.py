"""The VAE's latents of garment pictures, kept for the next customer who tries on the same garment."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable

import torch

from engines.base import Picture


def content_hash(picture: Picture) -> str:
    """SHA-256 of a picture's size and pixels."""
    digest = hashlib.sha256(repr(picture.shape).encode())
    digest.update(picture.tobytes())
    return digest.hexdigest()


class LatentCache:
    """Latents by the content of the prepared picture; the least recently used ones are dropped first.

    The VAE is asked for the mean of its distribution, so the same pixels give the same bits and a cached latent is as
    good as a new one. The tensors stay where the VAE made them: a garment at half a megapixel takes half a megabyte.

    Args:
        max_bytes: What all tensors together may take; with 0 nothing is kept.

    Attributes:
        hits: Pictures that were found.
        misses: Pictures that had to be encoded.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._latents: OrderedDict[str, torch.Tensor] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self.hits = self.misses = 0

    @property
    def size_bytes(self) -> int:
        """Bytes that the tensors take now."""
        return self._bytes

    def get(self, picture: Picture, encode: Callable[[Picture], torch.Tensor]) -> torch.Tensor:
        """The latents of a picture.

        Args:
            picture: As the network is shown it, ``(h, w, 3)``.
            encode: Called when they are not there; not under the cache's lock, for it takes a while.
        """
        key = content_hash(picture)
        with self._lock:
            found = self._latents.get(key)
            if found is not None:
                self._latents.move_to_end(key)
                self.hits += 1
                return found
            self.misses += 1
        latents = encode(picture)
        with self._lock:
            self._keep(key, latents)
        return latents

    def clear(self) -> None:
        """Forget everything but the counts."""
        with self._lock:
            self._latents.clear()
            self._bytes = 0

    def _keep(self, key: str, latents: torch.Tensor) -> None:
        if key in self._latents or latents.nbytes > self._max_bytes:
            return
        self._latents[key] = latents
        self._bytes += latents.nbytes
        while self._bytes > self._max_bytes:
            self._bytes -= self._latents.popitem(last=False)[1].nbytes
