"""Skirts hang; on a lap they would not, and nobody is shown one there."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import EngineError, Landmark
from engines.garment_kinds import GarmentKind
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.drape.full import drape_full
from engines.warp.drape.hang import is_seated
from engines.warp.drape.lower import drape_lower
from tests.engines.hanging_drawings import dress, skirt, trousers
from tests.engines.mannequin import draw_mannequin


def with_knee(way: tuple[float, float], seen: float = 0.99) -> BodyModel:
    """Somebody whose right knee lies this way from the hip, in shoulder widths."""
    person = draw_mannequin(512, 384).person_map
    unit = measure_body(person).shoulder_width
    landmarks = person.landmarks.copy()
    knee = landmarks[Landmark.RIGHT_HIP, :2] + unit * np.array(way)
    landmarks[Landmark.RIGHT_KNEE, :2] = knee
    landmarks[Landmark.RIGHT_ANKLE, :2] = knee + unit * np.array([0.0, 1.2])
    landmarks[Landmark.RIGHT_KNEE, 3] = seen
    return measure_body(replace(person, landmarks=landmarks))


@pytest.mark.parametrize("way", [(-1.1, 0.1), (-0.2, 0.4), (-0.4, 0.3)])
def test_no_skirt_on_somebody_who_sits(way: tuple[float, float]) -> None:
    body = with_knee(way)
    for drape in (lambda: drape_lower(skirt(), body), lambda: drape_full(dress(), body)):
        with pytest.raises(EngineError, match="standing upright") as refused:
            drape()
        assert refused.value.code == "pose_not_usable"


def test_legs_may_sit() -> None:
    body = with_knee((-1.1, 0.1))
    assert drape_lower(trousers(), body).checks["legs"] == 1.0
    assert drape_full(dress(legs=True), body, GarmentKind.JUMPSUIT).checks["legs"] == 1.0


@pytest.mark.parametrize("way", [(0.0, 1.4), (-0.7, 1.2), (0.5, 1.3)])
def test_a_step_is_no_seat(way: tuple[float, float]) -> None:
    assert not is_seated(with_knee(way))


def test_knees_out_of_the_frame_say_nothing() -> None:
    assert not is_seated(with_knee((-0.4, 0.1), seen=0.2))
