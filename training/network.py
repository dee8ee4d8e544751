"""The networks' common form: the encoder of MediaPipe's pose network, with its weights, and a decoder of our own.

The pose network has learnt bodies and clothes from far more pictures than any public set of parsed clothes holds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

TAPS = (206, 216, 226, 251, 269)
"""Tensors of ``pose_landmark_full.tflite`` that the decoder reads, at 1/2, 1/4, 1/8, 1/16 and 1/32 of the picture: the
last one of each size before the network widens again."""

FROZEN = 226
"""Layers up to this tensor keep MediaPipe's weights: edges and textures are the same for limbs and clothes, and half of
the time of a training step is saved."""

WIDTHS = (96, 64, 48, 28)
"""Channels of the decoder at 1/16, 1/8, 1/4 and 1/2."""

SUMMARY = 24
"""Numbers about the whole picture that every place is told: whether this is a dress shows at its other end."""

RELU6 = 3


def _operations(path: Path) -> tuple[list[tuple[str, list[int], int, Any]], dict[int, np.ndarray]]:
    """A tflite graph: operations as name, inputs, output, options; and its constants."""
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))
    graph = model.subgraphs[0]
    names = {value: name for name, value in vars(schema.BuiltinOperator).items() if isinstance(value, int)}
    kinds = {0: np.float32, 1: np.float16, 2: np.int32}
    constants = {}
    for number, tensor in enumerate(graph.tensors):
        data = model.buffers[tensor.buffer].data
        if data is not None and len(data) and tensor.type in kinds:
            shape = tuple(tensor.shape) if tensor.shape is not None else ()
            constants[number] = np.asarray(data, np.uint8).view(kinds[tensor.type]).reshape(shape)
    operations = []
    for each in graph.operators:
        code = model.operatorCodes[each.opcodeIndex]
        name, inputs, output = (
            names[max(code.builtinCode, code.deprecatedBuiltinCode)],
            list(each.inputs),
            each.outputs[0],
        )
        if name == "DEQUANTIZE":
            constants[output] = constants[inputs[0]].astype(np.float32)
        else:
            operations.append((name, [int(one) for one in inputs], int(output), each.builtinOptions))
    return operations, constants


class PoseEncoder(nn.Module):
    """MediaPipe's pose network up to `TAPS`, with its weights.

    Args:
        path: ``pose_landmark_full.tflite``.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        operations, constants = _operations(path)
        padded = {output: inputs[0] for name, inputs, output, _ in operations if name == "PAD"}
        made = {output: inputs for _, inputs, output, _ in operations}
        needed, waiting = set[int](), list(TAPS)
        while waiting:
            tensor = waiting.pop()
            if tensor in made and tensor not in needed:
                needed.add(tensor)
                waiting += [one for one in made[tensor] if one not in constants]
        self.layers = nn.ModuleDict()
        self.steps: list[tuple[int, tuple[int, ...], bool]] = []
        self.channels: dict[int, int] = {}
        for name, inputs, output, options in operations:
            if output not in needed or name == "PAD":
                continue
            if name == "ADD":
                sources, act = tuple(inputs), options.fusedActivationFunction == RELU6
                self.channels[output] = self.channels[inputs[0]]
            else:
                sources, act = (padded.get(inputs[0], inputs[0]),), options.fusedActivationFunction == RELU6
                layer = _convolution(name, constants[inputs[1]], constants[inputs[2]], options.strideH)
                layer.requires_grad_(output > FROZEN)
                self.layers[str(output)], self.channels[output] = layer, layer.out_channels
            self.steps.append((output, sources, act))

    def forward(self, picture: Tensor) -> list[Tensor]:
        """Maps at `TAPS` of ``(n, 3, height, width)``, 0 to 1."""
        values, taps = {0: picture}, []
        for output, sources, act in self.steps:
            with torch.set_grad_enabled(torch.is_grad_enabled() and output > FROZEN):
                value = (
                    self.layers[str(output)](values[sources[0]])
                    if len(sources) == 1
                    else values[sources[0]] + values[sources[1]]
                )
                values[output] = F.relu6(value) if act else value
            if output in TAPS:
                taps.append(values[output])
        return taps


