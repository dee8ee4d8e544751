"""Cuts garments out in a second thread while the person is analysed; neither needs the other."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from types import TracebackType
from typing import Self

from engines.base import Garment, OnStep, ShouldStop
from engines.garment.cloth import Cloth
from engines.garment.lifting import Lifter
from engines.stages import Stages
from engines.warp.hints import photo_to_lay


class LiftedAhead:
    """Cuts the garments of one render out: the first from the beginning, each other one while that before it is draped.

    Only one is cut out at a time and none sooner, or they would take the memory that laying the plate needs. Errors are
    raised when the garment is asked for, so a person who cannot be dressed is refused first, as without a thread.

    Args:
        lifter: Cuts out.
        garments: In the order in which they are put on.
        stages: Of the render, whose own thread alone announces stages.
        threads: How many threads the render may use; with one, garments are cut out when they are asked for.
    """

    def __init__(self, lifter: Lifter, garments: Sequence[Garment], stages: Stages, threads: int) -> None:
        self._lifter, self._garments, self._stages = lifter, garments, stages
        self._given_up = threading.Event()
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="cut-out") if threads > 1 else None
        self._begun: Future[Cloth] | None = None

    def __enter__(self) -> Self:
        self._begin(0)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Nothing of a render outlives it."""
        self._given_up.set()
        if self._beside is not None:
            self._beside.shutdown(cancel_futures=True)

    def take(self, number: int) -> Cloth:
        """The garment of that number, from 0; garments are taken in their order.

        Raises:
            EngineError: ``garment_not_recognised``.
            RenderStopped: ``should_stop`` said so.
        """
        if self._begun is None:
            return self._lift(number, self._stages.on_step, self._stages.should_stop)
        cloth = self._begun.result()
        self._begin(number + 1)
        return cloth

    def _begin(self, number: int) -> None:
        if self._beside is not None and number < len(self._garments):
            should_stop = self._stages.should_stop
            self._begun = self._beside.submit(
                copy_context().run,
                self._lift,
                number,
                lambda _step: None,
                lambda: self._given_up.is_set() or should_stop(),
            )

    def _lift(self, number: int, on_step: OnStep, should_stop: ShouldStop) -> Cloth:
        garment = self._garments[number]
        return self._lifter.lift(photo_to_lay(garment), garment.category, on_step, should_stop)
