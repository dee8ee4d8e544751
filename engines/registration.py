"""What an engine declares about itself, so that no other module names it. Nothing heavy is imported here."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from engines.pace import Pace
from engines.weights.fetch import Repository

if TYPE_CHECKING:  # not imported: numpy takes a tenth of a second, and commands read settings
    from engines.base import Engine, PersonSegmenter

GPU_LIBRARIES = ("torch", "diffusers", "transformers", "onnxruntime", "huggingface_hub")
"""What the optional dependencies ``gpu`` install."""


def _folder(value: Path) -> Path:
    try:
        is_folder = S_ISDIR(value.stat().st_mode)
    except (FileNotFoundError, PermissionError):
        return value
    except (OSError, ValueError):  # not a path, or a path through a file
        is_folder = False
    if not is_folder:
        raise ValueError("a folder, and this is none")
    return value


Folder = Annotated[Path, AfterValidator(_folder)]
"""A folder, there or to be made."""

AUTO: Literal["auto"] = "auto"
"""Leaves the choice of a device, or of its numbers, to `engines.accelerator`."""

DEVICE = r"^(auto|cpu|mps|cuda(:[0-9]{1,3})?)$"
"""Names of devices."""


class EngineOptions(BaseModel):
    """Settings of one engine alone; each field is read from ``TRYON_<ENGINE>_<FIELD>``, and its docstring is shown."""

    model_config = ConfigDict(use_attribute_docstrings=True, frozen=True, allow_inf_nan=False)

    def own_weights(self) -> str | None:
        """Folder of weights that the operator chose; None is the one that ``tryon engines fetch`` fills."""
        return None

    def picture_tflop(self) -> float:
        """What a picture with one garment takes, in 10^12 floating-point operations; 0 where nobody waits for it."""
        return 0.0

    def has_weights(self, folder: Path) -> bool:
        """Whether weights are where `own_weights` says."""
        return folder.is_dir()


@dataclass(frozen=True)
class EngineInfo:
    """What an operator has to know before choosing an engine.

    Attributes:
        trained: Whether a generative model draws pixels; such pictures are marked as made by one.
        max_garments: How many garments one call of `Engine.render` takes.
        hints: Names of the hints it honours.
        memory_mb: Memory of the device that it needs, weights included, in MiB.
        parallel: How many calls of `Engine.render` may run at a time; the engine itself keeps them from fighting over
            its device.
        pace: How long pictures take on this machine, measured by `Engine.setup`; None before, and of an engine that
            needs seconds everywhere.
        by_free_memory: Whether `Engine.setup` chooses by the memory that is free then: it is called after the others'.
        economy: A sentence on what lies outside the device's memory for want of room, and what that costs; empty where
            nothing does, and before `Engine.setup`.
    """

    name: str
    code_licence: str
    weights_licence: str
    commercial_use: bool
    source: str
    revision: str
    device: str
    trained: bool
    max_garments: int
    hints: frozenset[str] = frozenset()
    memory_mb: int = 0
    parallel: int = 1
    pace: Pace | None = None
    by_free_memory: bool = False
    economy: str = ""


@dataclass(frozen=True)
class Workplace:
    """What a worker gives an engine to work with.

    Attributes:
        weights: Folder of its weights, or what stands for one.
        device: Such as ``cuda`` or ``cpu``; ``auto`` is the best that is there.
        precision: What networks are computed in, such as ``bfloat16``; ``auto`` is what the device does well.
        threads: CPU threads of one render.
        compile: Whether networks are compiled at the start.
        segmenter: Finds people in photos and in pictures of garments.
        observe: Shown what each step made, by engines that tell; None looks away.
    """

    weights: Path
    device: str
    threads: int
    compile: bool
    segmenter: PersonSegmenter
    precision: str = AUTO
    observe: Callable[[str, Any], None] | None = None


@dataclass(frozen=True)
class Registration:
    """One engine.

    Attributes:
        info: What it is, with its published weights.
        build: ``module:function`` that takes its options and a `Workplace` and gives the engine, not yet set up.
        options: Its own settings.
        libraries: What has to be installed for it.
        weights: Where its weights come from; none for an engine that brings along what it needs.
        licences: Repositories whose licence is known to allow commercial use, and that licence.
        check_weights: ``module:function`` that raises `EngineUnavailable` unless a folder holds its tensors.
        for_tests: Whether it is no engine for customers; it is not listed then.
    """

    info: EngineInfo
    build: str
    options: type[EngineOptions] = EngineOptions
    libraries: Sequence[str] = ()
    weights: Sequence[Repository] = ()
    licences: Mapping[str, str] = field(default_factory=dict)
    check_weights: str | None = None
    for_tests: bool = False

    def built(self, options: EngineOptions, workplace: Workplace) -> Engine:
        """The engine, not yet set up; its libraries are imported now."""
        engine: Engine = pkgutil.resolve_name(self.build)(options, workplace)
        return engine

    def check(self, folder: Path) -> None:
        """See that a folder holds exactly the tensors of its network; nothing is loaded.

        Raises:
            EngineUnavailable: Names the file and the key.
        """
        if self.check_weights is not None:
            pkgutil.resolve_name(self.check_weights)(folder)
