"""Garments photographed at home, from the clothing dataset (CC0), and what training makes of them.

``python -m training.garment.data --clothing FOLDER`` keeps all that training needs in one file.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.framing import framed
from engines.garment.network import (
    BEYOND,
    MIRRORED_PARTS,
    MIRRORED_POINTS,
    SIZE,
    Kind,
    Part,
    Point,
    square_of,
)
from training.garment.marks import Marks, read_marks, settled_mask
from training.pictures import laid_before, made_ground, pale_ground, photographed, recoloured

PREPARED = Path("out/training/garment.npz")
SET_B = Path("bench/engine/set-b.csv")
"""What judges the engine trains nothing."""

IGNORED = 255

PALE = 0.2
"""Share of the pictures in which the garment is made white and lies on white, as in catalogues."""

CUT = 0.12
"""Share of the pictures that end within the garment."""

KEPT = 320
"""Longer side of a kept photo, pixels: 1.4 times what the network sees."""

KINDS = {
    "T-Shirt": Kind.TOP,
    "Longsleeve": Kind.TOP,
    "Shirt": Kind.TOP,
    "Polo": Kind.TOP,
    "Undershirt": Kind.TOP,
    "Top": Kind.TOP,
    "Blouse": Kind.TOP,
    "Body": Kind.TOP,
    "Outwear": Kind.OUTERWEAR,
    "Blazer": Kind.OUTERWEAR,
    "Pants": Kind.TROUSERS,
    "Shorts": Kind.SHORTS,
    "Skirt": Kind.SKIRT,
    "Dress": Kind.DRESS,
}
"""The set's own classes; its hoodies may have a zip or none, and teach no kind."""

JUDGING_SENDERS = (5, 6)
"""Photos of senders whose number ends in one of these digits judge and never train."""

Parts = NDArray[np.uint8]


@dataclass(frozen=True)
class Sample:
    """One photo.

    Attributes:
        name: Of its file.
        sender: Who took it.
        kind: A `Kind`, or `IGNORED`.
        photo: ``(height, width, 3)``.
        parts: ``(height, width)`` of `Part`, or `IGNORED` where nobody marked it.
        points: ``(len(Point), 2)`` pixels, nan where not in the picture; None where nobody marked any.
    """

    name: str
    sender: int
    kind: int
    photo: Picture
    parts: Parts
    points: NDArray[np.float32] | None


def parts_of(mask: NDArray[np.bool_], marks: Marks) -> Parts:
    """``(height, width)`` of `Part`: the mask, cut along the seams that landmarks tell, for marks in its pixels."""
    parts = np.where(mask, np.uint8(Part.BODY), np.uint8(Part.GROUND))
    at = marks.points
    for side, other, sleeve in (("left", "right", Part.LEFT_SLEEVE), ("right", "left", Part.RIGHT_SLEEVE)):
        names = [f"shoulder_{side}", f"armpit_{side}", f"armpit_{other}"]
        if marks.sleeved and all(name in at for name in names):
            _cut_sleeve(
                parts, sleeve, [at[name] for name in names], at.get(f"cuff_{side}_outer"), at.get(f"cuff_{side}_inner")
            )
    if "crotch" in at:
        _cut_legs(parts, mask, marks)
    if len(marks.neckline) > 2 and {"hem_left", "hem_right"} <= set(at):
        ends = marks.neckline[0], marks.neckline[-1]
        up = (ends[0] + ends[1]) / 2 - (at["hem_left"] + at["hem_right"]) / 2
        above = np.concatenate([marks.neckline, [ends[1] + up, ends[0] + up]])
        inside = cv2.fillPoly(np.zeros(mask.shape, np.uint8), [np.rint(above).astype(np.int32)], 1) > 0
        parts[inside & (parts == Part.BODY)] = Part.BACK
    return parts


