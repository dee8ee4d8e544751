"""All figures of one rendered pair, what they are called, and which way is better."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import cv2
import numpy as np

from bench.engine import fidelity, prints, zones
from bench.engine.pairs import Outcome
from engines.base import Category, PersonMap, Picture
from engines.garment.cutout import cut_out
from engines.garment.network import GarmentNetwork
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.regions import BoolMask, dilated, eroded, labelled_as, opened
from engines.warp.working_photo import reduced_map, working_scale

REACH = 0.15
"""How far beside the old and the new garment a picture may change, in shoulder widths: shadows, soft edges and skin
that fades into skin."""

SOLID = 0.9
"""Cover from which a pixel shows cloth and nothing of what is behind it."""

SEAM = 3
"""Half the width of the seam between two parts of a garment, pixels of its canvas."""

HIDDEN_WAISTBAND = 0.25
"""Share of a lower garment's height over which a top may hang."""

AROUND_LEAST = 0.01
"""Share of the surroundings from which a colour belongs to them: less are crumbs of the old garment."""

Row: TypeAlias = dict[str, float | None]
"""Figures by name; none where there was nothing to take one on."""


@dataclass(frozen=True)
class Measure:
    """One figure of a pair.

    Attributes:
        name: Key in the rows.
        title: For the table.
        lower_is_better: Which way the worst pair lies.
        goal: What it should be, in words.
    """

    name: str
    title: str
    lower_is_better: bool
    goal: str


MEASURES = (
    Measure("residue", "old garment still seen", True, "0"),
    Measure("overlooked", "old garment not recognised", True, "0"),
    Measure("coverage", "garment where it belongs", False, "1"),
    Measure("outside_equal", "untouched outside the zone", False, "1 exactly"),
    Measure("kept_changed", "face, hair, hands changed", True, "0"),
    Measure("colour_ab", "colour, Lab a b", True, "<= 2"),
    Measure("colour_lightness", "contrast, Lab L", True, "<= 3"),
    Measure("colour_exposure", "lighter or darker, Lab L", True, ""),
    Measure("print", "print found again", False, "1"),
    Measure("recognised", "new garment seen as clothes", False, "1"),
    Measure("true_likeness", "true pair, SSIM", False, "1"),
)


@dataclass(frozen=True)
class Shop:
    """What there is to know about a garment from its photo.

    Attributes:
        picture: ``(h, w, 3)``, without its ground.
        mask: ``(h, w)`` bool, the garment.
        inner: ``(h, w)`` bool, what of it is seen from the front, without the seams between parts.
    """

    picture: Picture
    mask: BoolMask
    inner: BoolMask

    @classmethod
    def of(cls, photo: Picture, category: Category, network: GarmentNetwork) -> Shop:
        """Cut a garment out.

        Raises:
            EngineError: ``garment_not_recognised``.
        """
        cloth = cut_out(photo, category, network)
        picture, mask = np.rint(cloth.colour * 255).clip(0, 255).astype(np.uint8), cloth.alpha > SOLID
        inner = mask
        if category is Category.UPPER_BODY:
            marks = find_upper_landmarks(cloth)
            inner = eroded(marks.torso_part & ~dilated(marks.back, SEAM), SEAM)
            for part in marks.sleeve_parts if marks.sleeves is not None else ():
                inner = inner | eroded(part, SEAM)
        if category is Category.LOWER_BODY:
            rows = np.flatnonzero(mask.any(axis=1))
            below = rows[0] + HIDDEN_WAISTBAND * len(rows)
            inner = mask & (np.arange(len(mask)) > below)[:, None]
        return cls(picture, mask, inner & mask)


@dataclass(frozen=True)
class Laid:
    """What the engine laid on the person, at the size it worked at.

    Attributes:
        cover: ``(h, w, 3)``, black where no cloth lies, white where nothing of what is behind it shows.
        colours: ``(h, w, 3)``, the cloth before light and shadow.
    """

    cover: Picture
    colours: Picture


