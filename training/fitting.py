"""How the networks are trained: checkpoints, and the running mean of the weights, which is what is kept.

On a GPU where there is one, with processes that draw pictures for it; else on one thread of the processor.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from training.network import PoseUNet

RATE, ENCODER_RATE = 2.5e-3, 2.5e-4

AGAIN = 0.4
"""Share of the rates where the weights are those of a trained network."""

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

HALVED = DEVICE.type == "cuda" or torch.backends.cpu.get_cpu_capability() not in {"DEFAULT", "AVX2"}
"""Whether 16 bits are quicker than 32: on processors without AVX-512 they took thirty times as long."""

Arrays = tuple[np.ndarray, ...]


class _Drawn(IterableDataset[Arrays]):
    def __init__(self, batches: Callable[[int], Iterator[Arrays]]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[Arrays]:
        cv2.setNumThreads(1)
        worker = get_worker_info()
        return self._batches(0 if worker is None else worker.id)


def drawn(batches: Callable[[int], Iterator[Arrays]], workers: int) -> Iterator[tuple[Tensor, ...]]:
    """Batches without end, on the device that trains.

    Args:
        batches: Draws batches without end, of a seed.
        workers: Processes that draw them; 0 for this one.
    """
    loader = DataLoader(_Drawn(batches), batch_size=None, num_workers=workers, pin_memory=DEVICE.type == "cuda")
    for arrays in loader:
        yield tuple(each.to(DEVICE, non_blocking=True) for each in arrays)


def fit(
    network: PoseUNet, loss_of_next: Callable[[], Tensor], minutes: float, checkpoint: Path, *, again: bool = False
) -> None:
    """Train for so long, in all sessions together; goes on from the checkpoint where there is one.

    Args:
        network: On `DEVICE`, its memory laid out channels last.
        loss_of_next: The loss of a new batch.
        minutes: Of all the training.
        checkpoint: Where weights are kept every minute.
        again: Whether the network was trained before.
    """
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
    steps, spent = 0, 0.0
    if checkpoint.is_file():
        kept = torch.load(checkpoint, map_location=DEVICE, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(kept[name])
        steps, spent = kept["steps"], kept["spent"]
    network.train()
    began, told, running = time.monotonic() - spent, time.monotonic(), []
    while (done := (time.monotonic() - began) / (60 * minutes)) < 1:
        factor = min(1.0, (steps + 1) / 100) * (0.5 * (1 + math.cos(math.pi * done)) * 0.99 + 0.01)
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * factor * (AGAIN if again else 1.0)
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=HALVED):
            loss = loss_of_next()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(taught, 3.0)
        optimizer.step()
        steps += 1
        _followed(mean, network, min(0.998, (1 + steps) / (10 + steps)))
        running.append(loss.detach())
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{done:.3f} steps {steps} loss {torch.stack(running).mean():.4f}", flush=True)
            running = []
            _keep(checkpoint, {**state(), "steps": steps, "spent": told - began})
    _keep(checkpoint, {**state(), "steps": steps, "spent": 60 * minutes})


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


def asked(description: str | None) -> argparse.Namespace:
    """The command line of a training; sets one thread for torch and OpenCV, beside those that draw for a GPU."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--minutes", type=float, default=180)
    arguments.add_argument("--models", type=Path, default=Path(".models"))
    arguments.add_argument("--start", type=Path, help="an exported network to begin with")
    arguments.add_argument("--batch", type=int, default=16, help="photos a step")
    arguments.add_argument("--workers", type=int, default=0, help="processes that draw pictures, for a GPU")
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    return arguments.parse_args()
