"""From colours, matte and pose to labels: who owns each pixel among hair, skin, top, bottom and things carried.

Each has a prior (where on the body it may be) and a colour model (learnt from places where it surely is);
the product is smoothed along the photo's edges and the largest wins. The colour models are then learnt again from the
result. No network for clothes is involved.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Landmark, Mask
from engines.person.body import Body
from engines.person.colour_models import LEAST_SKIN, LOG_UNIFORM, Region, Skin, histogram, likeness, log_density
from engines.person.extents import DEFAULT_WAIST, Extents, limb_end, waist_row
from engines.person.hands import cut_out
from engines.person.hems import over_feet
from engines.person.naming import HAIR, LOWER, SKIN, UPPER, named
from engines.person.networks import Floats
from engines.person.priors import Priors
from engines.person.smoothing import Guide

_COARSE, _FINE = 2, 100.0
"""Colours are learnt from a copy that much smaller, where the shoulders are further apart than so many pixels."""

_FEW = 60
"""Fewer pixels than this teach no colour model."""

_SAME_CLOTH = 0.8
"""Likeness of two histograms above which top and bottom may be one piece."""

_BALD = 1.0
"""Roughness of skin on the crown, in CIELAB units; hair is above."""

_BROWS = -0.8
"""Height of the eyebrows over the chin, in face widths; dark places of the face below them are no hair."""

_BESIDE_MOUTH = -0.3
"""Height over the chin, in face widths, below which what looks like hair may as well be a collar."""

_LIKE_SKIN = -14.5
"""Log density of skin above which a colour may well be skin: some three and a half standard deviations."""

_SKIN_AT_HOME = 0.08
"""Prior of skin above which a patch of it may begin."""

_TOP_AT_HOME, _BOTTOM_AT_HOME = 0.4, 0.1
"""The same of a top and of a bottom: a collar hangs on to a top, a beard and a tattoo do not."""

_CARRIED = 0.5
"""How likely a thing is carried where the pose network sees no person."""

_UNKNOWN = {HAIR: 0.10, UPPER: 0.12, LOWER: 0.12}
"""Share of a material's colours that its seeds do not show."""


@dataclass
class _Evidence:
    """What is looked up again and again for one photo."""

    body: Body
    inside: Region
    lab: Floats
    cells: NDArray[np.intp]
    likely: Floats
    guide: Guide
    priors: Priors
    skin: Floats = field(init=False)

    def likeness_to(self, skin: Skin) -> Floats:
        """``(height, width)`` logarithm of the density of skin, looked up inside the person only."""
        out = np.full(self.inside.shape, LEAST_SKIN, np.float32)
        out[self.inside] = skin.log_density(self.lab[self.inside])
        return out


def parse(lab: Floats, cells: NDArray[np.intp], matte: Floats, likely: Floats, body: Body) -> Mask:
    """``(height, width)`` of `engines.base.Label`.

    Args:
        lab: ``(height, width, 3)`` CIELAB of the working copy.
        cells: Its histogram cells.
        matte: ``(height, width)``, 0 to 1.
        likely: The pose network's own mask, 0 to 1; what the matte holds beyond it may be something carried.
        body: The person's frame of reference in it.
    """
    seen = _evidence(lab, cells, matte, likely, body)
    few = slice(None, None, _COARSE)
    coarse = body.breadth > _FINE and _evidence(
        lab[few, few], cells[few, few], matte[few, few], likely[few, few], body.shrunk(_COARSE)
    )
    shares, skin = _learnt(coarse or seen)
    seen.skin = seen.likeness_to(skin)
    extents = _extents(seen, shares)
    owners = _owners(seen, shares, extents)
    skirted = _closed_between_legs(seen, extents)
    one_piece = skirted and _same_cloth(seen, owners, shares)
    owners, hands = cut_out(owners, lab, body)
    hems = over_feet(owners, cells, shares[LOWER], body)
    return named(owners, hands, hems, body, extents, skirted=skirted, one_piece=one_piece)


def _evidence(lab: Floats, cells: NDArray[np.intp], matte: Floats, likely: Floats, body: Body) -> _Evidence:
    height, width = body.shape
    part = np.s_[:height, :width]  # a shrunk body has no half pixels at its edge
    lab, cells, matte, likely = lab[part], cells[part], matte[part], likely[part]
    grey = np.ascontiguousarray(lab[..., 0] / np.float32(100.0))
    guide = Guide(grey, max(3, round(0.02 * body.breadth)), 1e-3)
    inside = matte > 0.5
    return _Evidence(body, inside, lab, cells, likely, guide, Priors(body, inside))


