"""``tryon demo --engine``: an engine that is not here yet, from asking whether to fetch it to its first picture.

Without the service: nothing has to run, and a picture that takes an hour holds up no worker.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import typer

from cli.answers import fail
from cli.engines import Piece, contact_sheet, draw_with, fetch
from engines.base import EngineUnavailable
from engines.catalogue import OFFERED
from engines.estimate import estimated
from engines.pace import duration_words
from engines.registration import Registration
from engines.warp.about import WARP
from engines.weights.fetch import missing_megabytes
from runtime.settings import Settings, load_settings

SIZE_OF_LIBRARIES = (
    "0.3 GB with a CPU build of torch, which takes 1.2 GB on disk. For Linux, PyPI's build brings CUDA along, which is "
    "gigabytes more: without an NVIDIA card set PIP_EXTRA_INDEX_URL to the index of a CPU build"
)
"""Wheels and files of version 2.13 for Linux, added up."""

EXTRA = re.compile(r"""extra == ['"]gpu['"]""")

CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
"""Versions that were tested; there in a clone of the repository."""


def demonstrate(name: str, person: bytes, outfit: Sequence[Piece], out: Path, *, yes: bool) -> None:
    """Fetch what an engine needs, if asked to, and draw one outfit with it and with the embedded engine.

    Args:
        name: One of `OFFERED`.
        person: The photo.
        outfit: What is put on.
        out: The sheet goes beside this, and each engine's picture.
        yes: Whether to fetch without asking.

    Raises:
        typer.Exit: Nothing was drawn; why is said in one sentence.
    """
    settings = load_settings()
    try:
        _provide(name, settings, yes=yes)
    except EngineUnavailable as error:
        fail(f"The engine {name} cannot be had here, and `make demo` draws without it: {error}")
    pictures, failed = [], False
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        photo = Path(folder) / "person"
        photo.write_bytes(person)
        for engine in dict.fromkeys([WARP.name, name]):
            typer.echo(f"Drawing with {engine} …")
            report = draw_with(engine, settings, photo, outfit, out.with_name(f"{out.stem}-{engine}.png"))
            if "error" in report:
                typer.echo(f"{engine}: {report['error']}", err=True)
                failed = True
                continue
            seconds = sum(report["timingsMs"].values()) / 1000
            typer.echo(f"  {report['out']}: {seconds:.1f} s, and {report['loadMs'] / 1000:.1f} s to load the engine")
            pictures.append((engine, Path(report["out"]).read_bytes()))
    if pictures:
        sheet = out.with_name(f"{out.stem}-{name}-sheet{out.suffix}")
        garments = [piece.picture.read_bytes() for piece in outfit]
        contact_sheet([person, *garments, *(picture for _, picture in pictures)]).save(sheet, quality=92)
        typer.echo(f"From left to right: person, garments, {', '.join(engine for engine, _ in pictures)}: {sheet}")
    if failed:
        raise typer.Exit(1)
    if name != WARP.name:
        typer.echo(f"To serve with it: TRYON_ENGINE={name} make up. To prove it whole: tryon engines check {name}")


def _provide(name: str, settings: Settings, *, yes: bool) -> None:
    """Tell what is missing, ask, install and fetch.

    Raises:
        EngineUnavailable: It cannot be had.
        typer.Exit: Nobody agreed.
    """
    from worker_gpu.engine import weights_of, weights_present  # here, because it loads the person segmenter

    wanted = OFFERED[name]
    libraries = [library for library in wanted.libraries if find_spec(library) is None]
    present = weights_present(name, settings)
    if not libraries and present:
        return
    folder = weights_of(name, settings)
    if not present and folder != settings.engine.weights_dir / name:
        raise EngineUnavailable(f"the settings name weights of your own, {folder}, which are not there.")
    if libraries:
        ask_registry(libraries[0])
    for line in _plan(wanted, settings, libraries, None if present else folder):
        typer.echo(line)
    if not yes:
        if not sys.stdin.isatty():
            fail("Nothing was fetched, since nobody can be asked here: say YES=1 to make, or --yes.")
        if not typer.confirm("Fetch it?"):
            fail("Nothing was fetched.")
    if libraries:
        install_libraries(requirements())
        for line in _time(wanted, settings):
            typer.echo(line)
    if not present:
        fetch(name)


