"""From the parser's probabilities to labels: settled at the photo's edges, then named by their place on the body."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, Mask
from engines.person.body import Body
from engines.person.finding import Person
from engines.person.networks import Floats
from engines.person.parser import Chances, Thing
from engines.settling import LOG_UNIFORM, Guide, Region, histogram, log_density

_HOSE = Label.LEGS
"""The label of tights and socks until they are told apart; skin is not told apart yet either."""

MATERIALS = {
    Label.HAIR: (Thing.HAIR,),
    Label.TORSO_SKIN: (Thing.SKIN,),
    Label.UPPER: (Thing.TOP, Thing.OUTERWEAR),
    Label.LOWER: (Thing.TROUSERS, Thing.SKIRT),
    Label.FULL: (Thing.DRESS,),
    _HOSE: (Thing.HOSE,),
    Label.FEET: (Thing.SHOES,),
    Label.OTHER: (Thing.BAG, Thing.HAT),
}
"""The materials that are told apart by looks. Skin is named afterwards; glasses, belts and watches join the material
under them."""

_SMALLEST, _SMALLEST_CARRIED = 0.05, 0.25
"""Side of the smallest patch that counts, and of the smallest that is a carried thing and not a badge, in shoulder
widths."""

_GARMENTS = (Label.UPPER, Label.LOWER, Label.FULL)

_HIPS = 0.9
"""Height, 0 at the shoulders and 1 at the hips, below which a supposed dress that is not one becomes a bottom."""

_KNEE_HIGH = 0.8
"""Place along the leg, 0 at the hip and 1 at the knee, below which socks end; tights go on."""

_MARGIN = 8
"""Margin around the person, pixels, that is parsed too, so that smoothing does not reach the edge."""

_SURE = 0.8
"""Chance above which a pixel teaches the colours of its material."""

_FEW = 60
"""Fewer pixels than this teach no colours."""

_UNKNOWN = 0.1
"""Share of a material's colours that its sure pixels do not show."""

_COLOUR_SAY = 3.0
"""Largest weight of colours for one material and against another, in natural logarithms. Colours settle where an edge
runs, and cases that the network was not trained on: a bare midriff. On the judges of training/parser 3.0 is better than
0 and 1.5 for every class."""


def parse(person: Person, chances: Chances, lab: Floats, cells: NDArray[np.intp], matte: Floats) -> Mask:
    """``(height, width)`` of `engines.base.Label`; only the box around the person is looked at.

    Args:
        person: In the working copy.
        chances: What the parser says of it.
        lab: ``(height, width, 3)`` CIELAB.
        cells: Its histogram cells.
        matte: ``(height, width)``, 0 to 1, from `engines.person.matte`.
    """
    height, width = matte.shape
    labels = np.full(matte.shape, Label.BACKGROUND, np.uint8)
    left, top, across, down = cv2.boundingRect((matte > 0).astype(np.uint8))
    if not across:
        return labels
    left, top = max(left - _MARGIN, 0), max(top - _MARGIN, 0)
    across, down = min(across + 2 * _MARGIN, width - left), min(down + 2 * _MARGIN, height - top)
    part = np.s_[top : top + down, left : left + across]
    body = Body(person.landmarks, person.face, (left, top, across, down))
    inside = matte[part] > 0.5
    planes = _materials(chances, inside, body)
    said = _colours(planes, cells[part], inside)
    planes /= np.maximum(planes.sum(axis=0), 1e-6)
    planes += np.float32(1e-3)
    np.log(planes, out=planes)
    planes += said
    planes -= planes.max(axis=0)
    np.exp(planes, out=planes)
    planes /= planes.sum(axis=0)
    grey = np.ascontiguousarray(lab[part][..., 0] / np.float32(100.0))
    guide = Guide(grey, max(3, round(0.02 * body.breadth)), 1e-3)
    for plane in planes:
        plane[:] = guide.smooth(plane)
    names = np.array(list(MATERIALS), np.uint8)
    found = np.where(inside, names[planes.argmax(axis=0)], np.uint8(Label.BACKGROUND))
    _name_hose_and_skin(found, body)
    _settle_crumbs(found, inside, body)
    labels[part] = found
    return labels


def enlarged_labels(labels: Mask, height: int, width: int) -> Mask:
    """Labels at ``(height, width)`` with smooth borders: each pixel takes the label with the largest smooth share."""
    if labels.shape == (height, width):
        return labels
    best = np.zeros((height, width), np.uint8)
    winner = np.zeros((height, width), np.uint8)
    for label in Label:
        where = (labels == label).astype(np.uint8) * np.uint8(255)
        if where.any():
            share = cv2.resize(where, (width, height), interpolation=cv2.INTER_CUBIC)
            np.copyto(winner, np.uint8(label), where=share > best)
            np.maximum(best, share, out=best)
    return winner