def _cut_sleeve(
    parts: Parts,
    sleeve: Part,
    seam_ends: list[NDArray[np.float32]],
    outer: NDArray[np.float32] | None,
    inner: NDArray[np.float32] | None,
) -> None:
    """Name the cloth beyond the seam from shoulder to armpit, cut off where the sleeve may lie on the body.

    Where no cut parts them, the side's cloth beyond the seam is ignored.
    """
    shoulder, armpit, across = seam_ends
    seam = armpit - shoulder
    cloth = parts != Part.GROUND
    thick = max(2, round(0.006 * max(parts.shape)))
    outwards = np.array([seam[1], -seam[0]]) * np.sign(seam[1] * (armpit - across)[0] - seam[0] * (armpit - across)[1])
    outside, inside = ((shoulder + armpit) / 2 + share * outwards for share in (0.2, -0.2))
    cuts = [[(shoulder - 0.15 * seam, armpit + 0.08 * seam)]]
    if outer is not None and inner is not None:
        cuff = outer - inner
        cuts += [[(armpit, inner)], [(inner - 0.3 * cuff, outer + 0.3 * cuff)]]
    left = cloth.astype(np.uint8)
    for lines in cuts:
        for begin, end in lines:
            cv2.line(left, _pixel(begin), _pixel(end), 0, thick)
        _, regions = cv2.connectedComponents(left, connectivity=4)
        own = _region_at(regions, outside)
        if own and own != _region_at(regions, inside):
            grown = cv2.dilate((regions == own).astype(np.uint8), np.ones((thick + 1, thick + 1), np.uint8)) > 0
            parts[grown & cloth & ((regions == own) | (regions == 0))] = sleeve
            return
    rows, columns = np.mgrid[: parts.shape[0], : parts.shape[1]]
    beyond = (columns - armpit[0]) * outwards[0] + (rows - armpit[1]) * outwards[1] > 0
    parts[cloth & beyond] = IGNORED


def _region_at(regions: NDArray[np.int32], place: NDArray[np.float32]) -> int:
    """The number of the region nearest to a place, if one is near; else 0."""
    rows, columns = np.nonzero(regions)
    if not len(rows):
        return 0
    away = np.hypot(rows - place[1], columns - place[0])
    nearest = int(away.argmin())
    return int(regions[rows[nearest], columns[nearest]]) if away[nearest] < 0.08 * max(regions.shape) else 0


def _cut_legs(parts: Parts, mask: NDArray[np.bool_], marks: Marks) -> None:
    at = marks.points
    crotch = at["crotch"]
    inner = [at[name] for name in ("hem_left_inner", "hem_right_inner") if name in at]
    end = np.mean(inner, axis=0) if inner else crotch + np.array([0, 1])
    down = (end - crotch) / max(float(np.hypot(*(end - crotch))), 1.0)
    rows, columns = np.mgrid[: mask.shape[0], : mask.shape[1]]
    below = (columns - crotch[0]) * down[0] + (rows - crotch[1]) * down[1] > 0
    across = (columns - crotch[0]) * down[1] - (rows - crotch[1]) * down[0]
    parts[mask & below & (across <= 0)] = Part.LEFT_LEG
    parts[mask & below & (across > 0)] = Part.RIGHT_LEG


def _pixel(place: NDArray[np.float32]) -> tuple[int, int]:
    return round(float(place[0])), round(float(place[1]))


def prepare(clothing: Path, path: Path = PREPARED) -> int:
    """Keep all photos that may train, with what is marked in them; returns how many."""
    judged = {row["garment"] for row in csv.DictReader(SET_B.open())}
    marked = read_marks()
    kept: dict[str, NDArray[np.generic]] = {}
    rows = []
    for row in csv.DictReader((clothing / "labels.csv").open()):
        name = Path(row["file"]).stem
        if f"clothing/{row['file']}" in judged or not (clothing / row["file"]).is_file():
            continue
        photo = np.asarray(cv2.cvtColor(cv2.imread(str(clothing / row["file"])), cv2.COLOR_BGR2RGB), np.uint8)
        scale = KEPT / max(photo.shape[:2])
        small = cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        kind = KINDS.get(row["label"], IGNORED)
        if name in marked:
            marks = marked[name]
            kind = Kind[marks.kind.upper()]
            parts = parts_of(settled_mask(photo, marks), marks)
            parts = cv2.resize(parts, small.shape[1::-1], interpolation=cv2.INTER_NEAREST)
            points = np.full((len(Point), 2), np.nan, np.float32)
            for point, place in marks.points.items():
                points[Point[point.upper()]] = (place + 0.5) * scale - 0.5
            kept[f"m{name}"], kept[f"l{name}"] = cv2.imencode(".png", parts)[1], points
        kept[f"p{name}"] = cv2.imencode(".jpg", small[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 92])[1]
        rows.append((name, int(row["sender"]), int(kind)))
    kept["rows"] = np.array(rows, dtype=[("name", "U40"), ("sender", int), ("kind", int)])
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **kept)
    return len(rows)


