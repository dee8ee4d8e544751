"""Drafts in memory, and renders that are interrupted."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from torch import nn

from engines.base import Picture
from engines.generative.painter import Painter, PaintRequest
from engines.pace import Step


class KeptDrafts:
    """`engines.base.Drafts` in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def load(self, name: str) -> bytes | None:
        return self.kept.get(name)

    def save(self, name: str, data: bytes) -> None:
        self.kept[name] = data


def painted_from(painter: Painter, request: PaintRequest, drafts: KeptDrafts | None) -> tuple[Picture, list[int]]:
    """The picture, and the numbers of the steps that were drawn for it."""
    told: list[str] = []
    picture = painter.paint(replace(request, drafts=drafts), told.append, lambda: False)
    return picture, [stage.number for stage in told if isinstance(stage, Step)]


def interrupt(painter: Painter, network: nn.Module, request: PaintRequest, drafts: KeptDrafts, number: int) -> None:
    """Paint until the network is asked for this step, from 1; then fail."""
    calls = itertools.count(1)

    def fail(*_given: object) -> None:
        if next(calls) == number:
            raise RuntimeError("interrupted")

    hook = network.register_forward_pre_hook(fail)
    try:
        with pytest.raises(RuntimeError, match="interrupted"):
            painter.paint(replace(request, drafts=drafts), lambda _stage: None, lambda: False)
    finally:
        hook.remove()


def check_that_it_goes_on(
    painter: Painter, network: nn.Module, another: Painter, request: PaintRequest, steps: int
) -> None:
    """A second attempt, by another painter, draws the steps that are left, and the same picture to the last bit."""
    every = list(range(1, steps + 1))
    whole, drawn = painted_from(painter, request, None)
    assert drawn == every
    drafts = KeptDrafts()
    interrupt(painter, network, request, drafts, number=3)
    (name,) = drafts.kept
    draft = drafts.kept[name]
    again, drawn = painted_from(another, request, drafts)
    assert drawn == every[2:]
    assert (again == whole).all()
    # What is not this picture's, or not whole, is not taken up.
    drafts.kept[name] = draft
    assert painted_from(painter, replace(request, seed=request.seed + 1), drafts)[1] == every
    drafts.kept[name] = draft[:100]
    again, drawn = painted_from(painter, request, drafts)
    assert drawn == every
    assert (again == whole).all()


def check_that_quick_steps_are_not_kept(painter: Painter, request: PaintRequest) -> None:
    """Keeping them would take longer than drawing."""
    drafts = KeptDrafts()
    painted_from(painter, request, drafts)
    assert drafts.kept == {}
