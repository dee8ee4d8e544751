"""Train the parser: ``python -m training.parser.train --minutes 60``, on with ``--start parser.onnx``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from engines.person.parser import PLANES, Thing
from training.exported import load_exported
from training.fitting import asked, fit
from training.network import PoseUNet
from training.parser.data import IGNORED, PREPARED, batches, prepared, split

CHECKPOINT = Path("out/training/parser.pt")
BATCH = 16
HELD_OUT = 3
"""Photos whose number ends in this digit judge and never train."""

SMALL = (192, 128)
"""The window in the first part of the training, at half the time a step."""

SMALL_UNTIL = 0.4

Batches: TypeAlias = Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8]]]


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


def train(minutes: float, models: Path, start: Path | None = None, checkpoint: Path = CHECKPOINT) -> None:
    """Train for so long, in all sessions together; from the weights of an exported network where one is given."""
    torch.manual_seed(0)
    samples, _ = split(prepared(PREPARED), HELD_OUT)
    network = parser_network(models).to(memory_format=torch.channels_last)
    whole_ones = _resized(batches(samples, BATCH, 500), None)
    if start is not None:
        load_exported(network, start, [next(whole_ones)[0] for _ in range(4)])
    small_ones = _resized(batches(samples, BATCH, 0), SMALL)
    counts = np.bincount(np.concatenate([s.labels[::4, ::4].ravel() for s in samples]), minlength=len(Thing))
    shares = np.maximum(counts[: len(Thing)] / counts[: len(Thing)].sum(), 1e-4)
    weights = torch.tensor(np.clip((0.08 / shares) ** 0.4, 0.5, 3.0), dtype=torch.float32)
    print(len(samples), "photos,", sum(p.numel() for p in network.parameters()), "parameters", flush=True)

    def loss_at(done: float) -> Tensor:
        seen, labels = next(small_ones if start is None and done < SMALL_UNTIL else whole_ones)
        first, second, third = network(seen)
        return losses((first.float(), second.float(), third.float()), labels, weights)

    fit(network, loss_at, minutes, checkpoint, again=start is not None)


def _resized(source: Batches, size: tuple[int, int] | None) -> Iterator[tuple[Tensor, Tensor]]:
    for seen, labels in source:
        tensors = torch.from_numpy(seen).float(), torch.from_numpy(labels).long()
        if size is not None:
            tensors = (
                F.interpolate(tensors[0], size, mode="area"),
                F.interpolate(tensors[1][:, None].float(), size)[:, 0].long(),
            )
        yield tensors[0].contiguous(memory_format=torch.channels_last), tensors[1]


if __name__ == "__main__":
    given = asked(__doc__)
    train(given.minutes, given.models, given.start)
