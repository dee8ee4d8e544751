"""Writes the samples as the JPEGs that the dashboard's playground offers: ``python -m cli.samples FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

from cli.samples import SAMPLES, draw_sample, sample_person

LONGER_SIDE = 768
"""Pixels: enough to see the cloth, and some 60 KB a picture."""

QUALITY = 82


def write_samples(folder: Path) -> None:
    """Write ``portrait.jpg`` and one file for each garment."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {"portrait": sample_person(), **{name: draw_sample(name) for name in SAMPLES}}
    for name, pixels in pictures.items():
        image = Image.fromarray(pixels)
        scale = LONGER_SIDE / max(image.size)
        size = (round(scale * image.width), round(scale * image.height))
        image.resize(size, Image.Resampling.LANCZOS).save(folder / f"{name}.jpg", quality=QUALITY, optimize=True)


if __name__ == "__main__":
    write_samples(Path(sys.argv[1]))