def prepared(path: Path = PREPARED) -> list[Sample]:
    """What `prepare` kept."""
    samples = []
    with np.load(path) as kept:
        for name, sender, kind in kept["rows"].tolist():
            photo = np.ascontiguousarray(cv2.imdecode(kept[f"p{name}"], cv2.IMREAD_COLOR)[..., ::-1])
            marked = f"m{name}" in kept
            parts = (
                cv2.imdecode(kept[f"m{name}"], cv2.IMREAD_UNCHANGED)
                if marked
                else np.full(photo.shape[:2], IGNORED, np.uint8)
            )
            samples.append(Sample(name, sender, kind, photo, parts, kept[f"l{name}"] if marked else None))
    return samples


def split(samples: list[Sample]) -> tuple[list[Sample], list[Sample]]:
    """Those to train with, and those to judge by: no sender is in both."""
    judging = [s.sender % 10 in JUDGING_SENDERS for s in samples]
    return [s for s, j in zip(samples, judging, strict=True) if not j], [
        s for s, j in zip(samples, judging, strict=True) if j
    ]


@dataclass
class Augmenter:
    """Makes other photos of the ones there are.

    Attributes:
        chance: Where all randomness comes from.
        grounds: Photos whose ground others are laid on.
    """

    chance: np.random.Generator
    grounds: list[Sample]

    def drawn(self, sample: Sample) -> tuple[Picture, Parts, NDArray[np.float32]]:
        """``(SIZE, SIZE, 3)``, its parts, and its points in pixels of it (nan where there are none)."""
        chance = self.chance
        if chance.random() < CUT:
            sample = self._cut(sample)
        matrix, mirrored = self._placed(sample.photo.shape[:2])
        photo = framed(sample.photo, matrix, (SIZE, SIZE), BEYOND)
        parts = cv2.warpAffine(
            sample.parts,
            matrix,
            (SIZE, SIZE),
            flags=cv2.INTER_NEAREST,
            borderValue=IGNORED if sample.points is None else int(Part.GROUND),
        )
        points = np.full((len(Point), 2), np.nan, np.float32)
        if sample.points is not None:
            points = (sample.points @ matrix[:, :2].T + matrix[:, 2]).astype(np.float32)
            if mirrored:
                table = np.arange(256, dtype=np.uint8)
                table[: len(Part)] = MIRRORED_PARTS
                parts, points = table[parts], points[MIRRORED_POINTS]
            cloth = parts != Part.GROUND
            if cloth.sum() > 200:
                pale = chance.random() < PALE
                if pale or chance.random() < 0.4:
                    photo = self._recoloured(photo, cloth, pale=pale)
                if pale or chance.random() < 0.5:
                    ground = pale_ground((SIZE, SIZE), chance) if pale else self._ground()
                    photo = laid_before(ground, photo, cloth, chance)
                    if chance.random() < 0.7:  # with a frame, as every picture has
                        inside = cv2.warpAffine(np.ones(sample.parts.shape, np.uint8), matrix, (SIZE, SIZE))
                        photo[inside == 0] = BEYOND
        return photographed(photo, chance), np.asarray(parts, np.uint8), points

    def _cut(self, sample: Sample) -> Sample:
        """The photo as it would be had one of its borders run through the garment."""
        side, share = int(self.chance.integers(4)), self.chance.uniform(0.15, 0.45)
        height, width = sample.parts.shape
        top, left = round(share * height) if side == 0 else 0, round(share * width) if side == 1 else 0
        bottom, right = (
            round((1 - share) * height) if side == 2 else height,
            round((1 - share) * width) if side == 3 else width,
        )
        box, points = np.s_[top:bottom, left:right], sample.points
        if points is not None:
            points = points - np.array([left, top], np.float32)
            points[((points < 0) | (points >= (right - left, bottom - top))).any(axis=1)] = np.nan
        return replace(
            sample, photo=np.ascontiguousarray(sample.photo[box]), parts=sample.parts[box].copy(), points=points
        )

    def _placed(self, shape: tuple[int, ...]) -> tuple[NDArray[np.float64], bool]:
        chance = self.chance
        height, width = shape
        matrix = np.vstack([square_of(height, width), [0, 0, 1]])
        size = np.exp(chance.normal() * 0.13 - 0.06)
        turn = chance.normal() * (0.25 if chance.random() < 0.15 else 0.06)
        mirrored = bool(chance.random() < 0.5)
        across = size * np.exp(chance.normal() * 0.10) * (-1 if mirrored else 1)
        half = SIZE / 2
        move = [[1, 0, -half + chance.normal() * 8], [0, 1, -half + chance.normal() * 8], [0, 0, 1]]
        slant = chance.normal() * 0.05
        turned = [
            [across * np.cos(turn), -size * np.sin(turn) + size * slant, 0],
            [across * np.sin(turn), size * np.cos(turn), 0],
            [0, 0, 1],
        ]
        back = [[1, 0, half], [0, 1, half], [0, 0, 1]]
        return np.asarray((np.array(back) @ turned @ move @ matrix)[:2]), mirrored

    def _recoloured(self, photo: Picture, cloth: NDArray[np.bool_], *, pale: bool) -> Picture:
        chance, kind, softness = self.chance, self.chance.random(), 1.0
        if pale and chance.random() < 0.5:  # the middle stays, as a print does
            cloth = cloth.copy()
            top, left = (int(chance.uniform(0.3, 0.45) * SIZE) for _ in range(2))
            cloth[
                top : top + int(chance.uniform(0.1, 0.3) * SIZE), left : left + int(chance.uniform(0.1, 0.3) * SIZE)
            ] = False
        if pale or kind < 0.3:
            colour, softness = np.full(3, chance.uniform(195, 252)) + chance.normal(size=3) * 4, 0.4
        elif kind < 0.6:
            colour = np.full(3, chance.uniform(12, 60)) + chance.normal(size=3) * 4
        else:
            colour = chance.uniform(10, 245, 3)
        drawn = recoloured(photo, photo.astype(np.float32), cloth, colour, softness=softness, chance=chance)
        return np.clip(drawn, 0, 255).astype(np.uint8)

    def _ground(self) -> NDArray[np.float32]:
        """A made ground, or that of another photo."""
        chance = self.chance
        if chance.random() < 0.6:
            return made_ground((SIZE, SIZE), chance)
        other = self.grounds[int(chance.integers(len(self.grounds)))]
        height, width = other.parts.shape
        side = int(chance.integers(24, 80))
        for _ in range(8):
            top, left = int(chance.integers(height - side)), int(chance.integers(width - side))
            box = np.s_[top : top + side, left : left + side]
            if not (other.parts[box] != Part.GROUND).any():
                tile = other.photo[box]
                tile = np.concatenate([tile, tile[:, ::-1]], axis=1)
                tile = np.concatenate([tile, tile[::-1]], axis=0)
                grown = cv2.resize(tile, None, fx=1.5, fy=1.5, interpolation=cv2.INTER_CUBIC)
                count = -(-SIZE // len(grown)) + 1
                laid = np.tile(grown, (count, count, 1))
                row, column = chance.integers(len(grown), size=2)
                return laid[row : row + SIZE, column : column + SIZE].astype(np.float32)
        return made_ground((SIZE, SIZE), chance)


def batches(
    samples: list[Sample], marked: int, others: int, seed: int
) -> Iterator[tuple[NDArray[np.uint8], Parts, NDArray[np.float32], NDArray[np.int64]]]:
    """Augmented samples without end, so many marked ones and so many of which only the kind is known."""
    chance = np.random.default_rng(seed)
    told = [s for s in samples if s.points is not None]
    rest = [s for s in samples if s.points is None and s.kind != IGNORED]
    augmenter = Augmenter(chance, told)
    while True:
        order = chance.permutation(len(told))
        for start in range(0, len(order) - marked + 1, marked):
            chosen = [told[number] for number in order[start : start + marked]]
            chosen += [rest[int(number)] for number in chance.integers(len(rest), size=others)] if rest else []
            drawn = [augmenter.drawn(sample) for sample in chosen]
            yield (
                np.stack([photo.transpose(2, 0, 1) for photo, _, _ in drawn]),
                np.stack([parts for _, parts, _ in drawn]),
                np.stack([points for _, _, points in drawn]),
                np.array([sample.kind for sample in chosen]),
            )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--clothing", type=Path, required=True)
    given = arguments.parse_args()
    cv2.setNumThreads(1)
    print(prepare(given.clothing), "photos kept in", PREPARED)