def _convolution(name: str, weight: np.ndarray, bias: np.ndarray, stride: int) -> nn.Conv2d:
    alone = name == "DEPTHWISE_CONV_2D"
    kernel = (
        np.asarray(weight, np.float32).transpose(3, 0, 1, 2)
        if alone
        else np.asarray(weight, np.float32).transpose(0, 3, 1, 2)
    )
    count, size = kernel.shape[0], kernel.shape[2]
    layer = nn.Conv2d(count if alone else kernel.shape[1], count, size, stride, size // 2, groups=count if alone else 1)
    layer.weight.data = torch.from_numpy(kernel.copy())
    layer.bias.data = torch.from_numpy(np.asarray(bias, np.float32).copy())
    return layer


def _block(inputs: int, outputs: int, size: int = 3, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)
    )


class PoseUNet(nn.Module):
    """Logits at half the picture's size, and logits about the whole picture.

    Args:
        path: ``pose_landmark_full.tflite``.
        planes: Of the input: red, green, blue, and masks.
        answers: Planes of the answer.
        whole_answers: Numbers about the whole picture.
    """

    def __init__(self, path: Path, planes: int, answers: int, whole_answers: int) -> None:
        super().__init__()
        self.encoder = PoseEncoder(path)
        tapped = [self.encoder.channels[tap] for tap in TAPS]
        beside = planes - 3
        self._masked = beside > 0
        self.scaled = nn.ModuleList(nn.BatchNorm2d(count) for count in tapped)
        self.stem = _block(planes, 20, stride=2)
        self.deepest = _block(tapped[4] + beside, WIDTHS[0])
        self.summary = nn.Sequential(nn.Linear(WIDTHS[0], SUMMARY), nn.ReLU())
        self.whole = nn.Linear(SUMMARY, whole_answers)
        ins = (
            tapped[3] + WIDTHS[0] + SUMMARY,
            tapped[2] + WIDTHS[0],
            tapped[1] + WIDTHS[1],
            tapped[0] + 20 + WIDTHS[2],
        )
        self.joined = nn.ModuleList(
            nn.Sequential(_block(count + beside, width, 1), _block(width, width))
            for count, width in zip(ins, WIDTHS, strict=True)
        )
        self.head, self.coarse_head = nn.Conv2d(WIDTHS[3], answers, 1), nn.Conv2d(WIDTHS[1], answers, 1)

    def forward(self, seen: Tensor) -> tuple[Tensor, ...]:
        """Answers to ``(n, planes, height, width)``, 0 to 255, and about the whole; while training coarse ones too."""
        seen = seen / 255.0
        taps = [norm(tap) for norm, tap in zip(self.scaled, self.encoder(seen[:, :3]), strict=True)]
        beside = [F.avg_pool2d(seen[:, 3:], 2)] if self._masked else []
        while beside and len(beside) < len(taps):
            beside.append(F.avg_pool2d(beside[-1], 2))
        taps[0] = torch.cat([taps[0], self.stem(seen * 2.0 - 1.0)], 1)
        known = self.deepest(torch.cat([taps[4], *beside[4:]], 1))
        summary = self.summary(known.mean((2, 3)))
        coarse = known
        for step, joined in enumerate(self.joined):
            tap = taps[3 - step]
            known = F.interpolate(known, scale_factor=2.0, mode="bilinear", align_corners=False)
            parts = [tap, known, *beside[3 - step : 4 - step]]
            if step == 0:
                parts.append(summary[:, :, None, None] * torch.ones_like(tap[:, :1]))
            known = joined(torch.cat(parts, 1))
            if step == 1:
                coarse = known
        answers = self.head(known), self.whole(summary)
        return (*answers, self.coarse_head(coarse)) if self.training else answers
