"""The body of `drawn_body` with skin, hair and clothes painted on, as far as parsing goes: colours and a silhouette."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Landmark, Mask
from engines.person.body import Body
from engines.person.colour_models import cells_of
from engines.person.parsing import parse
from tests.engines.person.drawn_body import HEIGHT, STANDING, WIDTH, drawn_body

Colour = tuple[float, float, float]
SKIN, DARK, WALL = (62.0, 18.0, 22.0), (15.0, 3.0, 4.0), (97.0, 0.0, 0.0)
NOISE = 1.0
"""Standard deviation of all colours, in CIELAB units."""

ARMS = [
    (Landmark.LEFT_SHOULDER, Landmark.LEFT_ELBOW, Landmark.LEFT_WRIST, Landmark.LEFT_INDEX),
    (Landmark.RIGHT_SHOULDER, Landmark.RIGHT_ELBOW, Landmark.RIGHT_WRIST, Landmark.RIGHT_INDEX),
]
LEGS = [
    (Landmark.LEFT_HIP, Landmark.LEFT_KNEE, Landmark.LEFT_ANKLE, Landmark.LEFT_FOOT_INDEX),
    (Landmark.RIGHT_HIP, Landmark.RIGHT_KNEE, Landmark.RIGHT_ANKLE, Landmark.RIGHT_FOOT_INDEX),
]
TORSO = np.array([(106, 116), (194, 116), (186, 264), (114, 264)])


@dataclass
class PaintedBody:
    """Bare until something is put on.

    Attributes:
        lab: ``(height, width, 3)`` CIELAB.
        silhouette: ``(height, width)`` bool, who is in front of the wall.
    """

    lab: NDArray[np.float32] = field(default_factory=lambda: np.full((HEIGHT, WIDTH, 3), WALL, np.float32))
    silhouette: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((HEIGHT, WIDTH), np.bool_))
    body: Body = field(default_factory=drawn_body)

    def __post_init__(self) -> None:
        for chain, thickness in [*((chain, 20) for chain in ARMS), *((chain, 36) for chain in LEGS)]:
            self.put_on(SKIN, *(self._bone(*ends, thickness) for ends in _pairs(chain)))
        self.put_on(SKIN, self._polygon(TORSO), self._polygon(np.array([(138, 90), (162, 90), (170, 120), (130, 120)])))
        self.put_on(DARK, self._polygon(self.body.face.oval * 1.25 + (-37.5, -22)))
        self.put_on(SKIN, self._polygon(self.body.face.oval))

    def put_on(self, colour: Colour, *places: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Paint places, which belong to the person from now on, and give them back."""
        place = np.logical_or.reduce(places)
        self.lab[place] = colour
        self.silhouette |= place
        return place

    def torso(self, top: int = 0, bottom: int = HEIGHT) -> NDArray[np.bool_]:
        """``(height, width)`` bool: the torso between two rows."""
        place = self._polygon(TORSO)
        place[:top] = place[bottom:] = False
        return place

    def skirt(self, waist: int, hem: int) -> NDArray[np.bool_]:
        """``(height, width)`` bool: flared cloth between two rows."""
        return self._polygon(np.array([(114, waist), (186, waist), (214, hem), (86, hem)]))

    def trousers(self) -> NDArray[np.bool_]:
        """``(height, width)`` bool: from the waist to the ankles."""
        legs = [self._bone(*ends, 44) for chain in LEGS for ends in list(_pairs(chain))[:2]]
        place = np.logical_or.reduce([*legs, self.torso(225)])
        place[:225] = False
        return place

    def labels(self, until: int = HEIGHT) -> Mask:
        """What parsing makes of it, or of its part above a row."""
        noise = np.random.default_rng(0).normal(0, NOISE, self.lab.shape)
        lab = (self.lab + noise).astype(np.float32)[:until]
        matte = self.silhouette.astype(np.float32)[:until]
        return parse(lab, cells_of(lab), matte, matte, self.body.cropped(0, 0, WIDTH, until))

    def _bone(self, start: Landmark, end: Landmark, thickness: int) -> NDArray[np.bool_]:
        canvas = np.zeros((HEIGHT, WIDTH), np.uint8)
        ends = [tuple(int(value) for value in STANDING[joint]) for joint in (start, end)]
        return cv2.line(canvas, ends[0], ends[1], 1, thickness) > 0

    def _polygon(self, points: NDArray[np.float64] | NDArray[np.float32] | NDArray[np.int_]) -> NDArray[np.bool_]:
        return cv2.fillPoly(np.zeros((HEIGHT, WIDTH), np.uint8), [np.rint(points).astype(np.int32)], 1) > 0


def _pairs(chain: tuple[Landmark, ...]) -> Iterator[tuple[Landmark, Landmark]]:
    return pairwise(chain)
