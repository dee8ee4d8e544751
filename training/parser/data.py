"""People with every pixel named, from Clothing Co-Parsing, and what training makes of them.

``python -m training.parser.data --ccp FOLDER`` finds each person's pose and masks and keeps all that training needs in
one file of 50 MB.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Landmark, Picture
from engines.person.finding import Person, PersonFinder
from engines.person.parser import BEYOND, HEIGHT, WIDTH, Thing, Window, drawn_limbs
from training.pictures import laid_before, made_ground, photographed, recoloured

PREPARED = Path("out/training/parser.npz")
LABELLED = 1004
"""Photos with higher numbers have no labels."""

UNREADABLE = frozenset({161, 453, 536, 868})
"""Several people, or none that the pose network finds."""

IGNORED = 255
"""Pixels that teach nothing."""

KEPT_HEIGHT = 384
"""Pixels of a kept photo, in which the person takes up most: 1.5 times what the network sees."""

NAMES: dict[Thing, str] = {
    Thing.GROUND: "null",
    Thing.HAIR: "hair",
    Thing.SKIN: "skin",
    Thing.TOP: "blouse bodysuit bra hoodie intimate jumper scarf shirt sweater sweatshirt swimwear t-shirt tie top "
    "vest",
    Thing.OUTERWEAR: "blazer cape cardigan coat jacket suit",
    Thing.TROUSERS: "jeans leggings panties pants shorts",
    Thing.SKIRT: "skirt",
    Thing.DRESS: "dress romper",
    Thing.HOSE: "socks stockings tights",
    Thing.SHOES: "boots clogs flats heels loafers pumps sandals shoes sneakers wedges",
    Thing.BAG: "bag purse wallet",
    Thing.HAT: "hat",
    Thing.OTHER: "accessories belt bracelet earrings glasses gloves necklace ring sunglasses watch",
}
"""The set's own 59 names by class."""

BARED = 0.12
"""Share of the pictures in which a top ends higher, above bare skin."""

MIRRORED = [0, 4, 5, 6, 1, 2, 3, *(number + 1 if number % 2 else number - 1 for number in range(7, 33))]
"""The landmark that takes a place in a mirrored photo: after the nose and the eyes they come in pairs."""

CLOTHES = (Thing.TOP, Thing.OUTERWEAR, Thing.TROUSERS, Thing.SKIRT, Thing.DRESS, Thing.HOSE, Thing.SHOES, Thing.BAG)

Masks = NDArray[np.uint8]


@dataclass(frozen=True)
class Look:
    """What MediaPipe's networks say of a photo.

    Attributes:
        pose_mask: ``(height, width)``, the pose network's mask, 0 to 255.
        people: The selfie network's.
        landmarks: ``(33, 2)``, pixels of the photo.
    """

    pose_mask: Masks
    people: Masks
    landmarks: NDArray[np.float32]

    @property
    def window(self) -> Window:
        """What the parser would be shown of the photo."""
        return Window.around(self.pose_mask / np.float32(255), self.people / np.float32(255))


@dataclass(frozen=True)
class Sample:
    """One photo.

    Attributes:
        number: Of the set.
        photo: ``(height, width, 3)``.
        labels: ``(height, width)`` of `Thing`, or `IGNORED`.
        looks: What MediaPipe's networks say of it, and of the same photo mirrored, lighter and smaller.
    """

    number: int
    photo: Picture
    labels: Masks
    looks: tuple[Look, ...]

    @property
    def landmarks(self) -> NDArray[np.float32]:
        """``(33, 2)``, pixels of the photo."""
        return self.looks[0].landmarks

    def ended_at(self, row: int) -> Sample:
        """The photo as it would be had the frame ended there."""
        looks = tuple(Look(each.pose_mask[:row], each.people[:row], each.landmarks) for each in self.looks)
        return Sample(self.number, self.photo[:row], self.labels[:row], looks)


