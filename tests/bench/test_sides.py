"""Set B is what the design asks for, and switching a mechanism off reaches everybody who calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from bench.engine import sides
from bench.engine.sides import TAUGHT, Pair, read_set, switched_off
from engines import regions
from engines.base import Category
from engines.person import segmenter


def test_nobody_and_no_garment_is_there_twice_and_nobody_trained_a_network() -> None:
    pairs = read_set()
    assert len({pair.person for pair in pairs}) == len({pair.garment for pair in pairs}) == len(pairs) >= 60
    assert all(int(pair.person.stem) > TAUGHT for pair in pairs if pair.person.parts[0] == "ccp")
    at_home = sum(pair.garment.parts[0] == "clothing" for pair in pairs)
    assert 3 * at_home >= len(pairs)
    assert {pair.category for pair in pairs} == set(Category)


def test_a_mechanism_is_off_wherever_its_name_is_known_and_comes_back() -> None:
    function = regions.labelled_as
    with switched_off(["engines.regions:labelled_as=1"]):
        for module in (regions, segmenter):
            assert module.labelled_as("first", "second", other=3) == "second"
    assert regions.labelled_as is segmenter.labelled_as is function


def test_only_what_differs_is_laid_side_by_side_and_the_key_tells_which_is_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [Pair(Path("person.png"), Path(f"garment{n}.png"), Category.UPPER_BODY) for n in range(3)]
    monkeypatch.setattr(sides, "read_set", lambda: pairs)
    for folder, colour in (("one", "red"), ("other", "blue")):
        (tmp_path / folder).mkdir()
        for pair in pairs[:2]:
            same = pair is pairs[0]
            Image.new("RGB", (300, 400), "white" if same else colour).save(tmp_path / folder / f"{pair.name}.png")
    for path in {pairs[0].person, *(pair.garment for pair in pairs)}:
        Image.new("RGB", (300, 400), "grey").save(tmp_path / path)
    sides.sheets(tmp_path, tmp_path / "one", tmp_path / "other", tmp_path / "sheets", 0)
    key = json.loads((tmp_path / "sheets/key.json").read_text())
    assert list(key) == [pairs[1].name]
    sheet = Image.open(tmp_path / "sheets/sheet-1.jpg").convert("RGB")
    width = 240 + 12
    colours = {side: sheet.getpixel((12 + (2 + n) * width + 100, 100)) for n, side in enumerate(("left", "right"))}
    for side, colour in colours.items():
        assert isinstance(colour, tuple)
        assert (colour[0] > 200) == (key[pairs[1].name][side] == "one")
