"""Finds the folder of the weights and checks that they are those of this pipeline. It never fetches anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

from engines.base import EngineUnavailable

FETCH = "tryon engines fetch klein"
"""The command that puts the weights where they are looked for."""

INDEX = "model_index.json"
PIPELINE_CLASS = "Flux2KleinPipeline"
COMPONENTS = {
    "scheduler": ("diffusers", ("FlowMatchEulerDiscreteScheduler",)),
    "vae": ("diffusers", ("AutoencoderKLFlux2",)),
    "transformer": ("diffusers", ("Flux2Transformer2DModel",)),
    "text_encoder": ("transformers", ("Qwen3ForCausalLM",)),
    "tokenizer": ("transformers", ("Qwen2TokenizerFast", "Qwen2Tokenizer")),
}
"""Folders of the repository, and the library and class (under all its names) that each is for."""

_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def model_folder(model: str, revision: str) -> Path:
    """The folder with the weights.

    Args:
        model: A folder in the layout of diffusers, or an id of the Hugging Face hub, which is looked up in the local
            cache of the hub.
        revision: The commit of a hub's repository; a branch would be another network tomorrow.

    Raises:
        EngineUnavailable: There is no such folder, the cache does not hold that commit, or it is not a commit.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    if folder.exists() or not _HUB_ID.fullmatch(model):
        raise EngineUnavailable(f"The weights folder {model} of the engine klein is missing; fetch it with {FETCH}.")
    if not _COMMIT.fullmatch(revision):
        raise EngineUnavailable(
            f"The revision {revision!r} of {model} is not a commit of forty hexadecimal digits; name the commit."
        )
    try:
        return Path(snapshot_download(model, revision=revision, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        raise EngineUnavailable(
            f"The weights {model} at {revision} are not on this machine; fetch them with {FETCH}."
        ) from None


def read_index(folder: Path) -> dict[str, Any]:
    """What `INDEX` says about the pipeline, after seeing that it is this one.

    Raises:
        EngineUnavailable: Names the file and the key that is missing or not as expected.
    """
    path = folder / INDEX
    index = read_json(path)
    if index.get("_class_name") != PIPELINE_CLASS:
        raise EngineUnavailable(f"{path}: _class_name is {index.get('_class_name')!r} instead of {PIPELINE_CLASS!r}.")
    for component, (library, names) in COMPONENTS.items():
        found = index.get(component)
        if found not in [[library, name] for name in names]:
            raise EngineUnavailable(f"{path}: {component} is {found!r} instead of {[library, names[0]]!r}.")
        if not (folder / component).is_dir():
            raise EngineUnavailable(f"The folder {folder / component} is missing; fetch it with {FETCH}.")
    return index


def read_json(path: Path) -> dict[str, Any]:
    """An object in a JSON file.

    Raises:
        EngineUnavailable: The file is missing or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise EngineUnavailable(f"The file {path} is missing; fetch it with {FETCH}.") from None
    except (OSError, ValueError):
        raise EngineUnavailable(f"{path} is not readable as JSON.") from None
    if not isinstance(content, dict):
        raise EngineUnavailable(f"{path} does not hold a JSON object.")
    return content
