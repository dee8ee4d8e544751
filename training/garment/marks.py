"""Garments marked by hand: outline, neckline and landmarks, kept in ``marks.jsonl`` beside this module.

``python -m training.garment.marks show PHOTO PNG`` draws a photo with a grid to read places from;
``python -m training.garment.marks draft PHOTO JSON`` writes what the network of today would mark, to be corrected;
``python -m training.garment.marks check PHOTO JSON PNG`` draws what somebody marked, the outline settled on the edges
of the photo, and says what is missing.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.garment.cloth import MARGIN, lay_on_canvas
from engines.garment.cutout import garment_mask
from engines.garment.network import GarmentNetwork

MARKED = Path(__file__).with_name("marks.jsonl")

KINDS = ("top", "outerwear", "trousers", "shorts", "skirt", "dress", "jumpsuit")

SHOULDERED = frozenset({"top", "outerwear", "dress", "jumpsuit"})
LEGGED = frozenset({"trousers", "shorts", "jumpsuit"})

POINTS = (
    "neck_left",
    "neck_right",
    "shoulder_left",
    "shoulder_right",
    "armpit_left",
    "armpit_right",
    "cuff_left_outer",
    "cuff_right_outer",
    "cuff_left_inner",
    "cuff_right_inner",
    "waist_left",
    "waist_right",
    "hem_left",
    "hem_right",
    "crotch",
    "hem_left_inner",
    "hem_right_inner",
)
"""Left and right in the picture. ``neck``: where the shoulder begins beside the neck, at the foot of a collar;
``shoulder``: its outer end, where a sleeve is sewn in; ``cuff``: the ends of the sleeve's outer and inner edge;
``waist``: the ends of a waistband's upper edge, or where a dress is drawn in; ``hem``: where the outer sides end;
``hem_inner``: where the inseams of legs end."""

UNSURE = 0.018
"""How far from an outline drawn by eye the garment's own may run, in lengths of the photo's longer side; a line of the
file says so itself where the outline was drafted on the photo's edges."""

DRAFTED = 0.3
"""Share of a landmark's heat near it from which a draft holds it."""

SHOWN = 960
"""Longer side of the pictures that are drawn."""


@dataclass(frozen=True)
class Marks:
    """What somebody marked in a photo, in its pixels.

    Attributes:
        kind: Of `KINDS`.
        outline: ``(n, 2)`` around the cloth, the inside of the back and a hood included.
        holes: Outlines of ground that the cloth encloses.
        neckline: ``(n, 2)`` the front's upper edge from neck to neck; what is above is the inside of the back. May be
            empty.
        points: Of `POINTS`, as far as they are in the picture.
        unsure: As `UNSURE`.
    """

    kind: str
    outline: NDArray[np.float32]
    holes: tuple[NDArray[np.float32], ...]
    neckline: NDArray[np.float32]
    points: dict[str, NDArray[np.float32]]
    unsure: float = UNSURE

    @classmethod
    def told(cls, told: dict[str, Any]) -> Marks:
        """Marks as a file tells them.

        Raises:
            ValueError: It says something that marks do not have.
        """
        line = lambda name: np.asarray(told.get(name) or [], np.float32).reshape(-1, 2)  # noqa: E731
        points = {name: np.asarray(place, np.float32) for name, place in told["points"].items() if place}
        if told["kind"] not in KINDS or set(points) - set(POINTS) or len(line("outline")) < 4:
            raise ValueError("unknown kind or point, or no outline")
        holes = tuple(np.asarray(hole, np.float32) for hole in told.get("holes") or [])
        return cls(told["kind"], line("outline"), holes, line("neckline"), points, told.get("unsure", UNSURE))

    @property
    def sleeved(self) -> bool:
        """Whether there is a sleeve, at one side at least: the other's end may be outside the picture."""
        return any(name.startswith("cuff") for name in self.points)

    def expected(self) -> set[str]:
        """Points that a garment of this kind has, where sleeves and a drawn-in waist are left open."""
        names = {"hem_left", "hem_right"}
        if self.kind in SHOULDERED:
            names |= {f"{part}_{side}" for part in ("neck", "shoulder", "armpit") for side in ("left", "right")}
        else:
            names |= {"waist_left", "waist_right"}
        if self.kind in LEGGED:
            names |= {"crotch", "hem_left_inner", "hem_right_inner"}
        return names


