"""Decoder processes that outlive a test: nearly every one would start some of its own, a tenth of a second each."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any

import pytest

from imaging.decoder_pool import DecoderPool


class SharedDecoders:
    """The idle processes of all pools that allow a picture as much and belong to the same thread, under one roof."""

    def __init__(self) -> None:
        self._idle: defaultdict[tuple[int, int, int], list[Any]] = defaultdict(list)

    def share(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Pools that are made from now on take from here, and leave here what they have when they are closed."""
        make, close = DecoderPool.__init__, DecoderPool.close

        def sharing(pool: DecoderPool, *args: Any, **kwargs: Any) -> None:
            make(pool, *args, **kwargs)
            pool._idle = self._idle[pool._cpu_seconds, pool._memory_bytes, threading.get_ident()]

        async def closed(pool: DecoderPool) -> None:
            pool._idle = []
            await close(pool)

        monkeypatch.setattr(DecoderPool, "__init__", sharing)
        monkeypatch.setattr(DecoderPool, "close", closed)