def judge(outcome: Outcome, laid: Laid, shop: Shop, again: PersonMap | None = None) -> Row:
    """Take every figure of a pair that was rendered.

    Args:
        outcome: The pair; it has a result.
        laid: What the engine did with the garment.
        shop: The garment.
        again: What the segmenter says about the result; nothing where it finds nobody.
    """
    if outcome.result is None:
        raise ValueError(f"{outcome.name} was refused; there is nothing to judge")
    photo, result, category = outcome.person.photo, outcome.result.picture, outcome.category
    row = _identity(photo, result, outcome.person.person_map, laid.cover, category)
    # All but identity at the size at which the engine works: it takes no credit for enlarging.
    scale = working_scale(photo)
    before, after = _reduced(photo, scale), _reduced(result, scale)
    person_map = reduced_map(outcome.person.person_map, scale)
    solid = laid.cover[..., 0] > SOLID * 255
    old = zones.old_clothes(person_map, category)
    same = fidelity.same_colour(before, laid.colours)
    unjudged = np.where(solid, same, _like_surroundings(before, person_map, old, old & ~solid))
    row["residue"] = fidelity.residue(before, after, old, unjudged)
    still_worn = None if again is None else zones.still_worn(person_map, reduced_map(again, scale), category, solid)
    row["overlooked"] = None if still_worn is None else fidelity.overlooked(before, after, old, still_worn)
    row["coverage"] = fidelity.coverage(before, after, zones.to_cover(person_map, category), solid, same)
    worn = _worn(before, after, person_map, solid)
    shown = eroded(shop.mask, zones.MIXED_RIM)
    measured = fidelity.colour(shop.picture, shown, after, worn & ~zones.forearms(person_map))
    row["colour_ab"] = measured.ab if measured else None
    row["colour_lightness"] = measured.lightness if measured else None
    row["colour_exposure"] = measured.exposure if measured else None
    row["print"] = prints.found_again(shop.picture, shop.mask, shop.inner, after, worn)
    row["recognised"] = None if again is None else zones.recognised(reduced_map(again, scale), category, worn)
    true_pair = outcome.person_path.stem == outcome.garment_path.stem
    row["true_likeness"] = fidelity.likeness(before, after, old | solid) if true_pair else None
    return row


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Median and worst of each figure over the rows of a category, and whose the worst is."""
    summed: dict[str, dict[str, Any]] = {}
    for measure in MEASURES:
        known = [row for row in rows if row.get(measure.name) is not None]
        if not known:
            continue
        values = [abs(row[measure.name]) if measure.lower_is_better else row[measure.name] for row in known]
        worst = max(values) if measure.lower_is_better else min(values)
        summed[measure.name] = {
            "pairs": len(known),
            "median": round(statistics.median(values), 4),
            "worst": round(worst, 4),
            "worst_pair": known[values.index(worst)]["pair"],
        }
    return summed


def _identity(photo: Picture, result: Picture, person_map: PersonMap, cover: Picture, category: Category) -> Row:
    """What must not change, at the photo's own size."""
    size = (photo.shape[1], photo.shape[0])
    laid = cv2.resize(cover[..., 0], size, interpolation=cv2.INTER_LINEAR) > 0
    away = REACH * zones.shoulder_width(person_map)
    garments = zones.old_clothes(person_map, category) | laid
    seen = garments & ~labelled_as(person_map.labels, zones.KEPT)
    kept = zones.kept_parts(person_map) & (zones.distance_from(seen) > away)
    kept_equal = fidelity.equal_share(photo, result, kept)
    outside = zones.distance_from(garments) > away
    return {
        "outside_equal": fidelity.equal_share(photo, result, outside),
        "kept_changed": None if kept_equal is None else 1.0 - kept_equal,
    }


def _like_surroundings(before: Picture, person_map: PersonMap, old: BoolMask, where: BoolMask) -> BoolMask:
    """Pixels of the old garment that look like what is around it, and may look the same when it is gone."""
    away = zones.distance_from(old)
    around = (away > 2 * zones.MIXED_RIM) & (away < zones.shoulder_width(person_map))
    return fidelity.alike(before, where, fidelity.palette(before, around, AROUND_LEAST))


def _worn(before: Picture, after: Picture, person_map: PersonMap, solid: BoolMask) -> BoolMask:
    """Where the garment is seen on the person, without its mixed rim."""
    open_to_view = solid & ~labelled_as(person_map.labels, zones.IN_FRONT)
    # Single pixels may come out as they were by chance.
    as_it_was = opened(fidelity.difference(before, after) == 0, zones.MIXED_RIM)
    return np.asarray(eroded(open_to_view, zones.MIXED_RIM) & ~as_it_was)


def _reduced(picture: Picture, scale: float) -> Picture:
    if scale == 1.0:
        return picture
    size = (max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
