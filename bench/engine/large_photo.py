"""What a photo of a camera's size costs in time and memory: in a process of its own, so that nothing else counts."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from bench.engine.pairs import Outcome, outcomes
from bench.figures import Figure
from cli.studio import Studio
from runtime.settings import load_settings
from workflows.contracts import GarmentHints

MEGAPIXELS = 12


@dataclass(frozen=True)
class Spent:
    """What one pair cost at two sizes: milliseconds, and the process's largest memory so far in MB."""

    segment_ms: float
    render_ms: float
    usual_mb: float
    large_mb: float


def measure(folder: Path, only: str) -> list[Figure]:
    """Figures of the folder's first pair with its photo enlarged; none where no pair can be rendered."""
    # Before this process has grown: a new process counts the memory of the one that started it as its own.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
        spent = apart.submit(_spend, folder, only).result()
    if spent is None:
        return []
    size = f"{MEGAPIXELS} MP photo"
    return [
        Figure.of(f"{size}: find the person", "ms", [spent.segment_ms]),
        Figure.of(f"{size}: render", "ms", [spent.render_ms]),
        Figure.of("peak memory, one pair", "MB", [spent.usual_mb]),
        Figure.of(f"peak memory, {size}", "MB", [spent.large_mb]),
    ]


def _spend(folder: Path, only: str) -> Spent | None:
    studio = Studio(load_settings())
    first = next((outcome for outcome in outcomes(studio, folder, only) if outcome.result is not None), None)
    if first is None:
        return None
    usual_mb = _peak_mb()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "large.jpg"
        _enlarged(first).save(path, quality=90)
        person = studio.person(path)
    garment = studio.garment(first.garment_path, first.category, GarmentHints())
    began = time.monotonic()
    studio.render(person, [garment])
    return Spent(person.segment_ms, 1000 * (time.monotonic() - began), usual_mb, _peak_mb())


def _enlarged(outcome: Outcome) -> Image.Image:
    image = Image.fromarray(outcome.person.photo)
    factor = (MEGAPIXELS * 1e6 / (image.width * image.height)) ** 0.5
    return image.resize((round(image.width * factor), round(image.height * factor)), Image.Resampling.BICUBIC)


def _peak_mb() -> float:
    """Largest resident memory of this process so far; macOS counts it in bytes, Linux in kibibytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
