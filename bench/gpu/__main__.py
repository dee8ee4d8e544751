"""``python -m bench.gpu``: the networks at full size with random weights on this machine's GPU."""

from __future__ import annotations

import argparse
from functools import partial
from itertools import chain
from pathlib import Path

import torch

from bench.figures import table, write_json
from bench.gpu import fashn, klein
from bench.gpu.device import name_of

OUT = Path("out/bench-gpu.json")


def main() -> None:
    """Measure both engines, print a table with the GPU's name, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    if torch.device(arguments.device).type != "cuda" or not torch.cuda.is_available():
        raise SystemExit("Networks of this size are measured on a CUDA GPU alone, not on a CPU.")
    from engines.fashn.checkpoint import full_size as full_fashn
    from engines.klein.full_size import full_size as full_klein

    device = torch.device(arguments.device)
    gpu = name_of(arguments.device)
    figures = []
    for figure in chain(
        klein.measure(partial(full_klein, device, torch.bfloat16), arguments.device),
        fashn.measure(partial(full_fashn, device=device, dtype=torch.bfloat16), arguments.device),
    ):
        print(f"{figure.name}: {figure.p50:g} {figure.unit}", flush=True)
        figures.append(figure)
        # Written each time: compiling takes minutes, and a machine may be lent for a few alone.
        write_json(arguments.out, figures, {"gpu": gpu, "torch": torch.__version__, "weights": "random"})
    print(f"{gpu}, torch {torch.__version__}, random weights")
    print(table(figures))
    print(f"written to {arguments.out}")


if __name__ == "__main__":
    main()
