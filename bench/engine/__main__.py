"""``python -m bench.engine FOLDER``: how true the embedded engine's pictures are, how fast, and sheets to look at.

The folder holds ``person`` and any of ``upper``, ``lower`` and ``full``. Everybody is dressed in everything that
makes sense on them, and each picture is compared with the photo and with the garment, see `bench.engine.fidelity`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.engine import large_photo
from bench.engine.pairs import Outcome, outcomes
from bench.engine.sheets import Strip, sheet, thumbnail
from bench.engine.verdict import MEASURES, Laid, Row, Shop, judge, summary
from bench.figures import Figure, table, write_json
from cli.studio import Studio
from engines.base import EngineError, PersonMap, Picture
from engines.garment.network import GarmentNetwork
from engines.warp.about import WARP
from runtime.settings import load_settings

COVER, COLOURS = "mask_1", "drape_1"
"""Names under which the engine shows how it laid the first garment."""


class Watcher:
    """Keeps how the engine laid the garment in its latest render; the other steps are not drawn."""

    def __init__(self) -> None:
        self._pictures: dict[str, Picture] = {}

    def __call__(self, name: str, draw: Callable[[], Picture]) -> None:
        """What the engine calls at each step."""
        if name in (COVER, COLOURS):
            self._pictures[name] = draw()

    @property
    def laid(self) -> Laid:
        """Of the latest render."""
        return Laid(self._pictures[COVER], self._pictures[COLOURS])


class Session:
    """Everything that is gathered while pairs are rendered.

    Args:
        watcher: What the engine showed.
        look_again: The segmenter, for a look at the results.
    """

    def __init__(self, watcher: Watcher, look_again: Callable[[Picture], PersonMap]) -> None:
        self._watcher, self._look_again = watcher, look_again
        self._network = GarmentNetwork()
        self._shops: dict[Path, Shop] = {}
        self.rows: list[dict[str, Any]] = []
        self.strips: dict[str, list[Strip]] = {}
        self.refusals: Counter[str] = Counter()
        self.segment_ms: dict[Path, float] = {}
        self.render_ms: list[float] = []

    def refuse(self, path: Path, reason: str) -> None:
        """Somebody cannot be dressed at all."""
        print(f"{path.name}: {reason}", flush=True)
        self.refusals[reason.partition(":")[0]] += 1

    def take(self, outcome: Outcome) -> None:
        """Judge a pair and keep its pictures small."""
        row: dict[str, Any] = {"pair": outcome.name, "category": str(outcome.category), "refusal": outcome.refusal}
        pictures = [outcome.person.photo, outcome.garment]
        self.segment_ms[outcome.person_path] = outcome.person.segment_ms
        if outcome.result is None:
            self.refusals[outcome.refusal.partition(":")[0]] += 1
            print(f"{outcome.name}: {outcome.refusal}", flush=True)
        else:
            again = self._seen_again(outcome.result.picture)
            figures = judge(outcome, self._watcher.laid, self._shop(outcome), again)
            self.render_ms.append(1000 * outcome.seconds)
            row |= {"render_ms": round(1000 * outcome.seconds), **_rounded(figures)}
            pictures.append(outcome.result.picture)
            print(f"{outcome.name}: {_in_words(figures)}", flush=True)
        self.rows.append(row)
        caption = f"{outcome.garment_path.stem} on {outcome.person_path.stem}"
        strip = Strip(tuple(map(thumbnail, pictures)), f"{caption}  {outcome.refusal}")
        self.strips.setdefault(str(outcome.category), []).append(strip)

    def _seen_again(self, result: Picture) -> PersonMap | None:
        try:
            return self._look_again(result)
        except EngineError:
            return None

    def _shop(self, outcome: Outcome) -> Shop:
        if outcome.garment_path not in self._shops:
            self._shops[outcome.garment_path] = Shop.of(outcome.garment, outcome.category, self._network)
        return self._shops[outcome.garment_path]


def main() -> None:
    """Render, judge, write the sheets and the figures, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="holds person/ and any of upper/, lower/, full/")
    parser.add_argument("--out", type=Path, default=Path("out/bench-engine"))
    parser.add_argument("--only", default="", help="pairs whose name contains this")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every N-th of those pairs")
    arguments = parser.parse_args()
    if arguments.sample < 1:
        parser.error("--sample takes a number from 1")
    large = large_photo.measure(arguments.folder, arguments.only)
    watcher = Watcher()
    studio = Studio(load_settings(), watcher)
    session = Session(watcher, studio.map_of)
    for outcome in outcomes(studio, arguments.folder, arguments.only, arguments.sample, session.refuse):
        session.take(outcome)
    if not session.rows:
        parser.error(f"no pair in {arguments.folder} can be rendered")
    write(session, large, arguments.out)


def write(session: Session, large: Sequence[Figure], out: Path) -> None:
    """Sheets and JSON into a folder, a table to the terminal."""
    out.mkdir(parents=True, exist_ok=True)
    for category, strips in session.strips.items():
        sheet(strips).save(out / f"{category}.jpg", quality=88)
    by_category = {
        category: summary([row for row in session.rows if row["category"] == category]) for category in session.strips
    }
    speed = [Figure.of("find the person", "ms", list(session.segment_ms.values()))]
    if session.render_ms:
        speed.append(Figure.of("render", "ms", session.render_ms))
    speed += large
    more = {
        "engine": {"name": "warp", "revision": WARP.revision},
        "summary": by_category,
        "refusals": dict(session.refusals),
        "pairs": session.rows,
    }
    write_json(out / "engine.json", speed, more)
    print()
    for category, summed in by_category.items():
        print(f"{_fidelity_table(category, summed)}\n")
    print(table(speed))
    refused = ", ".join(f"{code} {count}" for code, count in session.refusals.most_common()) or "none"
    print(
        f"\n{len(session.rows)} pairs; refused: {refused}\nwritten to {out / 'engine.json'}, with a sheet per category"
    )


def _fidelity_table(category: str, summed: dict[str, dict[str, Any]]) -> str:
    rows = [(category, "pairs", "median", "worst", "goal", "worst pair")]
    for measure in MEASURES:
        if measure.name in summed:
            taken = summed[measure.name]
            figures = (str(taken["pairs"]), f"{taken['median']:.4f}", f"{taken['worst']:.4f}")
            rows.append((measure.title, *figures, measure.goal, taken["worst_pair"].partition("--")[2]))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _rounded(figures: Row) -> Row:
    return {name: None if figure is None else round(figure, 5) for name, figure in figures.items()}


def _in_words(figures: Row) -> str:
    return ", ".join(f"{name} {figure:.3g}" for name, figure in figures.items() if figure is not None)


if __name__ == "__main__":
    main()
