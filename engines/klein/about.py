"""What this engine is, and where its weights come from. Nothing heavy is imported here."""

from __future__ import annotations

from dataclasses import asdict

from engines import provenance
from engines.base import EngineInfo
from engines.klein.prompt import HONOURED, MAX_GARMENTS
from engines.weights.fetch import Repository

MODEL = provenance.KLEIN.source

REVISION = provenance.KLEIN.revision

LICENCES = {MODEL: provenance.KLEIN.weights_licence}
"""Repositories whose licence is known to allow commercial use."""

PARALLEL = 2
"""One picture is drawn while the pictures of the next one are made ready and encoded."""

KLEIN = EngineInfo(
    **asdict(provenance.KLEIN),
    trained=True,
    max_garments=MAX_GARMENTS,
    hints=HONOURED,
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
