"""Train the garment's network: ``python -m training.garment.train --minutes 60 --start engines/person/parser.onnx``.

It begins with the parser's weights, which know cloth from ground, and goes on with its own when they are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from engines.garment.network import REDUCED, SIZE, WHOLE, Kind, Part, Point
from training.exported import load_exported
from training.fitting import asked, fit
from training.garment.data import IGNORED, PREPARED, batches, prepared, split
from training.network import PoseUNet
from training.parser.train import soft_jaccard

CHECKPOINT = Path("out/training/garment.pt")
MARKED, OTHERS = 12, 4
"""Of a batch: photos with marks, and photos of which only the kind is known."""

SMALL = 160
"""Side of the square in the first part of the training, at less than half the time a step."""

SMALL_UNTIL = 0.45

HEAT = 1.6
"""Standard deviation of a landmark's heat, in pixels of the answer."""

Batch = tuple[Tensor, Tensor, Tensor, Tensor]


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
    along = torch.arange(side, dtype=torch.float32)
    columns, rows = (torch.exp(-0.5 * ((along - points[..., axis, None]) / HEAT) ** 2) for axis in range(2))
    heat = (rows[..., :, None] * columns[..., None, :]).flatten(2)
    return heat / heat.sum(2, keepdim=True).clamp(min=1e-6)


def train(minutes: float, models: Path, start: Path | None = None, checkpoint: Path = CHECKPOINT) -> None:
    """Train for so long, in all sessions together; from the weights of an exported network where one is given."""
    torch.manual_seed(0)
    samples, _ = split(prepared(PREPARED))
    network = garment_network(models).to(memory_format=torch.channels_last)
    whole_ones = _sized(samples, 500, SIZE)
    if start is not None:
        load_exported(network, start, [next(whole_ones)[0] for _ in range(4)])
    small_ones = _sized(samples, 0, SMALL)
    told = sum(s.points is not None for s in samples)
    print(told, "marked of", len(samples), "photos;", sum(p.numel() for p in network.parameters()), "parameters")

    def loss_at(done: float) -> Tensor:
        seen, *truth = next(small_ones if done < SMALL_UNTIL else whole_ones)
        first, second, third = network(seen)
        return losses((first.float(), second.float(), third.float()), *truth)

    fit(network, loss_at, minutes, checkpoint, again=start is not None)


def _sized(samples: list, seed: int, side: int) -> Iterator[Batch]:  # type: ignore[type-arg]
    for photos, parts, points, kinds in batches(samples, MARKED, OTHERS, seed):
        seen, truth = torch.from_numpy(photos).float(), torch.from_numpy(parts)
        scaled = torch.from_numpy(points)
        if side != SIZE:
            seen = F.interpolate(seen, (side, side), mode="area")
            truth = F.interpolate(truth[:, None].float(), (side, side))[:, 0]
            scaled = (scaled + 0.5) * (side / SIZE) - 0.5
        yield (
            seen.contiguous(memory_format=torch.channels_last),
            truth.long(),
            scaled,
            torch.from_numpy(kinds).long(),
        )


if __name__ == "__main__":
    given = asked(__doc__)
    train(given.minutes, given.models, given.start)
