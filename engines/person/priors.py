"""How likely each material is at each place of the body, before any colour is looked at."""

from __future__ import annotations

import numpy as np

from engines.person.body import Body, NearerLimb
from engines.person.colour_models import Region
from engines.person.extents import Extents
from engines.person.naming import HAIR, LOWER, SKIN, UPPER
from engines.person.networks import Floats, sigmoid

_NECK_HALF = 0.36
"""Half width of the neck in face widths, without its edges, beside which hair hangs."""

_BARE_NECK = 0.62
"""Half width of a neck with nothing beside it, at most, in face widths."""

_MOUTH = -0.3
"""Height of the mouth over the chin, in face widths."""

_NO_HAIR = 0.98
"""By how much hair is less likely where none hangs; colour still has a say."""


class Priors:
    """What the body's shape alone says; asked again whenever the ends of the clothes are better known."""

    def __init__(self, body: Body, inside: Region) -> None:
        self._body = body
        self._not_face = 1 - body.face.mask(*body.shape).astype(np.float32)
        self._on_arm = sigmoid((1.05 - body.arm.offset) * 8)
        self._on_leg = sigmoid((1.1 - body.leg.offset) * 8)
        self._torso = sigmoid((body.height + 0.12) * 30) * sigmoid((0.75 - body.aside) * 12)
        self._neck = _neck(body)
        self._hair = _hair(body) * (0.1 + 0.9 * self._not_face)
        self._hair[_beside_bare_neck(body, inside)] *= 1 - _NO_HAIR
        self._arm_skin = 0.9 * self._on_arm * sigmoid((body.height + 0.05) * 20)
        self._skin = np.maximum.reduce(
            [
                0.02 * sigmoid((body.height + 0.3) * 20),
                0.97 * (1 - self._not_face),
                0.4 * _ears(body),
                0.8 * self._neck,
                0.5 * _neckline(body),
                0.10 * sigmoid((body.height - 0.55) * 18) * sigmoid((1.0 - body.height) * 18),  # a bare midriff
            ]
        )
        # Where an open jacket hangs, and where a bottom may be.
        self._flanks = 0.15 * sigmoid((body.aside - 0.3) * 12) * sigmoid((1.35 - body.height) * 12)
        self._bottom = np.maximum(sigmoid((0.62 - body.aside) * 12), self._on_leg) * self._not_face

    def given(self, extents: Extents) -> dict[int, Floats]:
        """Four ``(height, width)`` maps, 0 to 1, not summing to one."""
        body = self._body
        sleeved = _before(body.arm, extents.sleeves)
        covered = _before(body.leg, extents.hems)
        below_waist = sigmoid((body.height - extents.waist) * 22)
        skin = np.maximum.reduce([self._skin, self._arm_skin * (1 - sleeved), 0.9 * self._on_leg * (1 - covered)])
        cloth = [
            self._torso * (1 - below_waist),
            self._on_arm * sleeved,
            self._flanks * below_waist,
            0.2 * self._neck,  # a collar
        ]
        upper = np.maximum.reduce(cloth) * self._not_face
        lower = self._bottom * below_waist * (0.05 + 0.95 * covered)
        return {HAIR: self._hair, SKIN: skin, UPPER: upper, LOWER: lower}


def _hair(body: Body) -> Floats:
    """Around the head surely, hanging down to the chest perhaps, never in front of chin and throat."""
    around = sigmoid((1.1 - body.head) * 7) * sigmoid((0.1 - body.below_chin) * 8)
    hanging = 0.25 * sigmoid((1.9 - body.head) * 5) * sigmoid((0.45 - body.height) * 12)
    return np.asarray(np.maximum(around, hanging) * (1 - _NO_HAIR * _throat(body)), dtype=np.float32)


def _throat(body: Body) -> Floats:
    """Below the jaw, on the way to the shoulders: what is dark here lies in the head's shadow."""
    return sigmoid((body.below_chin + 0.25) * 20) * sigmoid((_NECK_HALF - body.throat) * 25)


def _beside_bare_neck(body: Body, inside: Region) -> Region:
    """Where the outline comes so near to the neck's middle that no hair hangs in between, however dark it is there."""
    top, bottom = body.face.oval.mean(axis=0), body.shoulders
    rows = np.arange(body.shape[0], dtype=np.float32)
    middle = np.interp(rows, [top[1], bottom[1]], [top[0], bottom[0]])[:, None]
    off = (np.arange(body.shape[1], dtype=np.float32)[None] - middle) / np.float32(body.face.width)
    near = np.where(inside & (np.abs(off) < 2 * _BARE_NECK), off, np.float32(0.0))
    bare = (near.min(axis=1) > -_BARE_NECK)[:, None], (near.max(axis=1) < _BARE_NECK)[:, None]
    return np.asarray(np.where(off < 0, *bare) & (body.below_chin > _MOUTH), dtype=np.bool_)


def _ears(body: Body) -> Floats:
    """Beside the face between eyes and chin."""
    beside = body.face.mask(*body.shape, scale=1.2).astype(np.float32)
    return beside * sigmoid((body.below_chin + 0.85) * 12)


def _neck(body: Body) -> Floats:
    beside = sigmoid((body.below_chin + 0.15) * 20) * sigmoid((0.32 - body.aside) * 20)
    return np.asarray(np.maximum(beside, _throat(body)) * sigmoid((0.02 - body.height) * 25), dtype=np.float32)


def _neckline(body: Body) -> Floats:
    below = np.maximum(body.height, 0.0)
    return np.asarray(np.exp(-((below / 0.22) ** 2) - (body.aside / 0.28) ** 2), dtype=np.float32)


def _before(limb: NearerLimb, ends: tuple[float, float]) -> Floats:
    """1 where the nearer limb is still covered, 0 past its end."""
    end = np.where(limb.second, np.float32(ends[1]), np.float32(ends[0]))
    return sigmoid((end - limb.position) * 14)
