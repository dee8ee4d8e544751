from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import (
    Category,
    EngineError,
    Garment,
    Hints,
    Label,
    Landmark,
    PersonMap,
    RenderRequest,
    RenderResult,
    RenderStopped,
)
from engines.garment_kinds import GarmentKind
from engines.warp.body.model import measure_body
from engines.warp.engine import WarpEngine
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import photographed, trousers
from tests.engines.mannequin import Mannequin, draw_mannequin, turned_sideways

GREEN = (30, 150, 60)


def garment(kind: str = "t-shirt", *, hints: Hints | None = None, colour: tuple[int, int, int] = GREEN) -> Garment:
    return Garment(draw_garment(kind, colour=colour).picture, Category.UPPER_BODY, hints or Hints())


def render(mannequin: Mannequin, garments: Sequence[Garment], seed: int = 0) -> RenderResult:
    engine = WarpEngine()
    engine.setup()
    request = RenderRequest(mannequin.photo, mannequin.person_map, garments, seed)
    return engine.render(request, lambda _: None, lambda: False)


def enlarged(mannequin: Mannequin, factor: int) -> Mannequin:
    photo = cv2.resize(mannequin.photo, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
    before = mannequin.person_map
    labels = cv2.resize(before.labels, None, fx=factor, fy=factor, interpolation=cv2.INTER_NEAREST)
    matte = cv2.resize(before.matte, None, fx=factor, fy=factor, interpolation=cv2.INTER_LINEAR)
    scale = np.array([factor, factor, factor, 1], np.float32)
    return Mannequin(photo, PersonMap(labels, matte, before.landmarks * scale, before.score))


def test_garment_is_worn_on_the_torso() -> None:
    mannequin = draw_mannequin()
    picture = render(mannequin, [garment()]).picture
    x, y = ((mannequin.point(Landmark.LEFT_SHOULDER) + mannequin.point(Landmark.RIGHT_HIP)) / 2).astype(int)
    assert np.abs(picture[y, x].astype(int) - GREEN).max() < 40


def test_pixels_away_from_the_person_are_untouched() -> None:
    mannequin = draw_mannequin()
    picture = render(mannequin, [garment()]).picture
    body = measure_body(mannequin.person_map)
    face = cv2.erode((mannequin.person_map.labels == Label.FACE).astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    far = (body.heights > 1.6) | (np.abs(body.laterals) > 1.4) | face
    assert picture.shape == mannequin.photo.shape
    assert picture.dtype == np.uint8
    assert np.array_equal(picture[far], mannequin.photo[far])


def test_large_photo_keeps_its_size_and_its_untouched_pixels() -> None:
    mannequin = enlarged(draw_mannequin(), 3)
    picture = render(mannequin, [garment()]).picture
    far = measure_body(mannequin.person_map).heights > 1.6
    assert picture.shape == mannequin.photo.shape
    assert np.array_equal(picture[far], mannequin.photo[far])
    assert not np.array_equal(picture, mannequin.photo)


def test_same_seed_same_picture() -> None:
    mannequin = draw_mannequin()
    first, second = (render(mannequin, [garment("long sleeve")], seed=7).picture for _ in range(2))
    assert np.array_equal(first, second)


def test_old_garment_is_gone() -> None:
    mannequin = draw_mannequin(top=(250, 0, 200))
    picture = render(mannequin, [garment("long sleeve")]).picture.astype(int)
    left_over = (np.abs(picture - (250, 0, 200)).max(axis=2) < 60).sum()
    assert left_over < 0.01 * (mannequin.person_map.labels == Label.UPPER).sum()


def test_second_top_is_worn_over_the_first() -> None:
    mannequin = draw_mannequin()
    picture = render(mannequin, [garment("long sleeve", colour=(200, 40, 40)), garment("t-shirt")]).picture
    x, y = ((mannequin.point(Landmark.LEFT_SHOULDER) + mannequin.point(Landmark.RIGHT_HIP)) / 2).astype(int)
    assert np.abs(picture[y, x].astype(int) - GREEN).max() < 40
    body = measure_body(mannequin.person_map)
    x, y = body.arms[1].points(np.array([0.8], np.float32))[0].astype(int)
    assert np.abs(picture[y, x].astype(int) - (200, 40, 40)).max() < 60


def test_an_open_top_shows_the_one_under_it_and_covers_its_sides() -> None:
    mannequin = draw_mannequin(top=(200, 40, 40))
    result = render(mannequin, [garment("long sleeve", hints=Hints(garment_state="open"))])
    body = measure_body(mannequin.person_map)
    x, y = body.point(0.6).astype(int)
    assert np.array_equal(result.picture[y, x], mannequin.photo[y, x])
    x, y = body.point(0.6, 0.32 * body.shoulder_width).astype(int)
    assert np.abs(result.picture[y, x].astype(int) - GREEN).max() < 60
    assert result.hints_applied == ["garment_state"]


def test_every_given_hint_is_answered_once() -> None:
    hints = Hints(
        kind=GarmentKind.T_SHIRT,
        size="M",
        customer_size="L",
        garment_state="closed",
        tuck_state="tucked",
        view_angle="back",
    )
    result = render(draw_mannequin(), [garment(hints=hints)])
    assert set(result.hints_applied) == {"tuck_state"}
    assert set(result.hints_not_applied) == {"kind", "size", "customer_size", "garment_state", "view_angle"}
    assert all(reason.endswith(".") for reason in result.hints_not_applied.values())


@pytest.mark.parametrize("state", ["tucked", "untucked"])
def test_tucking_trousers_is_ignored_and_said_so(state: str) -> None:
    picture = photographed(trousers())
    plain, tucked = (
        render(draw_mannequin(), [Garment(picture, Category.LOWER_BODY, hints)])
        for hints in (Hints(), Hints(tuck_state=state))
    )
    assert np.array_equal(plain.picture, tucked.picture)
    assert set(tucked.hints_not_applied) == {"tuck_state"}


def test_a_tucked_top_shows_the_waistband_of_the_trousers_put_on_after_it() -> None:
    bottoms = Garment(photographed(trousers()), Category.LOWER_BODY)
    mannequin = draw_mannequin()
    x, y = measure_body(mannequin.person_map).point(0.86).astype(int)
    result = render(mannequin, [garment(hints=Hints(tuck_state="tucked")), bottoms])
    blue = (51, 76, 178)
    assert np.abs(result.picture[y, x].astype(int) - blue).max() < 60
    assert result.hints_applied == ["tuck_state"]


def test_stages_are_announced_and_timed() -> None:
    steps: list[str] = []
    mannequin = draw_mannequin()
    request = RenderRequest(mannequin.photo, mannequin.person_map, [garment()])
    result = WarpEngine().render(request, steps.append, lambda: False)
    assert steps == list(result.timings_ms)
    assert {"garment_symmetry", "chest_cover", "changed_share"} <= set(result.checks)


@pytest.mark.parametrize("stage", ["body", "plate", "paste"])
def test_stops_between_stages(stage: str) -> None:
    steps: list[str] = []
    mannequin = draw_mannequin()
    request = RenderRequest(mannequin.photo, mannequin.person_map, [garment()])
    previous = {"body": "prepare", "plate": "drape", "paste": "composite"}[stage]
    with pytest.raises(RenderStopped):
        WarpEngine().render(request, steps.append, lambda: bool(steps) and steps[-1] == previous)
    assert stage not in steps


def test_person_from_the_side_is_refused() -> None:
    with pytest.raises(EngineError) as error:
        render(turned_sideways(draw_mannequin()), [garment()])
    assert error.value.code == "pose_not_usable"
    assert error.value.garment is None


def test_blank_garment_photo_is_refused() -> None:
    blank = Garment(np.full((300, 300, 3), 250, np.uint8), Category.UPPER_BODY)
    with pytest.raises(EngineError) as error:
        render(draw_mannequin(), [garment(), blank])
    assert error.value.code == "garment_not_recognised"
    assert error.value.garment is blank


def test_a_person_seen_from_behind_wears_the_back() -> None:
    front, back = garment("t-shirt"), garment("t-shirt", colour=(200, 40, 40))
    asked = replace(front, hints=Hints(view_angle="back"), back_picture=back.picture)
    mannequin = draw_mannequin()
    result = render(mannequin, [asked])
    x, y = ((mannequin.point(Landmark.LEFT_SHOULDER) + mannequin.point(Landmark.RIGHT_HIP)) / 2).astype(int)
    assert np.abs(result.picture[y, x].astype(int) - (200, 40, 40)).max() < 60
    assert set(result.hints_applied) == {"view_angle", "back_picture"}
