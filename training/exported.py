"""Begin a training with the weights of a network that was exported: checkpoints are not kept for years, files are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from training.network import SUMMARY

TOLD_SUMMARY = "joined.0.0.0"
"""The convolution that is told the summary of the whole picture."""


def load_exported(network: nn.Module, path: Path, seen: list[Tensor]) -> None:
    """Give a network the weights of its own exported file.

    The exporter folds a normalisation into the convolution before it. Here it is unfolded again: scaled by what the
    convolutions answer to some input, so that the network says the same, normalised or not. Heads that only training
    uses are not in the file and keep what they have, as those do that answer something else. A network that sees fewer
    planes than the exported one takes the weights of those that it sees: the garment's begins with the parser's.

    Args:
        network: Of the form that was exported, on the CPU.
        path: The ONNX file.
        seen: Batches of input, by which the normalisations are scaled.

    Raises:
        KeyError: The file is of another kind of network.
    """
    graph = onnx.load(str(path)).graph
    constants = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    modules = dict(network.named_modules())
    folded: list[tuple[nn.Module, nn.BatchNorm2d]] = []
    for node in graph.node:
        if node.op_type not in {"Conv", "Gemm", "BatchNormalization"}:
            continue
        name = _full_name(node.name, modules)
        module = modules[name]
        weight, bias, *rest = (torch.from_numpy(constants[each].copy()) for each in node.input[1:])
        if isinstance(module, nn.Conv2d):
            # What the exported network saw beside the picture stands last, or before the summary where that is told.
            end = weight.shape[1] - (SUMMARY if name == TOLD_SUMMARY else 0)
            seen_less = weight.shape[1] - module.weight.shape[1]
            weight = torch.cat([weight[:, : end - max(seen_less, 0)], weight[:, end:]], 1)
        if weight.shape != module.weight.shape:
            continue
        with torch.no_grad():
            module.weight.copy_(weight)
            if isinstance(module, nn.BatchNorm2d):
                module.bias.copy_(bias)
                module.running_mean.copy_(rest[0])
                module.running_var.copy_(rest[1])
            elif module.bias is not None:
                module.bias.copy_(bias)
            else:
                norm = modules[_next_name(name)]
                norm.weight.fill_(1.0)
                norm.bias.copy_(bias)
                norm.running_mean.zero_()
                norm.running_var.fill_(1.0 - norm.eps)
                folded.append((module, norm))
    _unfold(network, folded, seen)


def _full_name(node: str, modules: dict[str, nn.Module]) -> str:
    """The module of a node such as ``/joined.0/joined.0.1/joined.0.1.0/Conv``."""
    own = node.split("/")[-2]
    return next(name for name in modules if name == own or name.endswith(f".{own}"))


def _next_name(name: str) -> str:
    """The name of what stands behind a module in its sequence."""
    sequence, number = name.rsplit(".", 1)
    return f"{sequence}.{int(number) + 1}"


def _unfold(network: nn.Module, folded: list[tuple[nn.Module, nn.BatchNorm2d]], seen: list[Tensor]) -> None:
    answers: dict[nn.Module, list[Tensor]] = {}

    def keep(module: nn.Module, _: Any, answer: Tensor) -> None:
        kept = answer.detach().transpose(0, 1).flatten(1)
        answers.setdefault(module, []).append(torch.stack([kept.mean(1), kept.var(1)]))

    hooks = [module.register_forward_hook(keep) for module, _ in folded]
    network.eval()
    with torch.no_grad():
        for batch in seen:
            network(batch)
        for hook in hooks:
            hook.remove()
        for module, norm in folded:
            mean, var = torch.stack(answers[module]).mean(0)
            norm.running_mean.copy_(mean)
            norm.running_var.copy_(var)
            norm.weight.copy_((var + norm.eps).sqrt())
            norm.bias.add_(mean)
