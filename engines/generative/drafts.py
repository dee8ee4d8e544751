"""Unfinished pictures: kept at each step where steps are slow, and taken up again by a render that begins anew."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from engines.base import Drafts

WORTH_KEEPING_SECONDS = 3.0
"""A step that takes less is drawn again; keeping the picture would take nearly as long."""

_PICTURE, _DONE = "picture", "steps_done"


class Draft:
    """One unfinished picture.

    It is named by everything that it is drawn from, so that what is taken up is what would be drawn: another photo,
    seed or precision finds nothing. torch's version is part of it, since another one rounds otherwise.

    Args:
        drafts: Keeps it.
        drawn_from: Pixels, words and numbers.
    """

    def __init__(self, drafts: Drafts, drawn_from: Iterable[bytes | str | float]) -> None:
        digest = hashlib.sha256(torch.__version__.encode())
        for part in drawn_from:
            data = part if isinstance(part, bytes) else repr(part).encode()
            digest.update(len(data).to_bytes(8))  # so that two parts are never one
            digest.update(data)
        self._drafts, self._name = drafts, f"{digest.hexdigest()}.safetensors"

    def taken_up(self) -> tuple[int, Tensor] | None:
        """How many steps were done, and the picture after them, on the CPU; None where nothing whole was kept."""
        data = self._drafts.load(self._name)
        if data is None:
            return None
        try:
            kept = load(data)
            return int(kept[_DONE]), kept[_PICTURE]
        except (SafetensorError, KeyError):
            return None

    def keep(self, done: int, picture: Tensor) -> None:
        """Keep the picture after so many steps, in place of what was kept before."""
        tensors = {_PICTURE: picture.detach().cpu().contiguous(), _DONE: torch.tensor(done)}
        self._drafts.save(self._name, save(tensors))
