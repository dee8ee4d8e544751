"""The engine that a GPU worker with these settings would draw with: named rightly, allowed, and able to start here.

No network is loaded in this process. A process of its own finds out whether torch sees a GPU, and only if an engine
that needs one may be chosen.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Sequence

from cli.diagnosis.findings import Case, Finding, Stop, Subject, in_one_line
from engines.base import EngineUnavailable
from engines.catalogue import AUTOMATIC, ENGINES, OFFERED, nameable
from engines.licences import check_licence
from engines.models import MODELS, ModelsMissing, model_path
from engines.registration import AUTO
from engines.routes import parse_route
from engines.weights.origin import info_of
from engines.weights.verify import check_folder
from runtime.settings import Settings
from worker_gpu.engine import check_libraries, weights_of, weights_present

ENGINE = Subject("engine")
LICENCE = Subject("licence")

_ASK_FOR_THE_DEVICE = "import sys; from engines.accelerator import found_device; found_device(*sys.argv[1:])"

MODEL_FILES = Subject("model files")
WEIGHTS_OF_ENGINES = Subject("weights")

LEAVE_OUT = "to leave it out here: tryon doctor --skip"
ELSEWHERE = f"if the GPU worker runs elsewhere, there; {LEAVE_OUT} weights"


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Choose as the GPU worker does."""
    settings = case.settings
    try:
        chosen = await chosen_engines(settings)
    except ValueError as error:
        unknown = ENGINE.error(f"TRYON_ENGINE: {error}", f"Name one of {', '.join(OFFERED)}, or auto.")
        raise Stop(unknown, "no engine is chosen", [LICENCE]) from None
    for name in chosen:
        failure = await _failure(name, settings) if ENGINES[name].weights else None
        if failure is None:
            yield ENGINE.ok(f"{name} ({settings.engine.engine})")
        else:
            yield ENGINE.error(failure, f"Where the GPU worker runs elsewhere, ask there; {LEAVE_OUT} engine")
    for name in chosen:
        yield _licence(name, settings)


async def chosen_engines(settings: Settings) -> Sequence[str]:
    """The engines of the settings, with ``auto`` replaced as a GPU worker on this machine would.

    Raises:
        ValueError: There is no such engine.
    """
    route = parse_route(settings.engine.engine, nameable(settings.engine.engine))
    *better, best = AUTOMATIC
    for name in better if AUTO in route.names else ():
        if await _failure(name, settings) is None:
            best = name
            break
    return route.with_auto(lambda: best).names


async def _failure(name: str, settings: Settings) -> str | None:
    """Why a generative engine cannot be set up here; cheap questions first."""
    try:
        check_libraries(name)
    except EngineUnavailable as error:
        return str(error)
    if not weights_present(name, settings):
        return f"The weights of {name} are not in {weights_of(name, settings)}: tryon engines fetch {name}"
    asked = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _ASK_FOR_THE_DEVICE, settings.engine.device, name),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await asked.communicate()
    except BaseException:
        asked.kill()
        await asked.wait()
        raise
    if asked.returncode == 0:
        return None
    last = said.decode(errors="replace").strip().splitlines()[-1:]
    return in_one_line(RuntimeError(last[0].partition(": ")[2] or last[0] if last else f"torch fails for {name}"))


def _licence(name: str, settings: Settings) -> Finding:
    engine, info = ENGINES[name], ENGINES[name].info
    if engine.weights:
        folder = str(weights_of(name, settings))
        info = info_of(info, engine.licences, folder, revision=info.revision, device=settings.engine.device)
    try:
        check_licence(info, settings.engine.licence_acknowledged)
    except EngineUnavailable as error:
        return LICENCE.error(
            f"the weights of {name} ({info.weights_licence}) are not known to allow commercial use", str(error)
        )
    return LICENCE.ok(f"{name}: code {info.code_licence}, weights {info.weights_licence}")


async def look_at_weights(case: Case) -> AsyncGenerator[Finding, None]:
    """Small files are always read, gigabytes of weights only on request; otherwise their lengths are compared."""
    folder = case.settings.engine.models_dir
    try:
        for name in MODELS:
            await asyncio.to_thread(model_path, folder, name)
    except ModelsMissing as error:
        yield MODEL_FILES.error(str(error), f"tryon engines fetch warp ({ELSEWHERE})")
    else:
        yield MODEL_FILES.ok(f"{len(MODELS)} in {folder}, SHA-256 verified")
    try:
        chosen = await chosen_engines(case.settings)
    except ValueError:
        yield WEIGHTS_OF_ENGINES.skipped("no engine is chosen")
        return
    generative = [name for name in chosen if ENGINES[name].weights]
    if not generative:
        yield WEIGHTS_OF_ENGINES.skipped(f"{', '.join(chosen)} has none besides the model files")
    how = "SHA-256 verified" if case.weights else "lengths as their headers say; --weights compares SHA-256"
    for name in generative:
        folder = weights_of(name, case.settings)
        if not folder.is_dir() and case.settings.options[name].has_weights(folder):
            yield WEIGHTS_OF_ENGINES.skipped(f"{name}: {folder} is a repository in the hub's cache, which set-up reads")
            continue
        try:
            files = await asyncio.to_thread(check_folder, folder, digests=case.weights)
        except EngineUnavailable as error:
            yield WEIGHTS_OF_ENGINES.error(f"{name}: {error}", f"tryon engines fetch {name} ({ELSEWHERE})")
        else:
            yield WEIGHTS_OF_ENGINES.ok(f"{name}: {files} in {folder}, {how}")
