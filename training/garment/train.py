"""Train the garment's network: ``python -m training.garment.train --minutes 60 --start engines/person/parser.onnx``.

It begins with the parser's weights, which know cloth from ground, and goes on with its own when they are given.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from engines.garment.network import REDUCED, WHOLE, Kind, Part, Point
from training.exported import load_exported
from training.fitting import DEVICE, asked, drawn, fit
from training.garment.data import IGNORED, PREPARED, batches, prepared, split
from training.network import PoseUNet
from training.parser.train import soft_jaccard

CHECKPOINT = Path("out/training/garment.pt")
MARKED = 0.75
"""Share of a batch's photos that have marks; of the others only the kind is known."""

HEAT = 1.6
"""Standard deviation of a landmark's heat, in pixels of the answer."""


def garment_network(models: Path) -> PoseUNet:
    """A network of the form of the garment's."""
    return PoseUNet(models / "pose_landmark_full.tflite", 3, len(Part) + len(Point), WHOLE)


def losses(answer: tuple[Tensor, Tensor, Tensor], parts: Tensor, points: Tensor, kinds: Tensor) -> Tensor:
    """Cross entropy and soft Jaccard of the parts, of each landmark's place and whether it is there, and of the kind.

    Args:
        answer: Of the network, while training.
        parts: ``(n, side, side)`` of `Part` or `IGNORED`.
        points: ``(n, len(Point), 2)`` pixels of the input, nan where there are none.
        kinds: ``(n,)`` of `Kind` or `IGNORED`.
    """
    logits, whole, coarse = answer
    fine = parts[:, ::REDUCED, ::REDUCED]
    found = logits[:, : len(Part)]
    loss = F.cross_entropy(found, fine, ignore_index=IGNORED) + 0.6 * soft_jaccard(found, fine)
    loss = loss + 0.3 * F.cross_entropy(coarse[:, : len(Part)], parts[:, 4::8, 4::8], ignore_index=IGNORED)
    marked = (parts != IGNORED).flatten(1).any(1)
    side = parts.shape[1]
    there = points.isfinite().all(2) & (points.nan_to_num(-1.0) >= 0).all(2) & (points.nan_to_num(-1.0) < side).all(2)
    for maps, reduced, share in ((logits, REDUCED, 0.25), (coarse, 8, 0.1)):
        wanted = _heat((points.nan_to_num() + 0.5) / reduced - 0.5, maps.shape[-1])
        told = -(wanted * maps[:, len(Part) :].flatten(2).log_softmax(2)).sum(2)
        loss = loss + share * (told * there).sum() / there.sum().clamp(min=1)
    shown = F.binary_cross_entropy_with_logits(whole[:, len(Kind) :], there.float(), reduction="none")
    loss = loss + 0.3 * (shown.mean(1) * marked).sum() / marked.sum().clamp(min=1)
    return loss + 0.3 * F.cross_entropy(whole[:, : len(Kind)], kinds, ignore_index=IGNORED)


def _heat(points: Tensor, side: int) -> Tensor:
    """``(n, points, side * side)``: a warm place at each point, together 1."""
    along = torch.arange(side, dtype=torch.float32, device=points.device)
    columns, rows = (torch.exp(-0.5 * ((along - points[..., axis, None]) / HEAT) ** 2) for axis in range(2))
    heat = (rows[..., :, None] * columns[..., None, :]).flatten(2)
    return heat / heat.sum(2, keepdim=True).clamp(min=1e-6)


def train(minutes: float, models: Path, start: Path | None = None, batch: int = 16, workers: int = 0) -> None:
    """Train for so long, in all sessions together; from the weights of an exported network where one is given."""
    torch.manual_seed(0)
    samples, _ = split(prepared(PREPARED))
    network, marked = garment_network(models), round(MARKED * batch)
    if start is not None:
        some = (torch.from_numpy(seen).float() for seen, *_ in batches(samples, marked, batch - marked, 500))
        load_exported(network, start, list(islice(some, 4)))
    network.to(DEVICE, memory_format=torch.channels_last)
    told = sum(s.points is not None for s in samples)
    print(told, "marked of", len(samples), "photos;", sum(p.numel() for p in network.parameters()), "parameters")
    source = drawn(lambda seed: batches(samples, marked, batch - marked, seed), workers)

    def loss_of_next() -> Tensor:
        seen, parts, points, kinds = next(source)
        answer = network(seen.float().contiguous(memory_format=torch.channels_last))
        first, second, third = (each.float() for each in answer)
        return losses((first, second, third), parts.long(), points, kinds)

    fit(network, loss_of_next, minutes, CHECKPOINT, again=start is not None)


if __name__ == "__main__":
    given = asked(__doc__)
    train(given.minutes, given.models, given.start, given.batch, given.workers)
