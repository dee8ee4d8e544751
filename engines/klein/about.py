"""What this engine is, and where its weights come from. Nothing heavy is imported here."""

from __future__ import annotations

from engines.base import EngineInfo
from engines.klein.prompt import HONOURED, MAX_GARMENTS
from engines.weights.fetch import Repository

MODEL = "black-forest-labs/FLUX.2-klein-4B"
"""The distilled network of 3.9 billion parameters, Apache-2.0; the larger ones forbid commercial use."""

REVISION = "e7b7dc27f91deacad38e78976d1f2b499d76a294"
"""The commit of its repository that this engine was written for."""

LICENCES = {MODEL: "Apache-2.0", "black-forest-labs/FLUX.2-klein-base-4B": "Apache-2.0"}
"""Repositories whose licence is known to allow commercial use."""

UNKNOWN_LICENCE = "unknown"

MEMORY_MB = 13 * 1024
"""What the makers of the network state for bfloat16, text encoder included; not measured by this project."""

PARALLEL = 2
"""One picture is drawn while the pictures of the next one are made ready and encoded."""

KLEIN = EngineInfo(
    name="klein",
    code_licence="Apache-2.0",
    weights_licence=LICENCES[MODEL],
    commercial_use=True,
    source=MODEL,
    revision=REVISION,
    device="cuda",
    trained=True,
    max_garments=MAX_GARMENTS,
    hints=HONOURED,
    memory_mb=MEMORY_MB,
    parallel=PARALLEL,
)

KLEIN_WEIGHTS = (
    Repository(
        MODEL,
        REVISION,
        ("model_index.json", "scheduler/*", "transformer/*", "vae/*", "text_encoder/*", "tokenizer/*"),
    ),
)
"""The components in diffusers' layout; the single file beside them holds the same network once more."""
