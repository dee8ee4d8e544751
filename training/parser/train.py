"""Train the parser: ``python -m training.parser.train --minutes 60``, on with ``--start parser.onnx``."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from engines.person.parser import PLANES, Thing
from training.exported import load_exported
from training.fitting import DEVICE, asked, drawn, fit
from training.network import PoseUNet
from training.parser.data import IGNORED, PREPARED, batches, prepared, split

CHECKPOINT = Path("out/training/parser.pt")
HELD_OUT = 3
"""Photos whose number ends in this digit judge and never train."""

MOVED, SCALED = 0.02, 0.04
"""Spreads of what a photo seen again is moved by, in frames, and scaled by."""

STEADY = 1.0
"""Weight of what a photo seen again is taken for something else."""


def parser_network(models: Path) -> PoseUNet:
    """A network of the parser's form; its one number about the whole picture is whether there is a dress."""
    return PoseUNet(models / "pose_landmark_full.tflite", PLANES, len(Thing), 1)


def losses(answer: tuple[Tensor, Tensor, Tensor], labels: Tensor, weights: Tensor) -> Tensor:
    """Cross entropy and soft Jaccard at half size, cross entropy at an eighth, and whether there is a dress."""
    logits, one_piece, coarse = answer
    fine = labels[:, ::2, ::2]
    entropy = F.cross_entropy(logits, fine, weights, ignore_index=IGNORED, label_smoothing=0.02)
    aside = F.cross_entropy(coarse, labels[:, 4::8, 4::8], weights, ignore_index=IGNORED)
    dressed = ((labels == Thing.DRESS).float().mean((1, 2)) > 0.01).float()
    whole = F.binary_cross_entropy_with_logits(one_piece[:, 0], dressed)
    return entropy + 0.6 * soft_jaccard(logits, fine) + 0.3 * aside + 0.1 * whole


def soft_jaccard(logits: Tensor, labels: Tensor) -> Tensor:
    """1 less the mean overlap of the classes that there are, where labels are known."""
    known = (labels != IGNORED)[:, None]
    chances = logits.softmax(1) * known
    truth = F.one_hot(labels.clamp(max=logits.shape[1] - 1), logits.shape[1]).permute(0, 3, 1, 2) * known
    met, either = (chances * truth).sum((0, 2, 3)), (chances + truth - chances * truth).sum((0, 2, 3))
    there = truth.sum((0, 2, 3)) > 0
    return (1 - met / either.clamp(min=1.0))[there].mean()


def seen_again(seen: Tensor, beside: Tensor) -> tuple[Tensor, Tensor]:
    """The same photos as somebody else might have sent them, and the grid that lays planes of the first ones on them.

    Mirrored or not, a little larger, moved, lighter, warmer, less sharp; what other networks say of them is a little
    elsewhere. Parts of the frame that were not seen are continued.

    Args:
        seen: ``(n, PLANES, height, width)``, 0 to 255.
        beside: ``(n, PLANES - 3, height, width)``, what the other networks say this time.

    Returns:
        As ``seen``, and ``(n, height, width, 2)`` for ``grid_sample`` without aligned corners.
    """
    count, size, like = len(seen), list(seen.shape), {"device": seen.device}
    place = torch.zeros(count, 2, 3, **like)
    scale = torch.exp(SCALED * torch.randn(count, **like))
    place[:, 0, 0] = scale * torch.where(torch.rand(count, **like) < 0.5, -1.0, 1.0)
    place[:, 1, 1] = scale
    place[:, :, 2] = 2 * MOVED * torch.randn(count, 2, **like)
    grid = F.affine_grid(place, size, align_corners=False)
    photo, planes = (
        F.grid_sample(each, grid, padding_mode="border", align_corners=False) for each in (seen[:, :3], beside)
    )
    light = torch.exp(0.1 * torch.randn(count, 1, 1, 1, **like) + 0.025 * torch.randn(count, 3, 1, 1, **like))
    photo = photo * light + 4 * torch.randn(count, 1, 1, 1, **like)
    smaller = F.interpolate(photo, scale_factor=0.7, mode="bilinear", antialias=True)
    blurred = F.interpolate(smaller, size[2:], mode="bilinear")
    photo = torch.where(torch.rand(count, 1, 1, 1, **like) < 0.4, blurred, photo)
    return torch.cat([photo.clamp(0, 255), planes], 1), grid


def unsteadiness(logits: Tensor, again: Tensor, grid: Tensor) -> Tensor:
    """By how much, in nats a pixel, two answers differ: to photos and to the same ones seen again.

    Args:
        logits: ``(n, classes, height, width)``.
        again: The same of the photos seen again.
        grid: From `seen_again`.
    """
    at = F.interpolate(grid.permute(0, 3, 1, 2), again.shape[2:], mode="area").permute(0, 2, 3, 1)
    inside = (at.abs() < 1).all(3)
    one = F.grid_sample(logits, at, padding_mode="border", align_corners=False).log_softmax(1)
    other = again.log_softmax(1)
    differs = 0.5 * ((one.exp() - other.exp()) * (one - other)).sum(1)
    return (differs * inside).sum() / inside.sum().clamp(min=1)


def train(minutes: float, models: Path, start: Path | None = None, batch: int = 16, workers: int = 0) -> None:
    """Train for so long, in all sessions together; from the weights of an exported network where one is given."""
    torch.manual_seed(0)
    samples, _ = split(prepared(PREPARED), HELD_OUT)
    network = parser_network(models)
    if start is not None:
        some = (torch.from_numpy(seen).float() for seen, *_ in batches(samples, batch, 500))
        load_exported(network, start, list(islice(some, 4)))
    network.to(DEVICE, memory_format=torch.channels_last)
    counts = np.bincount(np.concatenate([s.labels[::4, ::4].ravel() for s in samples]), minlength=len(Thing))
    shares = np.maximum(counts[: len(Thing)] / counts[: len(Thing)].sum(), 1e-4)
    weights = torch.tensor(np.clip((0.08 / shares) ** 0.4, 0.5, 3.0), dtype=torch.float32, device=DEVICE)
    print(len(samples), "photos,", sum(p.numel() for p in network.parameters()), "parameters", flush=True)
    source = drawn(lambda seed: batches(samples, batch, seed), workers)

    def loss_of_next() -> Tensor:
        seen, beside, labels = next(source)
        seen = seen.float()
        again, grid = seen_again(seen, beside.float())
        known = (labels + 1).to(torch.uint8)  # beyond the frame 0, which is what is ignored
        moved = F.grid_sample(known[:, None].float(), grid, mode="nearest", align_corners=False)[:, 0].long() - 1
        both = torch.cat([labels.long(), torch.where(moved < 0, IGNORED, moved)])
        answer = network(torch.cat([seen, again]).contiguous(memory_format=torch.channels_last))
        logits, whole, coarse = (each.float() for each in answer)
        steady = unsteadiness(*logits.chunk(2), grid) + F.mse_loss(*whole.sigmoid().chunk(2))
        return losses((logits, whole, coarse), both, weights) + STEADY * steady

    fit(network, loss_of_next, minutes, CHECKPOINT, again=start is not None)


if __name__ == "__main__":
    given = asked(__doc__)
    train(given.minutes, given.models, given.start, given.batch, given.workers)
