"""What is laid and what it is laid on: drawn garments read, and a mannequin measured."""

from __future__ import annotations

from engines.garment.upper_landmarks import UpperLandmarks, find_upper_landmarks
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.drape.torso import TorsoLoft, fit_garment
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import cut
from tests.engines.mannequin import draw_mannequin


def marks_of(kind: str) -> UpperLandmarks:
    return find_upper_landmarks(cut(draw_garment(kind).picture))


def loft_of(marks: UpperLandmarks, body: BodyModel) -> TorsoLoft:
    return TorsoLoft(marks, body, fit_garment(marks, body))


def body_with(arms: str = "down", sleeves: str = "none") -> BodyModel:
    return measure_body(draw_mannequin(960, 760, arms=arms, sleeves=sleeves).person_map)
