"""Write the trained parser as the file that the engine reads: ``python -m training.parser.export --to parser.onnx``."""

from __future__ import annotations

from pathlib import Path

from engines.person.parser import HEIGHT, PLANES, WIDTH
from training.export import asked, export
from training.parser.train import CHECKPOINT, parser_network

EXPORTED = Path("out/training/parser.onnx")

if __name__ == "__main__":
    given = asked(__doc__, CHECKPOINT, EXPORTED)
    differs = export(parser_network(given.models), given.checkpoint, (PLANES, HEIGHT, WIDTH), given.to)
    print(f"{given.to}: {given.to.stat().st_size / 1e6:.1f} MB; answers differ by {differs:.4f} at most")
