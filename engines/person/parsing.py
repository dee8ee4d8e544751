"""From colours, matte and pose to labels: who owns each pixel among hair, skin, top, bottom and things carried.

Each has a prior (where on the body it may be) and a colour model (learnt from places where it surely is);
the product is smoothed along the photo's edges and the largest wins. The colour models are then learnt again from the
result. No network for clothes is involved.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, Mask
from engines.person.body import Body
from engines.person.colour_models import LOG_UNIFORM, Region, Skin, histogram, likeness, log_density
from engines.person.evidence import FEW, Evidence, evidence_of
from engines.person.extents import Extents, limb_end
from engines.person.hands import cut_out, thighs_beside
from engines.person.hems import over_feet
from engines.person.naming import HAIR, LOWER, SKIN, UPPER, named, prints_like_skin
from engines.person.networks import Floats
from engines.person.seeds import seeded, skin_elsewhere, skin_samples
from engines.person.skirts import closed_between_legs, skirt_hem
from engines.person.waistline import BELOW_PHOTO, DEFAULT_WAIST, ends_early, waist_row

_COARSE, _FINE = 2, 100.0
"""Colours are learnt from a copy that much smaller, where the shoulders are further apart than so many pixels."""

_SAME_CLOTH = 0.8
"""Likeness of two histograms above which top and bottom may be one piece."""

_BROWS = -0.8
"""Height of the eyebrows over the chin, in face widths; dark places of the face below them are no hair."""

_BESIDE_MOUTH = -0.3
"""Height over the chin, in face widths, below which what looks like hair may as well be a collar."""

_MAYBE_SKIN = -13.0
"""Log density of skin above which a colour has no say in where the top ends."""

_HEM_SAY = np.float32(1.0)
"""By how much, in natural logarithms, the outline of a skirt speaks for bare legs below it and against them above."""

_SKIN_AT_HOME = 0.08
"""Prior of skin above which a patch of it may begin."""

_TOP_AT_HOME, _BOTTOM_AT_HOME = 0.4, 0.1
"""The same of a top and of a bottom: a collar hangs on to a top, a beard and a tattoo do not."""

_CARRIED = 0.5
"""How likely a thing is carried where the pose network sees no person."""

_UNKNOWN = {HAIR: 0.10, UPPER: 0.12, LOWER: 0.12}
"""Share of a material's colours that its seeds do not show."""


def parse(lab: Floats, cells: NDArray[np.intp], matte: Floats, likely: Floats, body: Body) -> Mask:
    """``(height, width)`` of `engines.base.Label`.

    Args:
        lab: ``(height, width, 3)`` CIELAB of the working copy.
        cells: Its histogram cells.
        matte: ``(height, width)``, 0 to 1.
        likely: The pose network's own mask, 0 to 1; what the matte holds beyond it may be something carried.
        body: The person's frame of reference in it.
    """
    seen = evidence_of(lab, cells, matte, likely, body)
    few = slice(None, None, _COARSE)
    coarse = body.breadth > _FINE and evidence_of(
        lab[few, few], cells[few, few], matte[few, few], likely[few, few], body.shrunk(_COARSE)
    )
    shares, skin, waist = _learnt(coarse or seen)
    seen.skin = seen.likeness_to(skin)
    extents = _extents(seen, shares, waist)
    owners = _owners(seen, shares, extents)
    skirted = closed_between_legs(seen, extents)
    one_piece = skirted and _same_cloth(seen, owners, shares)
    if one_piece and ends_early(body):  # a long top, for all that can be seen
        owners[owners == LOWER], one_piece = UPPER, False
    owners, hands = cut_out(owners, lab, body)
    hems = over_feet(owners, cells, shares[LOWER], seen.skin, body)
    labels = named(owners, hands, hems, body, extents, skirted=skirted, one_piece=one_piece)
    labels[thighs_beside(labels, lab, body)] = Label.LEGS
    return labels


def _learnt(seen: Evidence) -> tuple[dict[int, Floats], Skin, float]:
    """Colour models, first from the places where each material surely is, then from what they find; and the waist."""
    first = skin_samples(seen)
    known = Skin(first)
    seen.skin = seen.likeness_to(known)
    found = waist_row(seen.body, seen.lab, seen.inside, seen.skin > _MAYBE_SKIN)
    shares = seeded(seen, found)
    waist = found or (BELOW_PHOTO if ends_early(seen.body) else DEFAULT_WAIST)
    owners = _owners(seen, shares, _extents(seen, shares, waist))
    # A top with prints like skin has that colour elsewhere too, where it goes on to the neck.
    owners[prints_like_skin(owners, seen.body)] = UPPER
    return _learnt_again(seen, owners, shares), Skin([*first, *skin_elsewhere(seen, owners, known)]), waist


def _extents(seen: Evidence, shares: dict[int, Floats], waist: float) -> Extents:
    body = seen.body
    top = log_density(shares[UPPER], seen.cells, _UNKNOWN[UPPER])
    bottom = log_density(shares[LOWER], seen.cells, _UNKNOWN[LOWER])
    away = seen.inside & ((body.aside > 0.45) | (body.height < 0.0))
    sleeves = [limb_end(arm, away, seen.skin - top, longest=2.0, shortest=0.0) for arm in body.arms]
    lower_body = seen.inside & (body.height > 1.05)
    bare = seen.skin - bottom
    hem = skirt_hem(seen, waist)
    if hem is not None:
        bare += np.where(body.leg.position > hem, _HEM_SAY, -_HEM_SAY)
    hems = [limb_end(leg, lower_body, bare, longest=2.0, shortest=0.1) for leg in body.legs]
    if hem is not None:
        hems = [max(hems)] * 2  # a skirt has one
    return Extents((sleeves[0], sleeves[1]), (hems[0], hems[1]), waist)


def _owners(seen: Evidence, shares: dict[int, Floats], extents: Extents) -> Mask:
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


def _learnt_again(seen: Evidence, owners: Mask, before: dict[int, Floats]) -> dict[int, Floats]:
    after = dict(before)
    for kind in (HAIR, UPPER, LOWER):
        sure = cv2.erode((owners == kind).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
        if kind == HAIR:
            sure &= seen.body.below_chin < _BESIDE_MOUTH
        if sure.sum() > FEW:
            after[kind] = (0.5 * before[kind] + 0.5 * histogram(seen.cells, sure)).astype(np.float32)
    return after


def _same_cloth(seen: Evidence, owners: Mask, shares: dict[int, Floats]) -> bool:
    """Whether top and bottom show the same colours; false when too little of the bottom is seen."""
    bottom = seen.inside & (seen.body.height > 1.1) & (owners == LOWER)
    return bool(bottom.sum() >= FEW) and likeness(shares[UPPER], shares[LOWER]) >= _SAME_CLOTH
