"""Judge a parser: ``python -m training.parser.evaluate --model parser.onnx --ccp FOLDER``.

Overlap per class on photos that did not train, whole and ended between hips and shins, beside the engine's map without
a network; how much harmless changes of a photo move the labels; the largest connected wrong blob.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, Landmark, Picture
from engines.person.finding import PersonFinder
from engines.person.parser import Parser, Thing
from engines.person.segmenter import MediaPipeSegmenter
from training.parser.data import IGNORED, Masks, Sample, prepared, rough, split
from training.parser.train import HELD_OUT

GROUPS: dict[str, tuple[Thing, ...]] = {
    "hair": (Thing.HAIR,),
    "skin": (Thing.SKIN,),
    "upper": (Thing.TOP, Thing.OUTERWEAR),
    "lower": (Thing.TROUSERS, Thing.SKIRT),
    "full": (Thing.DRESS,),
    "shoes": (Thing.SHOES,),
    "bag": (Thing.BAG,),
    "hose": (Thing.HOSE,),
    "rest": (Thing.GROUND, Thing.HAT, Thing.OTHER),
}
"""What is judged together; the mean is over the first seven."""

JUDGED = 7
LEAST_SHOWN = 0.001
"""Share of the pixels that a group has at least where it counts: half bodies have no shoes."""

LABELS: dict[str, tuple[Label, ...]] = {
    "hair": (Label.HAIR,),
    "skin": (Label.FACE, Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.HANDS, Label.LEGS),
    "upper": (Label.UPPER,),
    "lower": (Label.LOWER,),
    "full": (Label.FULL,),
    "shoes": (Label.FEET,),
    "bag": (Label.OTHER,),
}

Groups: TypeAlias = NDArray[np.uint8]
Parse: TypeAlias = Callable[[Picture], Groups | None]


def grouped(things: Masks) -> Groups:
    """Numbers of `GROUPS` for `Thing`; what is ignored stays so."""
    table = np.full(256, IGNORED, np.uint8)
    for number, members in enumerate(GROUPS.values()):
        table[list(members)] = number
    return table[things]


def parsed(parser: Parser, finder: PersonFinder, photo: Picture) -> Groups:
    """The likeliest group of every pixel."""
    chances = parser.look(photo, rough(finder, photo))
    frame = (0, 0, photo.shape[1], photo.shape[0])
    planes = [np.sum([chances.of(thing, *frame) for thing in members], axis=0) for members in GROUPS.values()]
    return np.stack(planes).argmax(axis=0).astype(np.uint8)


def mapped(segmenter: MediaPipeSegmenter, photo: Picture) -> Groups | None:
    """The same of the engine's map; nothing where it refuses the photo."""
    try:
        labels = segmenter.segment(photo, lambda _: None, lambda: False).labels
    except Exception:  # noqa: BLE001  # a refusal of whatever kind
        return None
    found = np.full(labels.shape, len(GROUPS) - 1, np.uint8)
    for number, name in enumerate(GROUPS):
        found[np.isin(labels, [int(each) for each in LABELS.get(name, ())])] = number
    return found


class Overlap:
    """Confusions of groups over many photos."""

    def __init__(self) -> None:
        self._counts = np.zeros((len(GROUPS), len(GROUPS)))
        self.blobs: list[float] = []

    def add(self, truth: Groups, found: Groups, breadth: float) -> None:
        """Count a photo; ``breadth`` is the distance of the shoulders in pixels."""
        known = truth != IGNORED
        pairs = truth[known].astype(int) * len(GROUPS) + found[known]
        self._counts += np.bincount(pairs, minlength=len(GROUPS) ** 2).reshape(self._counts.shape)
        wrong = (known & (truth != found)).astype(np.uint8)
        wrong = cv2.erode(wrong, np.ones((3, 3), np.uint8))  # edges are no blobs
        _, _, stats, _ = cv2.connectedComponentsWithStats(wrong)
        self.blobs.append(float(stats[1:, cv2.CC_STAT_AREA].max(initial=0)) / max(breadth, 1.0) ** 2)

    def figures(self) -> dict[str, float]:
        """Intersection over union by group, its mean, and the median largest wrong blob in squared shoulder widths."""
        met, found, there = np.diag(self._counts), self._counts.sum(0), self._counts.sum(1)
        each = met / np.maximum(found + there - met, 1)
        shown = there[:JUDGED] > LEAST_SHOWN * there.sum()
        mean = round(float(each[:JUDGED][shown].mean()), 3)
        told = {
            name: value for name, value, some in zip(GROUPS, each.round(3).tolist(), there > 0, strict=True) if some
        }
        return {**told, "mean": mean, "blob": round(float(np.median(self.blobs)), 4)}


