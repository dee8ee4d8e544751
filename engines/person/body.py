"""Where every pixel lies on the body: along the spine, along the arms, along the legs, around the head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import cv2
import numpy as np

from engines.base import Landmark
from engines.person.finding import Face
from engines.person.networks import Floats
from engines.settling import Region

_ARM_RADII = (0.22, 0.17, 0.13, 0.15)
"""Half thickness of shoulder, elbow, wrist and finger tips, sleeves included, in shoulder widths."""

_LEG_RADII = (0.34, 0.24, 0.17, 0.17)
"""Half thickness of hip, knee, ankle and toes, in shoulder widths."""

_STRAY = 1.5
"""How far ordinary cloth lies from the bones of a limb, on `Limb.offset`."""


@dataclass(frozen=True)
class Limb:
    """Two chains of joints, left and right; at every pixel the nearer one counts.

    Attributes:
        offset: ``(height, width)`` distance from the chain over the limb's half thickness: below 1 is inside.
        position: ``(height, width)`` place along the chain: 0 first joint, 1 second, 2 third, 3 end of hand or foot.
    """

    offset: Floats
    position: Floats


@dataclass(frozen=True)
class Body:
    """The frame of reference of one person in a box of the photo, or in a coarser copy of that box.

    Attributes:
        landmarks: ``(33, 4)`` in pixels of the photo.
        face: The face, likewise.
        box: Left, top, width and height of the box.
        step: Pixels of the photo from one pixel of the maps below to the next.
    """

    landmarks: Floats
    face: Face
    box: tuple[int, int, int, int]
    step: int = 1

    @cached_property
    def shoulders(self) -> Floats:
        """``(2,)`` middle between the shoulder joints."""
        return self._middle(Landmark.LEFT_SHOULDER)

    @cached_property
    def hips(self) -> Floats:
        """``(2,)`` middle between the hip joints."""
        return self._middle(Landmark.LEFT_HIP)

    @cached_property
    def shows_knees(self) -> bool:
        """Whether the box ends below the knees."""
        return bool(self._middle(Landmark.LEFT_KNEE)[1] < self.box[1] + self.box[3])

    @cached_property
    def spine(self) -> float:
        """Length from shoulders to hips in pixels."""
        return max(float(np.linalg.norm(self.hips - self.shoulders)), 4.0)

    @cached_property
    def breadth(self) -> float:
        """Distance of the shoulder joints in pixels; half the spine at least, for people seen from the side."""
        left, right = self.landmarks[[Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER], :2]
        return max(float(np.linalg.norm(left - right)), 0.5 * self.spine)

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
    def on_face(self) -> Region:
        """``(height, width)``: the inside of the face's outline; in a box that is not coarser than the photo."""
        canvas = np.zeros((self.box[3], self.box[2]), np.uint8)
        cv2.fillPoly(canvas, [np.round(self.face.oval - np.array(self.box[:2])).astype(np.int32)], 1)
        return canvas.astype(bool)

    @cached_property
    def above_chin(self) -> Region:
        """``(height, 1)``: the rows that lie above the chin."""
        return np.asarray(self._grid[0] < self.face.chin[1])

    @cached_property
    def arm(self) -> Limb:
        """From the shoulder to the finger tips."""
        chains = []
        for side in range(2):
            joints = [Landmark.LEFT_SHOULDER, Landmark.LEFT_ELBOW, Landmark.LEFT_WRIST]
            chain = [self.landmarks[joint + side, :2] for joint in joints]
            knuckles = self.landmarks[[Landmark.LEFT_PINKY + side, Landmark.LEFT_INDEX + side], :2].mean(axis=0)
            chains.append([*chain, chain[-1] + 1.7 * (knuckles - chain[-1])])
        return self._limb(chains, _ARM_RADII)

    @cached_property
    def leg(self) -> Limb:
        """From the hip to the toes."""
        joints = [Landmark.LEFT_HIP, Landmark.LEFT_KNEE, Landmark.LEFT_ANKLE, Landmark.LEFT_FOOT_INDEX]
        return self._limb([[self.landmarks[joint + side, :2] for joint in joints] for side in range(2)], _LEG_RADII)

    @cached_property
    def reach(self) -> Floats:
        """``(height, width)``: below 1 where a body in ordinary clothes may be, growing with distance from it."""
        torso = np.maximum(np.abs(self.height - 0.6) / 0.72, self.aside / 0.75)
        # A knee beyond the photo's edge is a guess, and cloth may lie twice as far from that leg.
        guessed = self.hips[1] < self.box[1] + self.box[3] and not self.shows_knees
        leg = self.leg.offset / (2 * _STRAY if guessed else _STRAY)
        return np.asarray(np.minimum.reduce([torso, self.head / 1.4, self.arm.offset / _STRAY, leg]), dtype=np.float32)

    def _limb(self, chains: list[list[Floats]], radii: tuple[float, ...]) -> Limb:
        rows, columns = self._grid
        offset = np.full((len(rows), columns.shape[1]), np.inf, np.float32)
        position = np.zeros_like(offset)
        for chain in chains:
            for part, (start, end) in enumerate(pairwise(chain)):
                bone = end - start
                along = (columns - start[0]) * bone[0] + (rows - start[1]) * bone[1]
                along /= max(float(bone @ bone), 1e-3)
                np.clip(along, 0.0, 1.0, out=along)  # 0 at the start, 1 at the end
                across, down = columns - start[0] - along * bone[0], rows - start[1] - along * bone[1]
                across *= across
                down *= down
                across += down
                relative = np.sqrt(across, out=across)  # numpy's hypot takes five times as long
                thickness = (radii[part + 1] - radii[part]) * along
                thickness += radii[part]
                thickness *= self.breadth
                relative /= thickness
                nearer = relative < offset
                np.copyto(offset, relative, where=nearer)
                along += part
                np.copyto(position, along, where=nearer)
        return Limb(offset, position)

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        """``(height, 1)`` rows and ``(1, width)`` columns of the photo, at the middle of the maps' pixels."""
        left, top, width, height = self.box
        first = (self.step - 1) / 2
        rows = np.arange(max(height // self.step, 1), dtype=np.float32)[:, None] * self.step + (top + first)
        columns = np.arange(max(width // self.step, 1), dtype=np.float32)[None, :] * self.step + (left + first)
        return rows, columns

    def _middle(self, left: Landmark) -> Floats:
        return np.asarray(self.landmarks[[left, left + 1], :2].mean(axis=0), dtype=np.float32)
