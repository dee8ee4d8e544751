"""Where every pixel lies on the body: along the spine, along the arms, along the legs, around the head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from engines.base import Landmark
from engines.person.face import Face
from engines.person.networks import Floats

_SHOULDERS = (Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER)
_HIPS = (Landmark.LEFT_HIP, Landmark.RIGHT_HIP)

_KNEES = (Landmark.LEFT_KNEE, Landmark.RIGHT_KNEE)

_ARM_RADII = (0.22, 0.17, 0.13, 0.15)
"""Half thickness of shoulder, elbow, wrist and finger tips, sleeves included, in shoulder widths."""

_LEG_RADII = (0.34, 0.24, 0.17, 0.17)
"""Half thickness of hip, knee, ankle and toes, in shoulder widths."""

_STRAY = 1.5
"""How far ordinary cloth lies from the bones of a limb, on `Limb.offset`."""


@dataclass(frozen=True)
class Limb:
    """A chain of joints, or at every pixel the nearer one of two.

    Attributes:
        offset: ``(height, width)`` distance from the chain over the limb's half thickness: below 1 is inside.
        position: ``(height, width)`` place along the chain: 0 first joint, 1 second, 2 third, 3 end of hand or foot.
    """

    offset: Floats
    position: Floats


@dataclass(frozen=True)
class Body:
    """The frame of reference of one person in one photo.

    Attributes:
        landmarks: ``(33, 4)`` in pixels of the working photo.
        face: The face's outline.
        shape: Height and width of the working photo.
    """

    landmarks: Floats
    face: Face
    shape: tuple[int, int]

    def cropped(self, left: int, top: int, width: int, height: int) -> Body:
        """The same body in a part of the photo."""
        landmarks = self.landmarks.copy()
        landmarks[:, :2] -= (left, top)
        return Body(landmarks, self.face.moved(-left, -top), (height, width))

    def shrunk(self, factor: int) -> Body:
        """The same body in a copy of the photo that is ``factor`` times smaller."""
        half = 0.5  # of a pixel: coordinates are those of pixel centres
        landmarks = self.landmarks.copy()
        landmarks[:, :2] += half
        landmarks[:, :3] /= factor
        landmarks[:, :2] -= half
        face = self.face.moved(half, half).shrunk(factor).moved(-half, -half)
        height, width = self.shape
        return Body(landmarks, face, (max(height // factor, 1), max(width // factor, 1)))

    @cached_property
    def shoulders(self) -> Floats:
        """``(2,)`` middle between the shoulder joints."""
        return self._middle(_SHOULDERS)

    @cached_property
    def hips(self) -> Floats:
        """``(2,)`` middle between the hip joints."""
        return self._middle(_HIPS)

    @cached_property
    def knees(self) -> Floats:
        """``(2,)`` middle between the knees."""
        return self._middle(_KNEES)

    @cached_property
    def spine(self) -> float:
        """Length from shoulders to hips in pixels."""
        return max(float(np.linalg.norm(self.hips - self.shoulders)), 4.0)

    @cached_property
    def breadth(self) -> float:
        """Distance of the shoulder joints in pixels; half the spine at least, for people seen from the side."""
        apart = self.landmarks[_SHOULDERS[0], :2] - self.landmarks[_SHOULDERS[1], :2]
        return max(float(np.linalg.norm(apart)), 0.5 * self.spine)

    @cached_property
    def height(self) -> Floats:
        """``(height, width)``: 0 at the shoulders, 1 at the hips, negative above."""
        down = (self.hips - self.shoulders) / self.spine
        rows, columns = self._grid
        along = ((columns - self.shoulders[0]) * down[0] + (rows - self.shoulders[1]) * down[1]) / self.spine
        return np.asarray(along, dtype=np.float32)

    @cached_property
    def aside(self) -> Floats:
        """``(height, width)``: distance from the spine in shoulder widths, unsigned."""
        down = (self.hips - self.shoulders) / self.spine
        rows, columns = self._grid
        away = (columns - self.shoulders[0]) * down[1] - (rows - self.shoulders[1]) * down[0]
        return np.asarray(np.abs(away) / self.breadth, dtype=np.float32)

    @cached_property
    def head(self) -> Floats:
        """``(height, width)``: distance from the middle of the head in face widths."""
        middle = self.face.oval.mean(axis=0)
        rows, columns = self._grid
        squared = (columns - middle[0]) ** 2 + (rows - middle[1]) ** 2
        return np.asarray(np.sqrt(squared) / self.face.width, dtype=np.float32)

    @cached_property
    def below_chin(self) -> Floats:
        """``(height, width)``: rows below the chin in face widths, negative above."""
        rows = np.broadcast_to(self._grid[0], self.shape)
        return np.asarray((rows - self.face.chin[1]) / self.face.width, dtype=np.float32)

    @cached_property
    def arms(self) -> tuple[Limb, Limb]:
        """Left and right, from the shoulder to the finger tips."""
        return self._arm(0), self._arm(1)

    @cached_property
    def legs(self) -> tuple[Limb, Limb]:
        """Left and right, from the hip to the toes."""
        return self._leg(0), self._leg(1)

    @cached_property
    def arm(self) -> Limb:
        """The nearer arm at every pixel."""
        return _nearer(*self.arms)

    @cached_property
    def leg(self) -> Limb:
        """The nearer leg at every pixel."""
        return _nearer(*self.legs)

    @cached_property
    def reach(self) -> Floats:
        """``(height, width)``: below 1 where a body in ordinary clothes may be, growing with distance from it."""
        outside = np.maximum(np.abs(self.height - 0.6) / 0.72, self.aside / 0.75)
        limbs = [limb.offset / _STRAY for limb in self.arms]
        limbs += [leg.offset / self._stray(side) for side, leg in enumerate(self.legs)]
        return np.asarray(np.minimum.reduce([outside, self.head / 1.4, *limbs]), dtype=np.float32)

    def _stray(self, side: int) -> float:
        """How far cloth may lie from a leg's bones, on `Limb.offset`; a knee beyond the photo's edge is a guess."""
        hip, knee = self.landmarks[[_HIPS[side], _KNEES[side]], 1]
        return 2 * _STRAY if hip < self.shape[0] <= knee else _STRAY

    def _arm(self, side: int) -> Limb:
        points = self.landmarks[:, :2]
        shoulder, elbow, wrist = (points[joint + side] for joint in (11, 13, 15))
        knuckles = (points[17 + side] + points[19 + side]) / 2
        chain = [shoulder, elbow, wrist, wrist + 1.7 * (knuckles - wrist)]
        return self._limb(chain, _ARM_RADII)

    def _leg(self, side: int) -> Limb:
        points = self.landmarks[:, :2]
        chain = [points[joint + side] for joint in (23, 25, 27, 31)]
        return self._limb(chain, _LEG_RADII)

    def _limb(self, chain: list[Floats], radii: tuple[float, ...]) -> Limb:
        offset = np.full(self.shape, np.inf, np.float32)
        position = np.zeros(self.shape, np.float32)
        for part, (start, end) in enumerate(pairwise(chain)):
            relative, along = self._along(start, end)
            thickness = (radii[part + 1] - radii[part]) * along
            thickness += radii[part]
            thickness *= self.breadth
            relative /= thickness
            nearer = relative < offset
            np.copyto(offset, relative, where=nearer)
            along += part
            np.copyto(position, along, where=nearer)
        return Limb(offset, position)

    def _along(self, start: Floats, end: Floats) -> tuple[Floats, Floats]:
        """Distance of every pixel from a line, and where its nearest point lies, 0 to 1."""
        rows, columns = self._grid
        step = end - start
        along = (columns - start[0]) * step[0] + (rows - start[1]) * step[1]
        along /= max(float(step @ step), 1e-3)
        np.clip(along, 0.0, 1.0, out=along)
        across, down = columns - start[0] - along * step[0], rows - start[1] - along * step[1]
        across *= across
        down *= down
        across += down
        return np.sqrt(across, out=across), along  # numpy's hypot takes five times as long

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        rows = np.arange(self.shape[0], dtype=np.float32)[:, None]
        columns = np.arange(self.shape[1], dtype=np.float32)[None, :]
        return rows, columns

    def _middle(self, pair: tuple[int, int]) -> Floats:
        return np.asarray(self.landmarks[list(pair), :2].mean(axis=0), dtype=np.float32)


def _nearer(one: Limb, other: Limb) -> Limb:
    second = other.offset < one.offset
    return Limb(
        np.where(second, other.offset, one.offset),
        np.where(second, other.position, one.position),
    )
