"""Set B, and one way of rendering it beside another: what a mechanism does on pictures that nobody tuned it on.

``draw`` chooses the set once, at random; ``render`` draws every pair, with mechanisms switched off where that is asked
for; ``sheet`` lays two renderings side by side, left and right shuffled, for people who grade them without knowing
which is which.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from PIL import Image

from bench.engine.pairs import FOLDERS, legs_are_seen, pictures_in
from bench.engine.sheets import Strip, sheet, thumbnail
from cli.studio import Person, Studio, sentence_of
from engines.base import Category, EngineError
from imaging.decode import decode_image
from imaging.errors import ImageError
from imaging.limits import ImageLimits
from runtime.settings import load_settings
from workflows.contracts import GarmentHints

SET = Path(__file__).with_name("set-b.csv")
SEED = 14
PAIRS = {Category.UPPER_BODY: 33, Category.LOWER_BODY: 16, Category.FULL_BODY: 16}
PHONE_EVERY = 3
"""Each so many-th garment is one that somebody photographed at home."""

KINDS = {
    Category.UPPER_BODY: {
        "Blazer",
        "Blouse",
        "Hoodie",
        "Longsleeve",
        "Outwear",
        "Polo",
        "Shirt",
        "T-Shirt",
        "Top",
        "Undershirt",
    },
    Category.LOWER_BODY: {"Pants", "Shorts", "Skirt"},
    Category.FULL_BODY: {"Dress"},
}
"""Of ``clothing/labels.csv``."""

TAUGHT = 1004
"""People of ``ccp/`` up to this number have labels, and train networks."""

ON_A_SHEET = 11


@dataclass(frozen=True)
class Pair:
    """A person in a garment; files below the folder of the pictures."""

    person: Path
    garment: Path
    category: Category

    @property
    def name(self) -> str:
        """Unlike every other pair's, fit for a file."""
        return f"{self.category}--{self.garment.stem}--{self.person.stem}"


def drawn(pictures: Path, studio: Studio) -> Iterator[Pair]:
    """Everybody and every garment once at most; trousers and dresses for people whose knees are seen."""
    chance = random.Random(SEED)
    people = [*pictures_in(pictures / "samples-3/person")]
    people += [path for path in pictures_in(pictures / "ccp/photos") if int(path.stem) > TAUGHT]
    chance.shuffle(people)
    with (pictures / "clothing/labels.csv").open(newline="") as file:
        kinds = [(pictures / "clothing" / row["file"], row["label"]) for row in csv.DictReader(file)]
    folders = {category: name for name, category in FOLDERS.items()}
    for category, count in PAIRS.items():
        shop, phone = (
            pictures_in(pictures / "samples-3" / folders[category]),
            [path for path, kind in kinds if kind in KINDS[category]],
        )
        chance.shuffle(shop)
        chance.shuffle(phone)
        for number in range(count):
            person = _fitting(people, studio, whole=category is not Category.UPPER_BODY)
            yield Pair(
                person.relative_to(pictures),
                (phone if number % PHONE_EVERY == 0 else shop).pop().relative_to(pictures),
                category,
            )


def _fitting(people: list[Path], studio: Studio, *, whole: bool) -> Path:
    """Take the next one who can be dressed off the list."""
    for path in people:
        try:
            found = studio.person(path)
        except (EngineError, ImageError):
            continue
        if not whole or legs_are_seen(found.person_map):
            people.remove(path)
            return path
    raise ValueError("there are not people enough")


def read_set(path: Path = SET) -> list[Pair]:
    """The set as it was drawn."""
    with path.open(newline="") as file:
        return [
            Pair(Path(row["person"]), Path(row["garment"]), Category(row["category"])) for row in csv.DictReader(file)
        ]


@contextmanager
def switched_off(names: Sequence[str]) -> Iterator[None]:
    """Functions named ``module:function=n`` give back their n-th argument as it came, counted from 0."""
    with ExitStack() as stack:
        for name in names:
            place, _, number = name.partition("=")
            module_name, _, function = place.partition(":")
            replaced = getattr(importlib.import_module(module_name), function)
            for module in _holders(module_name, replaced, function):
                stack.enter_context(
                    mock.patch.object(module, function, lambda *given, which=int(number or 0), **_: given[which])
                )
        yield