def _materials(chances: Chances, inside: Region, body: Body) -> Floats:
    """``(len(MATERIALS), height, width)`` chances in a box, with what the whole photo says of dresses.

    Either top and skirt are one piece, or nothing is. Where the knees are not in the photo, a dress is a long top for
    all that can be seen.
    """
    planes = np.stack(
        [np.sum([chances.of(thing, *body.box) for thing in things], axis=0) for things in MATERIALS.values()]
    )
    upper, lower, full = (list(MATERIALS).index(label) for label in (Label.UPPER, Label.LOWER, Label.FULL))
    top, skirt, dress = (chances.of(thing, *body.box) for thing in (Thing.TOP, Thing.SKIRT, Thing.DRESS))
    if body.shows_knees and float(dress[inside].sum()) > float(top[inside].sum()) + float(skirt[inside].sum()):
        planes[full] += top + skirt
        planes[upper] -= top
        planes[lower] -= skirt
    else:
        above = body.height < _HIPS
        planes[upper] += dress * above
        planes[lower] += dress * ~above
        planes[full] = 0.0
    return np.asarray(np.maximum(planes, 0.0, out=planes), np.float32)


def _colours(planes: Floats, cells: NDArray[np.intp], inside: Region) -> Floats:
    """Evidence of each pixel's colour for each material, natural logarithms, learnt from the photo's sure pixels."""
    said = np.zeros(planes.shape, np.float32)
    for plane, row in zip(planes, said, strict=True):
        sure = inside & (plane > _SURE)
        if np.count_nonzero(sure) > _FEW:
            row[:] = log_density(histogram(cells, sure), cells, _UNKNOWN) - LOG_UNIFORM
    return np.asarray(np.clip(0.5 * said, -_COLOUR_SAY, _COLOUR_SAY), np.float32)


def _name_hose_and_skin(labels: Mask, body: Body) -> None:
    """Name the materials by their place; each rule for skin overrules those before it."""
    hose, skin = labels == _HOSE, labels == Label.TORSO_SKIN
    if hose.any():
        tights = float(np.quantile(body.leg.position[hose], 0.05)) < _KNEE_HIGH
        labels[hose] = Label.LOWER if tights else Label.FEET  # socks go with the shoes
    arm, along_arm, leg = body.arm.offset, body.arm.position, body.leg.offset
    labels[skin & (body.height > 1.0) & (leg < 1.6)] = Label.LEGS
    labels[skin & (arm < 1.25) & (body.aside > 0.36)] = Label.ARMS
    labels[skin & (arm < 1.1) & (along_arm > 1.0)] = Label.ARMS
    labels[skin & (arm < 1.5) & (along_arm > 2.0)] = Label.HANDS
    labels[(labels == Label.TORSO_SKIN) & (arm < 2.2) & (along_arm > 2.0)] = Label.HANDS
    labels[skin & (labels == Label.LEGS) & (body.leg.position > 2.0)] = Label.FEET
    labels[skin & (body.height < 0.06) & (body.aside < 0.4)] = Label.NECK
    labels[skin & body.above_chin & (body.head < 1.2)] = Label.FACE
    labels[skin & body.on_face] = Label.FACE


def _enclosed(parts: NDArray[np.int32], labels: Mask) -> Region:
    """Per part, the first none, whether one garment alone is around it: a badge, a print; what is carried hangs on."""
    enclosed = np.zeros(int(parts.max()) + 1, bool)
    for part in range(1, len(enclosed)):
        own = (parts == part).astype(np.uint8)
        around = np.unique(labels[cv2.dilate(own, np.ones((3, 3), np.uint8)) > own])
        enclosed[part] = len(around) == 1 and around[0] in _GARMENTS
    return enclosed


def _settle_crumbs(labels: Mask, person: Region, body: Body) -> None:
    """Give specks, too small to be anything, to what surrounds them."""
    crumbs = np.zeros(labels.shape, bool)
    for label in np.unique(labels[person]):
        own = (person & (labels == label)).astype(np.uint8)
        left, top, across, down = cv2.boundingRect(own)
        box = np.s_[max(top - 1, 0) : top + down + 1, max(left - 1, 0) : left + across + 1]
        _, parts = cv2.connectedComponents(own[box], connectivity=4)
        side = _SMALLEST_CARRIED if label == Label.OTHER else _SMALLEST
        small = np.bincount(np.asarray(parts).ravel()) < max(12.0, (side * body.breadth) ** 2)
        small[0] = False
        if label == Label.OTHER:
            small |= _enclosed(np.asarray(parts), labels[box])
        if small.any():
            crumbs[box] |= small[parts]
    settled = person & ~crumbs
    if crumbs.any() and settled.any():
        source = (~settled).astype(np.uint8)
        _, nearest = cv2.distanceTransformWithLabels(source, cv2.DIST_L2, 3, labelType=cv2.DIST_LABEL_PIXEL)
        lookup = np.zeros(int(nearest.max()) + 1, np.uint8)
        lookup[nearest[settled]] = labels[settled]
        labels[crumbs] = lookup[nearest[crumbs]]