def _learnt(seen: _Evidence) -> tuple[dict[int, Floats], Skin]:
    """Colour models: first from the places where each material surely is, then from what they find."""
    first = _skin_samples(seen)
    known = Skin(first)
    seen.skin = seen.likeness_to(known)
    shares = _seeded(seen)
    owners = _owners(seen, shares, _extents(seen, shares))
    return _learnt_again(seen, owners, shares), Skin([*first, *_skin_elsewhere(seen, owners, known)])


def _skin_samples(seen: _Evidence) -> list[Floats]:
    """Colours of the face and of both hands."""
    body, inside = seen.body, seen.inside
    height, width = body.shape
    places = []
    if body.face.measured:
        core = body.face.mask(height, width, 0.75) & inside
        places.append(seen.lab[core])
    broad = Skin(places)
    likely = seen.likeness_to(broad) > _LIKE_SKIN
    for limb in body.arms:
        hand = inside & (limb.offset < 0.8) & (limb.position > 2.1) & (limb.position < 2.8) & likely
        if hand.sum() > _FEW and (not body.face.measured or broad.resembles(np.median(seen.lab[hand], axis=0))):
            places.append(seen.lab[hand])
    return places


def _skin_elsewhere(seen: _Evidence, owners: Mask, known: Skin) -> list[Floats]:
    """Colours of neck, arms and legs, darker or lighter than the face, where the first round is sure of skin."""
    body = seen.body
    sure = cv2.erode((owners == SKIN).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    arm, along = body.arm.offset, body.arm.position
    neck = sure & (body.below_chin > 0.05) & (body.height < 0.25) & (body.aside < 0.3)
    places = [neck, sure & (arm < 0.8) & (along > 0.6), sure & (body.height > 1.2)]
    colours = [seen.lab[place] for place in places if place.sum() > _FEW]
    return [colour for colour in colours if known.resembles(np.median(colour, axis=0))]


def _seeded(seen: _Evidence) -> dict[int, Floats]:
    """Colour models from the places where each material surely is."""
    body, inside = seen.body, seen.inside
    like_skin = seen.skin > _LIKE_SKIN
    chest = inside & (body.height > 0.2) & (body.height < 0.6) & (body.aside < 0.42)
    plain = chest & ~like_skin
    top = plain if plain.sum() > 0.25 * chest.sum() else chest & (body.height > 0.35)
    leg, along = body.leg.offset, body.leg.position
    thigh = inside & (leg < 0.8) & (along > 0.15) & (along < 0.7) & (body.arm.offset > 1.0) & (body.height > 1.1)
    plain = thigh & ~like_skin
    bottom = plain if plain.sum() > 0.2 * thigh.sum() else thigh
    return {
        UPPER: histogram(seen.cells, top if top.sum() > _FEW else chest),
        LOWER: histogram(seen.cells, bottom),
        HAIR: histogram(seen.cells, _hair_seed(seen, like_skin)),
    }


def _hair_seed(seen: _Evidence, like_skin: Region) -> Region:
    """What surrounds the face from the eyes upwards; on a bald head only what is no skin.

    Blond and ginger hair has the colour of skin, so colour alone cannot tell it from a bald head: brightness changes
    from lock to lock can.
    """
    body = seen.body
    grown = body.face.mask(*body.shape, scale=1.06)
    crown = seen.inside & ~grown & (body.head < 1.1) & (body.below_chin < -0.75)
    bald = crown.sum() > 0 and (crown & like_skin).sum() > 0.6 * crown.sum() and _roughness(seen, crown) < _BALD
    return crown & ~like_skin if bald else crown


def _roughness(seen: _Evidence, where: Region) -> float:
    """Median change of lightness over a fiftieth of the shoulders' breadth, in CIELAB units."""
    size = 2 * max(1, round(0.02 * seen.body.breadth)) + 1
    lightness = np.ascontiguousarray(seen.lab[..., 0])
    change = np.abs(lightness - cv2.boxFilter(lightness, cv2.CV_32F, (size, size)))
    return float(np.median(change[where]))


def _extents(seen: _Evidence, shares: dict[int, Floats]) -> Extents:
    body = seen.body
    top = log_density(shares[UPPER], seen.cells, _UNKNOWN[UPPER])
    bottom = log_density(shares[LOWER], seen.cells, _UNKNOWN[LOWER])
    away = seen.inside & ((body.aside > 0.45) | (body.height < 0.0))
    sleeves = [limb_end(arm, away, seen.skin - top, longest=2.0, shortest=0.0) for arm in body.arms]
    lower_body = seen.inside & (body.height > 1.05)
    hems = [limb_end(leg, lower_body, seen.skin - bottom, longest=2.0, shortest=0.1) for leg in body.legs]
    waist = waist_row(body, seen.inside & (seen.skin < -13.0), bottom - top)
    return Extents((sleeves[0], sleeves[1]), (hems[0], hems[1]), waist or DEFAULT_WAIST)


def _owners(seen: _Evidence, shares: dict[int, Floats], extents: Extents) -> Mask:
    """``(height, width)``: 0 ground, else `HAIR`, `SKIN`, `UPPER`, `LOWER` or `OTHER`."""
    chance = seen.priors.given(extents)
    logs = np.empty((5, *seen.inside.shape), np.float32)
    logs[4] = np.log(_CARRIED * (1.0 - seen.likely) + 1e-5) + LOG_UNIFORM
    for row, kind in enumerate((HAIR, SKIN, UPPER, LOWER)):
        colour = seen.skin if kind == SKIN else log_density(shares[kind], seen.cells, _UNKNOWN[kind])
        logs[row] = np.log(chance[kind] + 1e-5) + colour
    logs -= logs.max(axis=0)
    weights = np.exp(logs, out=logs)
    weights /= weights.sum(axis=0)
    smooth = np.empty_like(weights)
    for row in range(4):
        smooth[row] = seen.guide.smooth(weights[row])
    smooth[4] = 1.0 - smooth[:4].sum(axis=0)  # the filter is linear and leaves a constant as it is
    winner = _likeliest(smooth)
    winner[(winner == HAIR) & seen.body.face.mask(*seen.body.shape, 0.97) & (seen.body.below_chin > _BROWS)] = SKIN
    forearm = (seen.body.arm.offset < 1.5) & (seen.body.arm.position < 1.9)  # trousers show between fingers, not here
    shod = (seen.body.leg.position > 1.0) & (seen.body.leg.offset < 2.5)  # socks and shoes begin as a bottom
    homes = {
        UPPER: chance[UPPER] > _TOP_AT_HOME,
        LOWER: ((chance[LOWER] > _BOTTOM_AT_HOME) & ~forearm) | shod,
        HAIR: (seen.body.below_chin < _BESIDE_MOUTH) & (seen.body.head < 1.3),
        SKIN: chance[SKIN] > _SKIN_AT_HOME,
    }
    for kind, home in homes.items():
        stray = _away_from((winner == kind) & seen.inside, home)
        smooth[kind - 1][stray] = -1.0
        winner[stray] = smooth[:, stray].argmax(axis=0) + 1
    winner[~seen.inside] = 0
    return winner


def _likeliest(planes: Floats) -> Mask:
    """One more than the row of the largest plane at every pixel; numpy's argmax takes five times as long."""
    best = planes[0].copy()
    winner = np.ones(best.shape, np.uint8)
    for row in range(1, len(planes)):
        winner[planes[row] > best] = row + 1
        np.maximum(best, planes[row], out=best)
    return winner


def _away_from(found: Region, home: Region) -> Region:
    """Parts that nowhere reach the place they belong to: hair on a dark collar, cloth on a tattoo, a beard of cloth."""
    _, parts = cv2.connectedComponents(found.astype(np.uint8), connectivity=4)
    at_home = np.zeros(int(parts.max()) + 1, bool)
    at_home[parts[found & home]] = True
    return np.asarray(found & ~at_home[parts], dtype=np.bool_)


def _learnt_again(seen: _Evidence, owners: Mask, before: dict[int, Floats]) -> dict[int, Floats]:
    after = dict(before)
    for kind in (HAIR, UPPER, LOWER):
        sure = cv2.erode((owners == kind).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
        if kind == HAIR:
            sure &= seen.body.below_chin < _BESIDE_MOUTH
        if sure.sum() > _FEW:
            after[kind] = (0.5 * before[kind] + 0.5 * histogram(seen.cells, sure)).astype(np.float32)
    return after


def _same_cloth(seen: _Evidence, owners: Mask, shares: dict[int, Floats]) -> bool:
    """Whether top and bottom show the same colours; false when too little of the bottom is seen."""
    bottom = seen.inside & (seen.body.height > 1.1) & (owners == LOWER)
    return bool(bottom.sum() >= _FEW) and likeness(shares[UPPER], shares[LOWER]) >= _SAME_CLOTH


def _closed_between_legs(seen: _Evidence, extents: Extents) -> bool:
    """Whether cloth fills the place between the thighs, as a skirt or a dress does."""
    points = seen.body.landmarks[:, :2]
    knees = (points[Landmark.LEFT_KNEE] + points[Landmark.RIGHT_KNEE]) / 2
    hem = min(max(extents.hems), 1.0)
    line = [seen.body.hips + share * (knees - seen.body.hips) for share in np.linspace(0.35, max(hem - 0.1, 0.4), 12)]
    height, width = seen.inside.shape
    hits = [seen.inside[int(y), int(x)] for x, y in line if 0 <= int(y) < height and 0 <= int(x) < width]
    return len(hits) >= 3 and float(np.mean(hits)) > 0.8