def lightness_of_skin(sample: Sample) -> float:
    """Median CIELAB lightness of what is named skin, 0 to 100."""
    lab = cv2.cvtColor(sample.photo.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    skin = sample.labels == Thing.SKIN
    return float(np.median(lab[skin][:, 0])) if skin.any() else float("nan")


def half_body(sample: Sample) -> Sample:
    """The photo ended between the hips and the shins, at a place that its number decides."""
    rows = sample.landmarks[:, 1]
    hips, shins = (float(rows[list(pair)].mean()) for pair in (HIPS, ANKLES))
    share = np.random.default_rng(sample.number).uniform(0.1, 0.8)
    return sample.ended_at(int(np.clip(hips + share * (shins - hips), 0.35 * len(sample.photo), len(sample.photo))))


HIPS = (Landmark.LEFT_HIP, Landmark.RIGHT_HIP)
ANKLES = (Landmark.LEFT_ANKLE, Landmark.RIGHT_ANKLE)


def moved(parse: Parse, photo: Picture) -> float | None:
    """Share of the person's labels that the worst of five harmless changes moves."""
    before = parse(photo)
    if before is None:
        return None
    height, width = photo.shape[:2]
    warm = np.array([1.02, 1.0, 0.98])
    less = cv2.resize(photo, None, fx=0.75, fy=0.75, interpolation=cv2.INTER_AREA)
    changed = [
        np.ascontiguousarray(photo[:, ::-1]),
        *(np.clip(photo * factor, 0, 255).astype(np.uint8) for factor in (0.9, 1.1, warm)),
        less,
    ]
    worst, ground = 0.0, len(GROUPS) - 1
    for number, other in enumerate(changed):
        after = parse(np.asarray(other))
        if after is None:
            return 1.0
        after = (
            after[:, ::-1] if number == 0 else cv2.resize(after, (width, height), interpolation=cv2.INTER_NEAREST_EXACT)
        )
        person = (before != ground) | (after != ground)
        worst = max(worst, float(((before != after) & person).sum() / max(person.sum(), 1)))
    return worst


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--model", type=Path, required=True)
    arguments.add_argument("--models", type=Path, default=Path(".models"))
    arguments.add_argument("--photos", type=Path, help="a folder of other people, for the steadiness")
    arguments.add_argument("--beside", action="store_true", help="judge the engine's map without a network too")
    arguments.add_argument("--steady", action="store_true")
    given = arguments.parse_args()
    cv2.setNumThreads(1)
    parser, finder = Parser(given.model), PersonFinder(given.models, threads=1)
    segmenter = MediaPipeSegmenter(given.models, threads=1)
    ways: dict[str, Parse] = {"parser": lambda photo: parsed(parser, finder, photo)}
    if given.beside:
        ways["map"] = lambda photo: mapped(segmenter, photo)
    _, judges = split(prepared(), HELD_OUT)
    tones = {s.number: lightness_of_skin(s) for s in judges}
    thirds = np.nanquantile(list(tones.values()), [1 / 3, 2 / 3])
    kinds: dict[str, list[Sample]] = {"whole": judges, "half": [half_body(s) for s in judges]}
    for third, name in enumerate(("dark skin", "middle skin", "light skin")):
        kinds[name] = [s for s in judges if int(np.searchsorted(thirds, tones[s.number])) == third]
    for kind, samples in kinds.items():
        for name, way in ways.items():
            overlap = Overlap()
            for sample in samples:
                found = way(sample.photo)
                if found is not None:
                    breadth = float(np.hypot(*(sample.landmarks[11] - sample.landmarks[12])))
                    overlap.add(grouped(sample.labels), found, breadth)
            print(kind, name, len(overlap.blobs), json.dumps(overlap.figures()), flush=True)
    if given.steady:
        photos = [s.photo for s in judges[::3]]
        if given.photos:
            photos = [
                cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB) for path in sorted(given.photos.glob("*.jpg"))
            ]
        for name, way in ways.items():
            shares = [share for share in (moved(way, photo) for photo in photos) if share is not None]
            print(
                "moved",
                name,
                len(shares),
                "median",
                round(float(np.median(shares)), 4),
                "95 %",
                round(float(np.quantile(shares, 0.95)), 4),
            )
