"""What this engine is, and where its weights come from. Nothing heavy is imported here."""

from __future__ import annotations

from engines.base import EngineInfo
from engines.klein.prompt import HONOURED, MAX_GARMENTS
from engines.weights.fetch import Repository

MODEL = "black-forest-labs/FLUX.2-klein-4B"
"""The distilled network of 3.9 billion parameters, Apache-2.0; the larger ones forbid commercial use."""

REVISION = "e7b7dc27f91deacad38e78976d1f2b499d76a294"
"""The commit of its repository that this engine was written for."""

LICENCES = {MODEL: "Apache-2.0"}
"""Repositories whose licence is known to allow commercial use."""

MEMORY_MB = 17 * 1024
"""Reckoned, not measured. Two bytes for each weight in bfloat16: 7.8 GB for the transformer (3.88 billion), 8.0 GB for
the text encoder (4.0 billion) and 0.2 GB for the VAE (84 million) are 16.0 GB or 14.9 GiB; 2 GiB are for the picture
that is drawn. By default the text encoder is lent the GPU for each new prompt and lies beside the others while it
works. Where it computes elsewhere, 10 GiB should do: 7.4 for the others, 2 for the picture."""

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
