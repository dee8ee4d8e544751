"""``python -m bench.engine.gallery FOLDER``: every sensible pair on one page, with its figures."""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path

from PIL import Image

from bench.engine.pairs import Outcome, outcomes
from cli.studio import Studio
from engines.base import Picture
from runtime.settings import load_settings

HEIGHT = 640
"""Pixels of each picture on the page; the full one is behind it."""

STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 24px; background: #fafafa; color: #222 }
section { display: flex; flex-wrap: wrap; gap: 16px }
figure { margin: 0; padding: 8px; background: #fff; border: 1px solid #ddd; border-radius: 4px }
figure img { height: 320px; width: auto }
figcaption { max-width: 640px; font-size: 12px; color: #555 }
.refused { background: #fff4f0 }
"""


def main() -> None:
    """Render, write the pictures and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="holds person/ and any of upper/, lower/, full/")
    parser.add_argument("--out", type=Path, default=Path("out/gallery"))
    parser.add_argument("--only", default="", help="pairs whose name contains this")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    figures: dict[str, list[str]] = {}
    for outcome in outcomes(Studio(load_settings()), arguments.folder, arguments.only):
        print(f"{outcome.name}: {outcome.refusal or f'{outcome.seconds:.1f} s'}", flush=True)
        figures.setdefault(outcome.category, []).append(_figure(outcome, arguments.out))
    page = arguments.out / "index.html"
    page.write_text(_page(figures), encoding="utf-8")
    print(f"written to {page}")


def _figure(outcome: Outcome, out: Path) -> str:
    """Photo, garment and result, written beside the page."""
    pictures = {"person": outcome.person.photo, "garment": outcome.garment}
    if outcome.result is not None:
        pictures["result"] = outcome.result.picture
    images = "".join(_image(picture, f"{outcome.name}--{what}", out) for what, picture in pictures.items())
    if outcome.result is None:
        caption = f"refused: {outcome.refusal}"
    else:
        checks = ", ".join(f"{name} {figure:.3g}" for name, figure in outcome.result.checks.items())
        caption = f"{outcome.seconds:.1f} s; {checks}"
    refused = ' class="refused"' if outcome.result is None else ""
    return f"<figure{refused}>{images}<figcaption>{escape(outcome.name)}<br>{escape(caption)}</figcaption></figure>"


def _image(picture: Picture, name: str, out: Path) -> str:
    whole, small = out / f"{name}.jpg", out / f"{name}--small.jpg"
    image = Image.fromarray(picture)
    image.save(whole, quality=95)
    image.thumbnail((10 * HEIGHT, HEIGHT), Image.Resampling.LANCZOS)
    image.save(small, quality=88)
    return f'<a href="{escape(whole.name)}"><img loading="lazy" src="{escape(small.name)}" alt=""></a>'


def _page(figures: dict[str, list[str]]) -> str:
    sections = "".join(
        f"<h2>{escape(category)} ({len(items)})</h2><section>{''.join(items)}</section>"
        for category, items in figures.items()
    )
    head = f'<!doctype html><meta charset="utf-8"><title>Gallery</title><style>{STYLE}</style>'
    return f"{head}<h1>Gallery</h1>{sections}\n"


if __name__ == "__main__":
    main()
