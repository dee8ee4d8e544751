"""Write the trained network as the engine's file: ``python -m training.garment.export --to garment.onnx``."""

from __future__ import annotations

from pathlib import Path

from engines.garment.network import SIZE
from training.export import asked, export
from training.garment.train import CHECKPOINT, garment_network

EXPORTED = Path("out/training/garment.onnx")

if __name__ == "__main__":
    given = asked(__doc__, CHECKPOINT, EXPORTED)
    differs = export(garment_network(given.models), given.checkpoint, (3, SIZE, SIZE), given.to)
    print(f"{given.to}: {given.to.stat().st_size / 1e6:.1f} MB; answers differ by {differs:.4f} at most")
