"""Write the trained parser as the file that the engine reads: ``python -m training.parser.export --to parser.onnx``."""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np
import torch

from engines.person.parser import HEIGHT, PLANES, WIDTH
from training.parser.network import ParserNetwork
from training.parser.train import CHECKPOINT

EXPORTED = Path("out/training/parser.onnx")
OPSET = 17


def export(checkpoint: Path, models: Path, path: Path) -> float:
    """Write the mean of the weights; returns by how much OpenCV's answer differs from torch's at most."""
    network = ParserNetwork(models / "pose_landmark_full.tflite")
    network.load_state_dict(torch.load(checkpoint, weights_only=True)["mean"])
    network.eval()
    seen = torch.rand(2, PLANES, HEIGHT, WIDTH) * 255
    torch.onnx.export(
        network, (seen,), str(path), input_names=["seen"], output_names=["logits"], opset_version=OPSET, dynamo=False
    )
    with torch.no_grad():
        wanted = network(seen).numpy()
    opened = cv2.dnn.readNetFromONNX(str(path))
    opened.setInput(seen.numpy())
    return float(np.abs(np.asarray(opened.forward()) - wanted).max())


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--checkpoint", type=Path, default=CHECKPOINT)
    arguments.add_argument("--models", type=Path, default=Path(".models"))
    arguments.add_argument("--to", type=Path, default=EXPORTED)
    given = arguments.parse_args()
    differs = export(given.checkpoint, given.models, given.to)
    print(f"{given.to}: {given.to.stat().st_size / 1e6:.1f} MB; logits differ by {differs:.4f} at most")