def _holders(module_name: str, replaced: Any, function: str) -> list[Any]:
    """Every module that has the function under its name: those that import it keep their own."""
    top = module_name.partition(".")[0]
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith(top) and getattr(module, function, None) is replaced
    ]


def render(pictures: Path, out: Path, studio: Studio, only: str = "") -> dict[str, str]:
    """Draw every pair into a folder; returns the refusals by pair."""
    out.mkdir(parents=True, exist_ok=True)
    refusals: dict[str, str] = {}
    people: dict[Path, Person] = {}
    for pair in read_set():
        if only not in pair.name:
            continue
        try:
            if pair.person not in people:
                people[pair.person] = studio.person(pictures / pair.person)
            garment = studio.garment(pictures / pair.garment, pair.category, GarmentHints())
            Image.fromarray(studio.render(people[pair.person], [garment]).picture).save(out / f"{pair.name}.png")
        except Exception as error:  # noqa: BLE001  # a fault is a finding too
            told = isinstance(error, (EngineError, ImageError))
            refusals[pair.name] = sentence_of(error) if told else f"{type(error).__name__}: {error}"
            print(f"{pair.name}: {refusals[pair.name]}", flush=True)
    (out / "refusals.json").write_text(json.dumps(refusals, indent=1))
    return refusals


def sheets(pictures: Path, one: Path, other: Path, out: Path, seed: int) -> None:
    """Photo, garment and both results of every pair that is not the same in both; which is which is in ``key.json``."""
    chance, key, strips, limits = random.Random(seed), {}, [], ImageLimits()
    for pair in read_set():
        found = [folder / f"{pair.name}.png" for folder in (one, other)]
        there = [path.read_bytes() if path.is_file() else b"" for path in found]
        if there[0] == there[1]:
            continue
        turned = chance.random() < 0.5
        key[pair.name] = {"left": str((other if turned else one).name), "right": str((one if turned else other).name)}
        inputs = [decode_image((pictures / path).read_bytes(), limits) for path in (pair.person, pair.garment)]
        results = [
            decode_image(data, limits) if data else inputs[0] * 0 + 255 for data in (there[::-1] if turned else there)
        ]
        strips.append(Strip(tuple(map(thumbnail, [*inputs, *results])), f"{len(key)}  {pair.name}"))
    out.mkdir(parents=True, exist_ok=True)
    for number in range(0, len(strips), ON_A_SHEET):
        sheet(strips[number : number + ON_A_SHEET]).save(out / f"sheet-{number // ON_A_SHEET + 1}.jpg", quality=92)
    (out / "key.json").write_text(json.dumps(key, indent=1))
    print(f"{len(key)} of {len(read_set())} pairs differ; sheets in {out}")


def main() -> None:
    """What the command line asks for."""
    settings = load_settings()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("draw", "render", "sheet"))
    parser.add_argument("pictures", type=Path, help="holds ccp/, clothing/ and samples-3/")
    parser.add_argument(
        "folders", type=Path, nargs="*", help="render: where to; sheet: the two renderings, and where to"
    )
    parser.add_argument(
        "--without", action="append", default=[], metavar="MODULE:FUNCTION=N", help="render: switch it off"
    )
    parser.add_argument("--only", default="", help="render: pairs whose name contains this")
    parser.add_argument("--seed", type=int, default=0, help="sheet: how sides are shuffled")
    given = parser.parse_args()
    if len(given.folders) != {"draw": 0, "render": 1, "sheet": 3}[given.what]:
        parser.error("render takes one folder, sheet takes three")
    if given.what == "draw":
        with SET.open("w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(("person", "garment", "category"))
            rows.writerows(
                (pair.person, pair.garment, pair.category) for pair in drawn(given.pictures, Studio(settings))
            )
    elif given.what == "render":
        with switched_off(given.without):
            render(given.pictures, given.folders[0], Studio(settings), given.only)
    else:
        one, other, out = given.folders
        sheets(given.pictures, one, other, out, given.seed)


if __name__ == "__main__":
    main()
