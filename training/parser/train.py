"""Train the parser: ``python -m training.parser.train --minutes 60``.

One thread, checkpoints every few minutes, and resumed where it was when started again. What is kept is the running mean
of the weights. ``--start parser.onnx`` begins with the weights of an exported file instead of with none.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from engines.person.parser import Thing
from training.parser.data import IGNORED, PREPARED, batches, prepared, split
from training.exported import load_exported
from training.parser.network import ParserNetwork

CHECKPOINT = Path("out/training/parser.pt")
BATCH = 16
RATE, ENCODER_RATE = 2.5e-3, 2.5e-4
HELD_OUT = 3
"""Photos whose number ends in this digit judge and never train."""

SMALL = (192, 128)
"""The window in the first part of the training, at half the time a step."""

SMALL_UNTIL = 0.4

AGAIN = 0.4
"""Share of the rates where the weights are those of a trained network."""

Batches: TypeAlias = Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8]]]


def losses(answer: tuple[Tensor, Tensor, Tensor], labels: Tensor, weights: Tensor) -> Tensor:
    """Cross entropy and soft Jaccard at half size, cross entropy at an eighth, and whether there is a dress."""
    logits, coarse, one_piece = answer
    fine = labels[:, ::2, ::2]
    entropy = F.cross_entropy(logits, fine, weights, ignore_index=IGNORED, label_smoothing=0.02)
    known = (fine != IGNORED)[:, None]
    chances = logits.softmax(1) * known
    truth = F.one_hot(fine.clamp(max=len(Thing) - 1), len(Thing)).permute(0, 3, 1, 2) * known
    met, either = (chances * truth).sum((0, 2, 3)), (chances + truth - chances * truth).sum((0, 2, 3))
    there = truth.sum((0, 2, 3)) > 0
    jaccard = (1 - met / either.clamp(min=1.0))[there].mean()
    aside = F.cross_entropy(coarse, labels[:, 4::8, 4::8], weights, ignore_index=IGNORED)
    dressed = ((labels == Thing.DRESS).float().mean((1, 2)) > 0.01).float()
    return entropy + 0.6 * jaccard + 0.3 * aside + 0.1 * F.binary_cross_entropy_with_logits(one_piece, dressed)


def train(minutes: float, models: Path, start: Path | None = None, checkpoint: Path = CHECKPOINT) -> None:
    """Train for so long, in all sessions together; from the weights of an exported network where one is given."""
    torch.manual_seed(0)
    samples, _ = split(prepared(PREPARED), HELD_OUT)
    network = ParserNetwork(models / "pose_landmark_full.tflite").to(memory_format=torch.channels_last)
    if start is not None:
        load_exported(network, start, [next(_resized(batches(samples, 4 * BATCH, 999), None))[0]])
    mean = copy.deepcopy(network)
    encoder = {id(each) for each in network.encoder.parameters()}
    taught = [each for each in network.parameters() if each.requires_grad]
    groups = [
        {"params": [p for p in taught if id(p) not in encoder and p.ndim > 1], "rate": RATE},
        {"params": [p for p in taught if id(p) not in encoder and p.ndim == 1], "rate": RATE, "weight_decay": 0.0},
        {"params": [p for p in taught if id(p) in encoder], "rate": ENCODER_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, lr=RATE, weight_decay=0.02)
    parts = {"network": network, "mean": mean, "optimizer": optimizer}
    state = lambda: {name: part.state_dict() for name, part in parts.items()}  # noqa: E731
    steps, spent, seed = 0, 0.0, 0
    if checkpoint.is_file():
        kept = torch.load(checkpoint, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(kept[name])
        steps, spent, seed = kept["steps"], kept["spent"], kept["seed"] + 1
    counts = np.bincount(np.concatenate([s.labels[::4, ::4].ravel() for s in samples]), minlength=len(Thing))[
        : len(Thing)
    ]
    weights = torch.tensor(
        np.clip((0.08 / np.maximum(counts / counts.sum(), 1e-4)) ** 0.4, 0.5, 3.0), dtype=torch.float32
    )
    print(len(samples), "photos,", sum(p.numel() for p in network.parameters()), "parameters", flush=True)
    network.train()
    small_ones, whole_ones = (
        _resized(batches(samples, BATCH, seed + more), size) for more, size in ((0, SMALL), (500, None))
    )
    began, told, running = time.monotonic() - spent, time.monotonic(), []
    while (done := (time.monotonic() - began) / (60 * minutes)) < 1:
        factor = min(1.0, (steps + 1) / 100) * (0.5 * (1 + math.cos(math.pi * done)) * 0.99 + 0.01)
        factor *= AGAIN if start is not None else 1.0
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * factor
        seen, labels = next(small_ones if start is None and done < SMALL_UNTIL else whole_ones)
        with torch.autocast("cpu", torch.bfloat16):
            answer = network(seen)
        loss = losses(tuple(each.float() for each in answer), labels, weights)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(taught, 3.0)
        optimizer.step()
        steps += 1
        _followed(mean, network, min(0.998, (1 + steps) / (10 + steps)))
        running.append(float(loss.detach()))
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{done:.3f} steps {steps} loss {np.mean(running):.4f}", flush=True)
            running = []
            _keep(checkpoint, {**state(), "steps": steps, "spent": told - began, "seed": seed})
    _keep(checkpoint, {**state(), "steps": steps, "spent": 60 * minutes, "seed": seed})


def _resized(source: Batches, size: tuple[int, int] | None) -> Iterator[tuple[Tensor, Tensor]]:
    for seen, labels in source:
        tensors = torch.from_numpy(seen).float(), torch.from_numpy(labels).long()
        if size is not None:
            tensors = (
                F.interpolate(tensors[0], size, mode="area"),
                F.interpolate(tensors[1][:, None].float(), size)[:, 0].long(),
            )
        yield tensors[0].contiguous(memory_format=torch.channels_last), tensors[1]


def _followed(mean: nn.Module, network: nn.Module, share: float) -> None:
    with torch.no_grad():
        for kept, new in zip(mean.state_dict().values(), network.state_dict().values(), strict=True):
            if kept.dtype.is_floating_point:
                kept.mul_(share).add_(new, alpha=1 - share)
            else:
                kept.copy_(new)


def _keep(path: Path, state: dict[str, Any]) -> None:
    beside = path.with_suffix(".part")
    torch.save(state, beside)
    beside.replace(path)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--minutes", type=float, default=180)
    arguments.add_argument("--models", type=Path, default=Path(".models"))
    arguments.add_argument("--start", type=Path, help="an exported network to begin with")
    given = arguments.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    train(given.minutes, given.models, given.start)
