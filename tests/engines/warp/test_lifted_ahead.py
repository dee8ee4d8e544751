from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.base import (
    Category,
    EngineError,
    Garment,
    OnStep,
    PersonMap,
    Picture,
    RenderRequest,
    ShouldStop,
)
from engines.warp.engine import WarpEngine
from tests.engines.hanging_drawings import photographed, trousers
from tests.engines.mannequin import Mannequin, draw_mannequin, turned_sideways
from tests.engines.warp.test_engine import garment

BLANK = Garment(np.full((300, 300, 3), 250, np.uint8), Category.UPPER_BODY)


class Listener:
    """A segmenter that sees nobody, and remembers where it was asked."""

    def __init__(self) -> None:
        self.asked_in: list[threading.Thread] = []

    def setup(self) -> None:
        """There is nothing to load."""

    def segment_wearer(self, picture: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap | None:
        self.asked_in.append(threading.current_thread())
        return None

    def landmarks_of(self, picture: Picture) -> NDArray[np.float32]:
        raise NotImplementedError

    def segment(self, photo: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap:
        raise NotImplementedError


def render(threads: int, mannequin: Mannequin, *garments: Garment) -> Picture:
    request = RenderRequest(mannequin.photo, mannequin.person_map, garments)
    return WarpEngine(threads).render(request, lambda _step: None, lambda: False).picture


def test_pictures_are_the_same_with_one_thread_and_with_two() -> None:
    worn = (garment(), Garment(photographed(trousers()), Category.LOWER_BODY))
    one, two = (render(threads, draw_mannequin(), *worn) for threads in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("threads", [1, 2])
def test_somebody_who_cannot_be_dressed_is_refused_before_the_garment(threads: int) -> None:
    with pytest.raises(EngineError) as error:
        render(threads, turned_sideways(draw_mannequin()), BLANK)
    assert error.value.code == "pose_not_usable"


@pytest.mark.parametrize("worn", [(BLANK,), (garment(), BLANK)], ids=["first", "second"])
def test_a_garment_that_is_none_is_refused(worn: tuple[Garment, ...]) -> None:
    with pytest.raises(EngineError) as error:
        render(2, draw_mannequin(), *worn)
    assert error.value.code == "garment_not_recognised"


@pytest.mark.parametrize(("threads", "apart"), [(1, False), (2, True)])
def test_garments_are_cut_out_beside_the_render_where_it_may_use_two_threads(threads: int, *, apart: bool) -> None:
    listener, mannequin = Listener(), draw_mannequin()
    request = RenderRequest(mannequin.photo, mannequin.person_map, [garment(), garment("long sleeve")])
    WarpEngine(threads, segmenter=listener).render(request, lambda _step: None, lambda: False)
    assert [thread is not threading.current_thread() for thread in listener.asked_in] == [apart, apart]


def test_stages_are_announced_by_the_thread_that_renders_and_no_other_outlives_it() -> None:
    mannequin = draw_mannequin()
    before, announcing = set(threading.enumerate()), set()
    request = RenderRequest(mannequin.photo, mannequin.person_map, [garment()])
    WarpEngine(2).render(request, lambda _step: announcing.add(threading.current_thread()), lambda: False)
    assert announcing == {threading.current_thread()}
    assert set(threading.enumerate()) == before
