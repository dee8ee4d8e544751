"""Model files and weights on this machine: there, and whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from cli.diagnosis.engine import resolved
from cli.diagnosis.findings import Case, Finding, Subject
from engines.base import EngineUnavailable
from engines.catalogue import ENGINES, WEIGHTS
from engines.models import MODELS, ModelsMissing, model_path
from engines.routes import parse_route
from engines.weights.verify import check_folder
from worker_gpu.painters import weights_of

MODEL_FILES = Subject("model files")
WEIGHTS_OF_ENGINES = Subject("weights")

ELSEWHERE = "if the GPU worker runs elsewhere, there; to leave it out here: tryon doctor --skip weights"


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Small files are always read; gigabytes of weights only on request, else their lengths have to do."""
    folder = case.settings.engine.models_dir
    try:
        for name in MODELS:
            await asyncio.to_thread(model_path, folder, name)
    except ModelsMissing as error:
        yield MODEL_FILES.error(str(error), f"tryon engines fetch warp ({ELSEWHERE})")
    else:
        yield MODEL_FILES.ok(f"{len(MODELS)} in {folder}, SHA-256 verified")
    try:
        route = await resolved(parse_route(case.settings.engine.engine, ENGINES), case.settings)
    except ValueError:
        yield WEIGHTS_OF_ENGINES.skipped("no engine is chosen")
        return
    generative = [name for name in route.names if name in WEIGHTS]
    if not generative:
        yield WEIGHTS_OF_ENGINES.skipped(f"{', '.join(route.names)} has none besides the model files")
    for name in generative:
        yield await _weights(case, name)


async def _weights(case: Case, name: str) -> Finding:
    folder = weights_of(name, case.settings)
    try:
        files = await asyncio.to_thread(check_folder, folder, digests=case.weights)
    except EngineUnavailable as error:
        return WEIGHTS_OF_ENGINES.error(f"{name}: {error}", f"tryon engines fetch {name} ({ELSEWHERE})")
    how = "SHA-256 verified" if case.weights else "lengths as their headers say; --weights compares SHA-256"
    return WEIGHTS_OF_ENGINES.ok(f"{name}: {files} in {folder}, {how}")
