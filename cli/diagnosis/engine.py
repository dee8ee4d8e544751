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
from worker_gpu.engine import check_files, weights_of

ENGINE = Subject("engine")
LICENCE = Subject("licence")

_ASK_FOR_THE_DEVICE = "import sys; from engines.accelerator import found_device as f; print(f(*sys.argv[1:]).type)"

MODEL_FILES = Subject("model files")
WEIGHTS_OF_ENGINES = Subject("weights")

LEAVE_OUT = "to leave it out here: tryon doctor --skip"
ASK_THERE = f"Where the GPU worker runs elsewhere, ask there; {LEAVE_OUT} engine"
ELSEWHERE = f"if the GPU worker runs elsewhere, there; {LEAVE_OUT} weights"


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Choose as the GPU worker does."""
    settings = case.settings
    try:
        chosen = await chosen_engines(settings)
    except ValueError as error:
        unknown = ENGINE.error(f"TRYON_ENGINE: {error}", f"Name one of {', '.join(OFFERED)}, or auto.")
        raise Stop(unknown, "no engine is chosen", [LICENCE]) from None
    except EngineUnavailable as error:
        raise Stop(ENGINE.error(str(error), ASK_THERE), "no engine is chosen", [LICENCE]) from None
    for name in chosen:
        try:
            if ENGINES[name].weights:
                check_files(name, settings)
                await _device(name, settings)
        except EngineUnavailable as error:
            yield ENGINE.error(str(error), ASK_THERE)
        else:
            yield ENGINE.ok(f"{name} ({settings.engine.engine})")
    for name in chosen:
        yield _licence(name, settings)


async def chosen_engines(settings: Settings) -> Sequence[str]:
    """The engines of the settings, with ``auto`` replaced as a GPU worker on this machine would.

    Raises:
        ValueError: There is no such engine.
        EngineUnavailable: ``auto`` would be an engine whose device, which the settings name, is not there.
    """
    route = parse_route(settings.engine.engine, nameable(settings.engine.engine))
    *better, best = AUTOMATIC
    for name in better if AUTO in route.names else ():
        try:
            check_files(name, settings)
        except EngineUnavailable:
            continue
        if await _device(name, settings) == "cuda":
            best = name
            break
    return route.with_auto(lambda: best).names


async def _device(name: str, settings: Settings) -> str:
    """The kind of device that a generative engine would compute on: ``cuda``, ``mps`` or ``cpu``.

    Raises:
        EngineUnavailable: There is no such device here.
    """
    asked = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _ASK_FOR_THE_DEVICE, settings.engine.device, name),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        kind, said = await asked.communicate()
    except BaseException:
        asked.kill()
        await asked.wait()
        raise
    if asked.returncode == 0:
        return kind.decode().split()[-1]
    last = said.decode(errors="replace").strip().splitlines()[-1:]
    sentence = last[0].partition(": ")[2] or last[0] if last else f"torch fails for {name}"
    raise EngineUnavailable(in_one_line(RuntimeError(sentence)))


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
    except (ValueError, EngineUnavailable):
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