def prepared(path: Path = PREPARED) -> list[Sample]:
    """What `prepare` kept."""
    samples = []
    with np.load(path) as kept:
        for name in kept.files:
            if name[0] != "p":
                continue
            number = name[1:]
            photo = np.ascontiguousarray(cv2.imdecode(kept[name], cv2.IMREAD_COLOR)[..., ::-1])
            height, width = photo.shape[:2]
            masks = cv2.imdecode(kept[f"m{number}"], cv2.IMREAD_UNCHANGED)
            masks = cv2.resize(masks, (width, height * len(kept[f"l{number}"])), interpolation=cv2.INTER_LINEAR)
            looks = tuple(
                Look(*(np.ascontiguousarray(both[..., plane]) for plane in range(2)), landmarks)
                for both, landmarks in zip(np.split(masks, len(masks) // height), kept[f"l{number}"], strict=True)
            )
            samples.append(Sample(int(number), photo, cv2.imdecode(kept[f"c{number}"], cv2.IMREAD_UNCHANGED), looks))
    return samples


def prepare(ccp: Path, models: Path, path: Path = PREPARED) -> int:
    """Find poses and masks of all labelled photos; returns how many are kept."""
    names = json.loads((ccp / "label-names.json").read_text())
    thing_of = np.full(256, Thing.OTHER, np.uint8)
    for thing, words in NAMES.items():
        for word in words.split():
            thing_of[names.index(word)] = thing
    finder = PersonFinder(models, 1)
    kept: dict[str, NDArray[np.generic]] = {}
    for number in range(1, LABELLED + 1):
        source = ccp / "photos" / f"{number:04d}.jpg"
        if number in UNREADABLE or not source.is_file():
            continue
        photo = np.asarray(cv2.cvtColor(cv2.imread(str(source)), cv2.COLOR_BGR2RGB), np.uint8)
        labels = thing_of[cv2.imread(str(ccp / "labels" / f"{number:04d}.png"), cv2.IMREAD_GRAYSCALE)]
        sample = _repaired(_cropped(Sample(number, photo, labels, _looks(finder, photo))))
        # At half size, in steps of a tenth: masks are smooth, and there are four of each photo.
        masks = np.vstack([np.dstack([each.pose_mask, each.people, each.people]) for each in sample.looks])
        size = (sample.labels.shape[1] // 2, sample.labels.shape[0] // 2 * len(sample.looks))
        steps = np.rint(cv2.resize(masks, size, interpolation=cv2.INTER_AREA) / 25.5) * 25.5
        name = f"{number:04d}"
        kept[f"p{name}"] = cv2.imencode(".jpg", sample.photo[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 95])[1]
        kept[f"c{name}"] = cv2.imencode(".png", sample.labels)[1]
        kept[f"m{name}"] = cv2.imencode(".png", steps.astype(np.uint8), [cv2.IMWRITE_PNG_COMPRESSION, 9])[1]
        kept[f"l{name}"] = np.stack([each.landmarks for each in sample.looks])
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **kept)
    return len(kept) // 4


def _looks(finder: PersonFinder, photo: Picture) -> tuple[Look, ...]:
    """What MediaPipe's networks say of a photo as it is, mirrored, lighter, and at three quarters of its size."""
    height, width = photo.shape[:2]
    lighter = np.clip(photo * 1.1, 0, 255).astype(np.uint8)
    smaller = cv2.resize(photo, None, fx=0.75, fy=0.75, interpolation=cv2.INTER_AREA)
    looks = []
    for picture, mirrored in (
        (photo, False),
        (np.ascontiguousarray(photo[:, ::-1]), True),
        (lighter, False),
        (smaller, False),
    ):
        person = rough(finder, np.asarray(picture, np.uint8))
        masks = [
            cv2.resize(np.rint(255 * each).astype(np.uint8), (width, height)) for each in (person.mask, person.people)
        ]
        landmarks = (person.landmarks[:, :2] + 0.5) * (width / picture.shape[1]) - 0.5
        if mirrored:
            masks = [np.ascontiguousarray(each[:, ::-1]) for each in masks]
            landmarks = landmarks[MIRRORED] * [-1, 1] + [width - 1, 0]
        looks.append(Look(*masks, landmarks.astype(np.float32)))
    return tuple(looks)


def rough(finder: PersonFinder, photo: Picture) -> Person:
    """What MediaPipe's networks say of a photo, as the engine hears it before it parses."""
    found = finder.detect(photo, 0.3)
    return finder.look(photo, found[0] if found else None)


def _cropped(sample: Sample) -> Sample:
    """The person with half of its size of ground, at `KEPT_HEIGHT`."""
    person = (sample.labels != Thing.GROUND) | (sample.looks[0].pose_mask > 128)
    left, top, across, down = cv2.boundingRect(person.astype(np.uint8))
    height, width = sample.labels.shape
    left, right = max(int(left - 0.35 * across), 0), min(int(left + 1.35 * across), width)
    top, bottom = max(int(top - 0.15 * down), 0), min(int(top + 1.15 * down), height)
    scale = min(KEPT_HEIGHT / (bottom - top), 1.0)
    size = (round((right - left) * scale), round((bottom - top) * scale))
    box = np.s_[top:bottom, left:right]
    smooth = lambda picture: np.asarray(cv2.resize(picture[box], size, interpolation=cv2.INTER_AREA), np.uint8)  # noqa: E731
    looks = tuple(
        Look(
            smooth(each.pose_mask),
            smooth(each.people),
            ((each.landmarks - [left, top] + 0.5) * scale - 0.5).astype(np.float32),
        )
        for each in sample.looks
    )
    labels = cv2.resize(sample.labels[box], size, interpolation=cv2.INTER_NEAREST)
    return Sample(sample.number, smooth(sample.photo), np.asarray(labels, np.uint8), looks)


def _repaired(sample: Sample) -> Sample:
    """With the set's two commonest mistakes put right.

    A "dress" that begins below the waist and has a top above it is a skirt; "trousers" that end at the hips are denim
    that is worn outside.
    """
    labels, rows = sample.labels.copy(), sample.landmarks[:, 1]
    shoulders = rows[[Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER]].mean()
    hips = rows[[Landmark.LEFT_HIP, Landmark.RIGHT_HIP]].mean()
    torso, least = max(float(hips - shoulders), 1.0), 0.003 * labels.size
    dress = labels == Thing.DRESS
    if dress.sum() > least:
        per_row = dress.sum(axis=1)
        first = int(np.argmax(per_row >= max(3.0, 0.12 * per_row.max())))
        tops = np.isin(labels[:first], (Thing.TOP, Thing.OUTERWEAR)).sum()
        if first > shoulders + 0.5 * torso and tops > 0.25 * dress.sum():
            labels[dress] = Thing.SKIRT
    count, parts, stats, centres = cv2.connectedComponentsWithStats((labels == Thing.TROUSERS).astype(np.uint8))
    for part in range(1, count):
        lowest = stats[part, cv2.CC_STAT_TOP] + stats[part, cv2.CC_STAT_HEIGHT]
        if (
            stats[part, cv2.CC_STAT_AREA] > least
            and lowest < hips + 0.15 * torso
            and centres[part][1] < shoulders + 0.75 * torso
        ):
            labels[parts == part] = Thing.OUTERWEAR
    return replace(sample, labels=labels)


@dataclass
class Augmenter:
    """Makes other photos of the ones there are: framed, lit, dressed and set before grounds of other kinds.

    Attributes:
        chance: Where all randomness comes from.
    """

    chance: np.random.Generator

    def drawn(self, sample: Sample) -> tuple[NDArray[np.uint8], NDArray[np.uint8], Masks]:
        """What the network sees of it, once and again.

        Returns:
            The input, ``(PLANES, HEIGHT, WIDTH)``; its planes beside the picture as another look has them,
            ``(PLANES - 3, HEIGHT, WIDTH)``; and the labels, ``(HEIGHT, WIDTH)``.
        """
        chance = self.chance
        sample = self._framed(sample)
        one, other = (sample.looks[int(chance.integers(len(sample.looks)))] for _ in range(2))
        matrix = self._placed(one.window)
        size, smooth = (WIDTH, HEIGHT), cv2.INTER_LINEAR
        photo = cv2.warpAffine(sample.photo, matrix, size, flags=smooth, borderValue=[BEYOND] * 3)
        labels = cv2.warpAffine(sample.labels, matrix, size, flags=cv2.INTER_NEAREST, borderValue=IGNORED)
        if chance.random() < BARED:
            photo, labels = self._bared(photo, labels)
        if chance.random() < 0.6:
            photo = self._recoloured(photo, labels)
        if chance.random() < 0.55:
            photo = self._grounded(photo, labels)
        photo = photographed(photo, chance)
        beside, beside_other = self._beside(one, matrix), self._beside(other, matrix)
        return np.concatenate([photo.transpose(2, 0, 1), beside]), beside_other, labels

    def _beside(self, look: Look, matrix: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Masks and limbs, as unsure as they come; at times without some of them."""
        chance = self.chance
        masks = [
            cv2.warpAffine(each, matrix, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR)
            for each in (look.pose_mask, look.people)
        ]
        jitter = chance.normal(size=(33, 2)) * chance.choice([0.5, 1.5, 3.0])
        limbs = drawn_limbs(
            (look.landmarks @ matrix[:, :2].T + matrix[:, 2] + jitter).astype(np.float32), np.eye(3)[:2]
        )
        for mask in masks:
            if chance.random() < 0.08:
                mask[:] = 0
        if chance.random() < 0.05:
            limbs[:] = 0
        return np.concatenate([np.stack(masks), limbs])

    def _framed(self, sample: Sample) -> Sample:
        """A third of the photos end between hips and shins."""
        rows = sample.landmarks[:, 1]
        hips = float(rows[[Landmark.LEFT_HIP, Landmark.RIGHT_HIP]].mean())
        shins = float(rows[[Landmark.LEFT_ANKLE, Landmark.RIGHT_ANKLE]].mean())
        height = len(sample.photo)
        if self.chance.random() > 0.33 or not 0.2 * height < hips < height - 8:
            return sample
        return sample.ended_at(
            int(np.clip(hips + self.chance.uniform(0.05, 0.9) * (shins - hips), 0.35 * height, height))
        )

    def _placed(self, window: Window) -> NDArray[np.float64]:
        chance = self.chance
        matrix = np.vstack([window.matrix, [0, 0, 1]])
        size, turn = np.exp(chance.normal() * 0.12 - 0.02), chance.normal() * 0.07
        across = size * np.exp(chance.normal() * 0.05) * (-1 if chance.random() < 0.5 else 1)
        move = [[1, 0, -WIDTH / 2 + chance.normal() * 8], [0, 1, -HEIGHT / 2 + chance.normal() * 8], [0, 0, 1]]
        turned = [
            [across * np.cos(turn), -size * np.sin(turn), 0],
            [across * np.sin(turn), size * np.cos(turn), 0],
            [0, 0, 1],
        ]
        back = [[1, 0, WIDTH / 2], [0, 1, HEIGHT / 2], [0, 0, 1]]
        return np.asarray((np.array(back) @ turned @ move @ matrix)[:2])

    def _recoloured(self, photo: Picture, labels: Masks) -> Picture:
        """One to three kinds of clothes in other colours: white, black, that of skin, any; plain or with a pattern."""
        chance, drawn = self.chance, photo.astype(np.float32)
        there = [thing for thing in CLOTHES if (labels == thing).sum() > 80]
        for thing in chance.permutation(there)[: int(chance.integers(1, 4))]:
            region = labels == thing
            kind, softness = chance.random(), 1.0
            if kind < 0.22:
                colour = np.full(3, chance.uniform(205, 250)) + chance.normal(size=3) * 4
                softness = 0.35
            elif kind < 0.38:
                colour = np.full(3, chance.uniform(15, 60)) + chance.normal(size=3) * 4
            elif kind < 0.56 and (labels == Thing.SKIN).sum() > 60:
                colour = (
                    np.median(photo[labels == Thing.SKIN], axis=0) * chance.uniform(0.8, 1.25)
                    + chance.normal(size=3) * 8
                )
            else:
                colour = chance.uniform(10, 245, 3)
            drawn = recoloured(photo, drawn, region, colour, softness=softness, chance=chance)
        return np.clip(drawn, 0, 255).astype(np.uint8)

    def _bared(self, photo: Picture, labels: Masks) -> tuple[Picture, Masks]:
        """A shorter top over bare skin: few people of the set show their midriff."""
        chance, skin = self.chance, labels == Thing.SKIN
        top = labels == Thing.TOP
        rows = np.flatnonzero(top.any(axis=1))
        if len(rows) < 20 or skin.sum() < 60:
            return photo, labels
        slant = chance.normal() * 0.1 * (np.arange(labels.shape[1]) - labels.shape[1] / 2)
        bare = top & (np.arange(len(labels))[:, None] > chance.uniform(rows[0] + 0.4 * len(rows), rows[-1]) + slant)
        if bare.sum() < 40:
            return photo, labels
        calm = np.asarray(cv2.GaussianBlur(photo, (0, 0), 4), np.uint8)
        colour = np.median(photo[skin], axis=0) * chance.uniform(0.9, 1.1)
        drawn = recoloured(calm, photo.astype(np.float32), bare, colour, softness=0.4, plain=True, chance=chance)
        return np.clip(drawn, 0, 255).astype(np.uint8), np.where(bare, np.uint8(Thing.SKIN), labels)

    def _grounded(self, photo: Picture, labels: Masks) -> Picture:
        """Before another ground, most often a plain one as in a catalogue, with what light does there."""
        return laid_before(made_ground(labels.shape, self.chance), photo, labels != Thing.GROUND, self.chance)


def split(samples: list[Sample], held_out: int) -> tuple[list[Sample], list[Sample]]:
    """Those to train with, and those whose number ends in this digit to judge by."""
    return [s for s in samples if s.number % 10 != held_out], [s for s in samples if s.number % 10 == held_out]


def batches(samples: list[Sample], size: int, seed: int) -> Iterator[tuple[NDArray[np.uint8], ...]]:
    """Augmented samples without end: what `Augmenter.drawn` draws of each."""
    chance = np.random.default_rng(seed)
    augmenter = Augmenter(chance)
    while True:
        order = chance.permutation(len(samples))
        for start in range(0, len(order) - size + 1, size):
            drawn = [augmenter.drawn(samples[number]) for number in order[start : start + size]]
            yield tuple(np.stack(each) for each in zip(*drawn, strict=True))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ccp", type=Path, required=True)
    arguments.add_argument("--models", type=Path, default=Path(".models"))
    given = arguments.parse_args()
    cv2.setNumThreads(1)
    print(prepare(given.ccp, given.models), "photos kept in", PREPARED)
