"""The generative networks, built from the settings; libraries are imported for the one that is asked for."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from engines.base import EngineUnavailable
from engines.generative.painter import Painter
from engines.klein.about import REVISION
from engines.weights.fetch import read_manifest
from runtime.settings import Settings

LIBRARIES = ("torch", "diffusers", "transformers", "onnxruntime", "huggingface_hub")
"""What the optional dependencies ``gpu`` install."""


def build_painter(name: str, settings: Settings) -> Painter:
    """The network of an engine, not yet loaded.

    Raises:
        EngineUnavailable: A library that it needs is not installed, or its weights were never fetched.
    """
    check_libraries(name)
    if not weights_present(name, settings):
        folder = weights_of(name, settings)
        raise EngineUnavailable(
            f"The weights of {name} are not in {folder}, or not whole: fetch them with `tryon engines fetch {name}`."
        )
    return _klein(settings) if name == "klein" else _fashn(settings)


def check_libraries(name: str) -> None:
    """See that what an engine is made of is installed.

    Raises:
        EngineUnavailable: Names what is missing.
    """
    missing = [library for library in LIBRARIES if find_spec(library) is None]
    if missing:
        raise EngineUnavailable(
            f"The engine {name} needs {', '.join(missing)}: install the optional dependencies `gpu` of this package."
        )


def check_weights(name: str, folder: Path) -> None:
    """See that a folder holds exactly the tensors of an engine's network; nothing is loaded.

    Raises:
        EngineUnavailable: Names the file and the key.
    """
    if name == "klein":
        from engines.klein.loading import check_weights as check
    else:
        from engines.fashn.checkpoint import check_weights as check
    check(folder)


def is_ready(name: str, settings: Settings) -> bool:
    """Whether the engine's libraries and weights are there and torch finds a GPU; cheap questions first."""
    if any(find_spec(library) is None for library in LIBRARIES) or not weights_present(name, settings):
        return False
    import torch  # here, for it takes seconds to load

    return bool(torch.cuda.is_available())


def weights_present(name: str, settings: Settings) -> bool:
    """Whether an engine's weights are there, whole as far as can be told without reading them.

    The folder that ``tryon engines fetch`` fills has a manifest once it is full; a folder of the operator's own counts
    as it is, and so does what the hub's local cache holds.
    """
    folder = weights_of(name, settings)
    if folder == settings.engine.weights_dir / name:
        return bool(read_manifest(folder))
    if folder.is_dir() or name != "klein":
        return folder.is_dir()
    from engines.klein.repository import model_folder

    try:
        return model_folder(str(settings.klein.model), settings.klein.revision or REVISION).is_dir()
    except EngineUnavailable:
        return False


def weights_of(name: str, settings: Settings) -> Path:
    """The folder of an engine's weights, or what the settings call it."""
    chosen = settings.klein.model if name == "klein" else settings.fashn.weights
    return Path(chosen).expanduser() if chosen else settings.engine.weights_dir / name


def _klein(settings: Settings) -> Painter:
    from engines.klein.painter import KleinPainter

    return KleinPainter(
        str(weights_of("klein", settings)),
        revision=settings.klein.revision or REVISION,
        device=settings.engine.device,
        dtype="float32" if settings.engine.device == "cpu" else "bfloat16",
        steps=settings.klein.steps,
        person_megapixels=settings.klein.person_megapixels,
        garment_megapixels=settings.klein.garment_megapixels,
        embeddings_folder=settings.klein.embeddings_dir,
        compile=settings.engine.compile,
        attention_backend=settings.klein.attention_backend,
        fp8=settings.klein.fp8,
        text_encoder_device=settings.klein.text_encoder_device,
    )


def _fashn(settings: Settings) -> Painter:
    from engines.fashn.painter import FashnPainter

    return FashnPainter(
        weights_of("fashn", settings),
        device=settings.engine.device,
        steps=settings.fashn.steps,
        guidance=settings.fashn.guidance,
        batch_size=settings.fashn.batch_size,
        batch_wait_s=settings.fashn.batch_wait_ms / 1000,
        threads=settings.engine.engine_threads,
        compile=settings.engine.compile,
    )