def _plan(wanted: Registration, settings: Settings, libraries: Sequence[str], folder: Path | None) -> list[str]:
    """What would be fetched, and how long a picture would take.

    Args:
        wanted: The engine.
        settings: Of this process.
        libraries: Those that are not installed.
        folder: Of the weights; None if they are here.

    Raises:
        EngineUnavailable: The hub does not answer, or the device that is set is not here.
    """
    lines = [f"Before {wanted.info.name} can draw here, this is fetched:", ""]
    if libraries:
        lines.append(f"  libraries  {', '.join(libraries)}, from the registry that pip is set to:")
        lines.append(f"             {SIZE_OF_LIBRARIES}")
    if folder is not None:
        for repository in wanted.weights:
            if libraries:  # with them the hub can be asked
                size = f"about {repository.megabytes / 1000:.2f} GB"
            else:
                size = f"{missing_megabytes(repository, folder) / 1000:.2f} GB"
            licence = wanted.licences[repository.name]
            lines.append(f"  weights    {repository.name} ({repository.revision}), licence {licence}: {size}")
            lines.append(f"             {', '.join(repository.patterns)}")
        free = shutil.disk_usage(next(place for place in folder.absolute().parents if place.is_dir())).free
        lines.append(f"  into       {folder}, where {free / 1e9:.0f} GB are free")
    return [*lines, "", *_time(wanted, settings), "Ctrl-C stops it at any time; the same command goes on from there."]


def _time(wanted: Registration, settings: Settings) -> list[str]:
    name, chosen = wanted.info.name, settings.engine
    found = estimated(name, settings.options[name].picture_tflop(), chosen.device, chosen.precision)
    if found is None:
        return ["How long a picture takes on this machine's GPU can be said once the libraries are here."]
    least, most = duration_words(found.least), duration_words(found.most)
    how = "computed; measured once it is loaded"
    return [f"A picture will take between {least} and {most} on {found.device} ({how})."]


def requirements() -> list[str]:
    """The optional dependencies ``gpu`` of this package, as pip takes them."""
    stated = metadata.requires("tryon-service") or []
    return [each.partition(";")[0].strip() for each in stated if EXTRA.search(each)]


def ask_registry(library: str) -> None:
    """See that pip's registry answers and has a library; nothing is downloaded.

    Raises:
        EngineUnavailable: It does not, or has not.
    """
    if _pip("index", "versions", library, stdout=subprocess.DEVNULL).returncode != 0:
        raise EngineUnavailable(
            f"the registry that pip is set to gives no {library}; is this machine connected to a network?"
        )


def install_libraries(wanted: Sequence[str]) -> None:
    """Have pip install libraries into this environment, with its own progress on the terminal.

    Raises:
        EngineUnavailable: It did not; nothing was installed.
    """
    constraints = ["--constraint", str(CONSTRAINTS)] if CONSTRAINTS.is_file() else []
    done = _pip("install", *constraints, *wanted)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["it did not say why"]
        raise EngineUnavailable(f"pip cannot install its libraries ({said[-1].removeprefix('ERROR: ')}).")
    importlib.invalidate_caches()


def _pip(command: str, *arguments: str, stdout: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run pip on this environment; what it complains about is kept."""
    words = [sys.executable, "-m", "pip", command, "--disable-pip-version-check", "--retries", "1", *arguments]
    # S603: the command is made of constants and this package's own requirements.
    return subprocess.run(
        words,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        umask=0o022,  # libraries are public, and another user may render with them
    )