def read_marks(path: Path = MARKED) -> dict[str, Marks]:
    """All marks by the stem of the photo's name; a line a photo."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {line.pop("photo"): Marks.told(line) for line in lines}


def settled_mask(photo: Picture, marks: Marks) -> NDArray[np.bool_]:
    """The garment's mask: as drawn, its outline on the photo's own edges where those tell (GrabCut)."""
    height, width = photo.shape[:2]
    drawn = np.zeros((height, width), np.uint8)
    cv2.fillPoly(drawn, [np.rint(marks.outline).astype(np.int32)], 1)
    for hole in marks.holes:
        cv2.fillPoly(drawn, [np.rint(hole).astype(np.int32)], 0)
    band = max(3, round(marks.unsure * max(height, width)))
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * band + 1, 2 * band + 1))
    inner, outer = cv2.erode(drawn, kernel), cv2.dilate(drawn, kernel)
    if not inner.any() or outer.all():
        return drawn > 0
    state = np.where(drawn > 0, cv2.GC_PR_FGD, cv2.GC_PR_BGD).astype(np.uint8)
    state[inner > 0], state[outer == 0] = cv2.GC_FGD, cv2.GC_BGD
    cv2.setRNGSeed(0)
    cv2.grabCut(
        np.ascontiguousarray(photo[..., ::-1]),
        state,
        None,  # type: ignore[arg-type] # a mask is given instead of a rectangle
        np.zeros((1, 65)),
        np.zeros((1, 65)),
        3,
        cv2.GC_INIT_WITH_MASK,
    )
    found = np.isin(state, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.uint8)
    found = cv2.medianBlur(found * 255, 5) > 127
    met, either = (found & (drawn > 0)).sum(), (found | (drawn > 0)).sum()
    if met < 0.93 * either:  # colours that cannot be told apart: as drawn
        return drawn > 0
    # What is thinner than the outline is unsure stays as drawn: straps, and gaps beside sleeves.
    thin = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (band, band))
    straps = _whole((drawn > 0) & (cv2.morphologyEx(drawn, cv2.MORPH_OPEN, thin) == 0), band**2)
    gaps = _whole((drawn == 0) & (cv2.morphologyEx(drawn, cv2.MORPH_CLOSE, thin) > 0), band**2)
    return np.asarray((found | straps) & ~gaps)


def _whole(mask: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
    """The connected regions of a mask that have so many pixels: fewer are slivers along an outline."""
    _, regions = cv2.connectedComponents(mask.astype(np.uint8))
    areas = np.bincount(np.asarray(regions).ravel())
    areas[0] = 0
    return np.asarray((areas >= least)[regions])


def drafted(photo: Picture) -> dict[str, Any]:
    """What the engine's own network would mark, as a line of the file: a draft that somebody corrects."""
    canvas, network = lay_on_canvas(photo), GarmentNetwork()
    seen = network.look(canvas, MARGIN)
    mask = garment_mask(canvas, seen).astype(np.uint8)
    scale = (canvas.shape[1] - 2 * MARGIN) / photo.shape[1]
    outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = cv2.approxPolyDP(max(outlines, key=cv2.contourArea), 2.0, closed=True)[:, 0]
    told = lambda places: ((places - MARGIN) / scale).round(1).tolist()  # noqa: E731
    names = [name for name, sure in zip(POINTS, seen.sure, strict=True) if sure > DRAFTED]
    points = {name: told(seen.points[POINTS.index(name)]) for name in names}
    return {"kind": KINDS[int(seen.kinds.argmax())], "outline": told(outline), "neckline": [], "points": points}


def drawn_grid(photo: Picture) -> Picture:
    """The photo enlarged, with a line and a number each 50 of its pixels."""
    scale = SHOWN / max(photo.shape[:2])
    shown = cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    for axis, length in ((0, photo.shape[0]), (1, photo.shape[1])):
        for place in range(0, length, 50):
            at = round(place * scale)
            ends = ((0, at), (shown.shape[1], at)) if axis == 0 else ((at, 0), (at, shown.shape[0]))
            cv2.line(shown, *ends, (0, 0, 0), 1)
            cv2.line(shown, *(tuple(np.add(end, (1, 1)).tolist()) for end in ends), (255, 255, 255), 1)
            where = (2, at + 14) if axis == 0 else (at + 2, 12)
            for colour, thick in (((255, 255, 255), 3), ((200, 0, 0), 1)):
                cv2.putText(shown, str(place), where, cv2.FONT_HERSHEY_SIMPLEX, 0.42, colour, thick)
    return np.asarray(shown, np.uint8)


def drawn_marks(photo: Picture, marks: Marks) -> Picture:
    """The photo enlarged, what is no garment darkened, with the marks."""
    scale = SHOWN / max(photo.shape[:2])
    mask = settled_mask(photo, marks)
    lit = np.where(mask[..., None], photo, (photo * 0.25).astype(np.uint8) + np.array([0, 60, 90], np.uint8))
    shown = cv2.resize(lit.astype(np.uint8), None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    if len(marks.neckline):
        line = np.rint(marks.neckline * scale).astype(np.int32)
        cv2.polylines(shown, [line], isClosed=False, color=(255, 255, 0), thickness=2)
    for name, place in marks.points.items():
        at = tuple(int(value) for value in np.rint(place * scale))
        cv2.circle(shown, at, 5, (255, 0, 255), -1)
        for colour, thick in (((0, 0, 0), 3), ((255, 255, 255), 1)):
            cv2.putText(shown, name, (at[0] + 6, at[1] - 4), cv2.FONT_HERSHEY_SIMPLEX, 0.42, colour, thick)
    return np.asarray(shown, np.uint8)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    commands = arguments.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show")
    check = commands.add_parser("check")
    draft = commands.add_parser("draft")
    for each in (show, check, draft):
        each.add_argument("photo", type=Path)
    for each in (check, draft):
        each.add_argument("marks", type=Path)
    for each in (show, check):
        each.add_argument("png", type=Path)
    given = arguments.parse_args()
    seen = np.asarray(cv2.cvtColor(cv2.imread(str(given.photo)), cv2.COLOR_BGR2RGB), np.uint8)
    if given.command == "draft":
        given.marks.write_text(json.dumps(drafted(seen)))
    elif given.command == "show":
        cv2.imwrite(str(given.png), drawn_grid(seen)[..., ::-1])
    else:
        marks = Marks.told(json.loads(given.marks.read_text()))
        print(marks.kind, "missing:", sorted(marks.expected() - set(marks.points)) or "nothing")
        cv2.imwrite(str(given.png), drawn_marks(seen, marks)[..., ::-1])
