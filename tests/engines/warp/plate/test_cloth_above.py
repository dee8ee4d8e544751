"""Trousers under an old hem: their fly goes on, what is mirrored does not, and its shadow goes."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.plate.waistband import UpperEnd, upper_end
from tests.engines.mannequin import draw_mannequin

HEM = 1.02


def dressed(shadow: float = 0.0) -> tuple[NDArray[np.float32], BodyModel, NDArray[np.bool_], UpperEnd]:
    """Grey trousers with a dark fly under a long top, and their end; ``shadow`` is that of its hem."""
    mannequin = draw_mannequin(1024, 768)
    body = measure_body(mannequin.person_map)
    body = replace(body, waist=replace(body.waist, height=HEM, bend=(0.0, 0.0), bare_midriff=False))
    seen = (body.heights > HEM) & (np.abs(body.laterals) < 0.5)
    body.labels[seen] = Label.LOWER
    body.labels[(body.heights <= HEM) & (body.heights > 0.5) & (np.abs(body.laterals) < 0.5)] = Label.UPPER
    below = (body.heights - HEM) * body.torso_length / body.shoulder_width
    light = 0.5 * (1.0 - shadow * np.exp(-((np.maximum(below, 0.0) / 0.04) ** 2)))
    light = np.where(np.abs(body.laterals) < 0.012, 0.8 * light, light)
    photo = np.repeat(light[..., None], 3, axis=2).astype(np.float32)
    # Something across that would come back mirrored.
    photo[(below > 0.12) & (below < 0.15) & (body.laterals > 0.2)] = 0.2
    end = upper_end(body, seen)
    assert end is not None
    assert end.hidden == 1.0
    return photo, body, seen, end


def at(picture: NDArray[np.float32], body: BodyModel, height: float, lateral: float) -> float:
    x, y = body.point(height, lateral * body.shoulder_width).round().astype(int)
    return float(picture[y, x].mean())
