from __future__ import annotations

import threading

import numpy as np
import torch

from engines.base import Picture
from engines.klein.latents import LatentCache, content_hash
from tests.engines.klein.tiny import noise

BYTES = 400


def encode(picture: Picture) -> torch.Tensor:
    return torch.full((1, 1, 10, 10), float(picture.flat[0]))


def never(_picture: Picture) -> torch.Tensor:
    raise AssertionError


def test_the_same_pixels_give_the_same_tensor() -> None:
    cache = LatentCache(BYTES)
    first = cache.get(noise(4, 4, 1), encode)
    assert cache.get(noise(4, 4, 1), never) is first
    assert (cache.hits, cache.misses, cache.size_bytes) == (1, 1, BYTES)


def test_one_pixel_more_is_another_picture() -> None:
    picture = noise(4, 6, 1)
    other = picture.copy()
    other[3, 5, 2] ^= 1
    hashes = {content_hash(picture), content_hash(other), content_hash(picture.reshape(6, 4, 3))}
    assert len(hashes) == 3
    assert content_hash(np.ascontiguousarray(picture[::-1])[::-1]) == content_hash(picture)


def test_what_was_not_used_for_longest_goes_first() -> None:
    cache = LatentCache(2 * BYTES)
    one, two, three = (noise(4, 4, seed) for seed in range(3))
    cache.get(one, encode)
    cache.get(two, encode)
    cache.get(one, never)
    cache.get(three, encode)
    assert cache.size_bytes == 2 * BYTES
    cache.get(one, never)
    cache.get(three, never)
    cache.get(two, encode)
    assert (cache.hits, cache.misses) == (3, 4)


def test_nothing_is_kept_beyond_the_bound() -> None:
    cache = LatentCache(BYTES - 1)
    cache.get(noise(4, 4, 1), encode)
    assert cache.size_bytes == 0


def test_two_threads_that_miss_at_once_keep_one() -> None:
    cache, both = LatentCache(10 * BYTES), threading.Barrier(2)

    def slowly(picture: Picture) -> torch.Tensor:
        both.wait(5)
        return encode(picture)

    threads = [threading.Thread(target=cache.get, args=(noise(4, 4, 1), slowly), daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (cache.misses, cache.size_bytes) == (2, BYTES)


def test_clearing_keeps_the_counts() -> None:
    cache = LatentCache(BYTES)
    cache.get(noise(4, 4, 1), encode)
    cache.clear()
    assert (cache.misses, cache.size_bytes) == (1, 0)
