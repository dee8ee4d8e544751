"""Write a trained network as the file that the engine reads."""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np
import torch

from training.network import PoseUNet

OPSET = 17


def export(network: PoseUNet, checkpoint: Path, shape: tuple[int, int, int], path: Path) -> float:
    """Write the mean of the weights; returns by how much OpenCV's answer differs from torch's at most.

    Args:
        network: Of the kind that was trained.
        checkpoint: From `training.fitting.fit`.
        shape: Planes, height and width of a picture; two of them are shown to the network at once.
        path: The ONNX file.
    """
    network.load_state_dict(torch.load(checkpoint, weights_only=True)["mean"])
    network.eval()
    seen = torch.rand(2, *shape) * 255
    names = ["logits", "whole"]
    torch.onnx.export(
        network, (seen,), str(path), input_names=["seen"], output_names=names, opset_version=OPSET, dynamo=False
    )
    with torch.no_grad():
        wanted = network(seen)
    opened = cv2.dnn.readNetFromONNX(str(path))
    opened.setInput(seen.numpy())
    found = opened.forward(names)
    return max(float(np.abs(np.asarray(f) - w.numpy()).max()) for f, w in zip(found, wanted, strict=True))


def asked(description: str | None, checkpoint: Path, path: Path) -> argparse.Namespace:
    """The command line of an export."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--checkpoint", type=Path, default=checkpoint)
    arguments.add_argument("--models", type=Path, default=Path(".models"))
    arguments.add_argument("--to", type=Path, default=path)
    return arguments.parse_args()
