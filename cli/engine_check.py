"""``tryon engines check``: whether an engine is whole here, proven from its files to a picture of the samples."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from PIL import Image

from api.dashboard.samples import PORTRAIT, SAMPLES, path_of
from cli.diagnosis.findings import Finding, Subject, counted, lines_of
from engines.base import DeviceBroken, DeviceOutOfMemory, EngineError, EngineUnavailable
from engines.catalogue import OFFERED
from engines.garment_kinds import Category
from engines.models import MODELS, ModelsMissing, model_path
from engines.pace import duration_words
from engines.weights.fetch import read_manifest
from engines.weights.verify import check_folder, read_tensors
from imaging.errors import ImageError
from runtime.settings import CheckSettings, Settings, load_settings
from workflows.contracts import GarmentHints

if TYPE_CHECKING:
    from cli.studio import Studio

GARMENT = "striped_sweater"
"""The sample that is put on."""

EMBEDDED_LIBRARIES = ("ai-edge-litert", "opencv-python-headless", "numpy")
"""What an engine without libraries of its own computes with."""

SHORT_COMMIT = 12


class UnknownWeights(Exception):  # it says why a question has no answer, and is no fault
    """There is nothing to compare with."""


@dataclass
class Examination:
    """One engine, looked at step by step.

    Attributes:
        name: Of the engine.
        settings: Of this process.
        out: Where the picture goes; None draws none, and loads no network.
        tell: Called with one sentence before what takes long.
        facts: What was found, for scripts.
    """

    name: str
    settings: Settings
    out: Path | None
    tell: Callable[[str], None]
    facts: dict[str, Any] = field(default_factory=dict)
    studio: Studio | None = None

    @property
    def folder(self) -> Path:
        """Of the weights."""
        from worker_gpu.engine import weights_of  # here, because it loads the person segmenter

        return weights_of(self.name, self.settings)

    def run(self) -> list[Finding]:
        """Take every step until one fails; the others are skipped then."""
        steps = {"libraries": self.libraries, "files": self.files, "tensors": self.tensors}
        drawing = {"set-up": self.set_up, "picture": self.draw}
        findings: list[Finding] = []
        for name, step in (steps | drawing).items():
            failed = next((finding.subject for finding in findings if finding.level == "error"), None)
            if failed is not None:
                findings.append(Subject(name).skipped(f"after the error in {failed}"))
            elif self.out is None and name in drawing:
                findings.append(Subject(name).skipped("as asked by --no-picture"))
            else:
                findings.append(self._finding(Subject(name), step))
        return findings

    def _finding(self, subject: Subject, step: Callable[[], str]) -> Finding:
        from cli.studio import sentence_of  # here, because the models' libraries take a second to load

        try:
            return subject.ok(step())
        except UnknownWeights as unknown:
            return subject.skipped(str(unknown))
        except (EngineUnavailable, ModelsMissing) as error:
            return subject.error(str(error), f"Mend what the sentence names, or: tryon engines fetch {self.name}")
        except (EngineError, ImageError) as error:
            return subject.error(
                sentence_of(error), "With the published weights this is a fault: report the line below."
            )
        except (DeviceBroken, DeviceOutOfMemory) as error:
            return subject.error(sentence_of(error), "Stop what else uses the device, or choose another: TRYON_DEVICE.")

    def libraries(self) -> str:
        """Which versions are installed."""
        from worker_gpu.engine import check_libraries

        check_libraries(self.name)
        names = OFFERED[self.name].libraries or EMBEDDED_LIBRARIES
        self.facts["libraries"] = {name: metadata.version(name) for name in names}
        return ", ".join(f"{name} {version}" for name, version in self.facts["libraries"].items())

    def files(self) -> str:
        """Compare the digest of every large file with that of where it comes from."""
        if not OFFERED[self.name].weights:
            models = self.settings.engine.models_dir
            for name in MODELS:
                model_path(models, name)
            return f"{len(MODELS)} in {models}, SHA-256 verified"
        from worker_gpu.engine import weights_present

        if not weights_present(self.name, self.settings):
            raise EngineUnavailable(f"The weights of {self.name} are not in {self.folder}, or not whole.")
        if not read_manifest(self.folder):
            raise UnknownWeights("filled by other means than `tryon engines fetch`, so there are no digests to compare")
        self.tell(f"Reading the files in {self.folder} …")
        count = check_folder(self.folder, digests=True)
        self.facts["sources"] = read_manifest(self.folder)["sources"]
        return f"{counted(count, 'file')} in {self.folder}, SHA-256 as the hub gave it"

    def tensors(self) -> str:
        """See that they are those of the network, and read all their numbers."""
        registration = OFFERED[self.name]
        if not registration.weights:
            raise UnknownWeights("the digests of the files say as much")
        if not self.folder.is_dir():
            raise UnknownWeights("a repository in the hub's cache; set-up reads it")
        registration.check(self.folder)
        self.tell("Reading every tensor …")
        found = read_tensors(self.folder)
        self.facts["tensors"] = asdict(found)
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(found.kinds.items()))
        return (
            f"{found.count} ({kinds}) with {found.values / 1e6:,.1f} million numbers: the network's names and shapes, "
            "all finite"
        )

    def set_up(self) -> str:
        """Load the engine as a worker does, which draws once where a network draws."""
        from cli.studio import Studio

        self.tell(f"Loading {self.name}, which measures a step …" if OFFERED[self.name].weights else "Loading …")
        began = time.monotonic()
        self.studio = Studio(self.settings, engine=self.name)
        seconds = time.monotonic() - began
        self.facts["loadSeconds"] = round(seconds, 1)
        pace = self.studio.info.pace
        if pace is None:
            self.facts["device"] = self.studio.info.device
            return f"loaded in {seconds:.1f} s on {self.studio.info.device}"
        from engines.estimate import title_of

        self.facts |= {
            "device": title_of(pace.device),
            "precision": pace.precision,
            "stepSeconds": round(pace.step_seconds, 3),
            "steps": pace.steps,
        }
        whole = duration_words(pace.seconds_for(1))
        self.tell(f"A picture will take about {whole}; Ctrl-C stops it.")
        where = f"{self.facts['device']} in {pace.precision}"
        each = f"a step takes {pace.step_seconds:.2f} s, the {pace.steps} of a picture {whole}"
        return f"loaded in {seconds:.1f} s on {where}; {each}"

    def draw(self) -> str:
        """Put a sample garment on the sample portrait, with all that is done around a network, and judge it."""
        from cli.engines import progress_line

        if self.studio is None or self.out is None:
            raise RuntimeError("set_up() has to come first, and a place for the picture")
        began = time.monotonic()
        person = self.studio.person(path_of(PORTRAIT))
        garment = self.studio.garment(path_of(GARMENT), Category(SAMPLES[GARMENT].category), GarmentHints())
        with progress_line() as tell:
            result = self.studio.render(person, [garment], tell)
        seconds = time.monotonic() - began
        self.out.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(result.picture).save(self.out, quality=95)
        self.facts |= {
            "pictureSeconds": round(seconds, 1),
            "timingsMs": {"segment": person.segment_ms, **result.timings_ms},
            "checks": {name: round(float(figure), 4) for name, figure in result.checks.items()},
            "readings": {name: round(float(figure), 4) for name, figure in self.studio.readings().items()},
            "out": str(self.out),
        }
        return f"{self.out} in {seconds:.1f} s, within all bounds: {_judged(self.facts['checks'])}"


def check(
    *,
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(OFFERED)}.")],
    out: Annotated[
        Path | None, typer.Option(help="Where the picture goes; by default out/check-NAME.jpg.", dir_okay=False)
    ] = None,
    picture: Annotated[
        bool, typer.Option("--picture/--no-picture", help="Draw, which may take minutes to hours without a GPU.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Prove that an engine is whole here: its files, every tensor, and a sample picture; exit 0 only when it is.

    The last line is for a bug report. It names no folder.
    """
    if name not in OFFERED:
        raise typer.BadParameter(f"engines are {', '.join(OFFERED)}")
    place = (out or Path("out") / f"check-{name}.jpg") if picture else None
    examination = Examination(name, load_settings(), place, lambda sentence: typer.echo(sentence, err=True))
    findings = examination.run()
    line = report_line(name, findings, examination.facts)
    if as_json:
        report = {"engine": name, "findings": [asdict(finding) for finding in findings], **examination.facts}
        typer.echo(json.dumps(report | {"line": line}, indent=2))
    else:
        typer.echo("\n".join([*lines_of(findings), *_times(examination.facts), "", "For a bug report:", line]))
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


def report_line(name: str, findings: list[Finding], facts: Mapping[str, Any]) -> str:
    """One line that says what somebody elsewhere has to know; no folder, host or file of this machine.

    Args:
        name: Of the engine.
        findings: Their subjects are told, their sentences name folders.
        facts: As `Examination` gathers them.
    """
    sources = [f"{source['repository']}@{source['revision'][:SHORT_COMMIT]}" for source in facts.get("sources", [])]
    info = OFFERED[name].info
    origin = "weights without a manifest" if OFFERED[name].weights else f"{info.source}, revision {info.revision}"
    parts = [
        f"tryon {metadata.version('tryon-service')}",
        f"engine {name} ({', '.join(sources) or origin})",
        " ".join(str(facts[key]) for key in ("device", "precision") if key in facts) or "no device",
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        ", ".join(f"{library} {version}" for library, version in facts.get("libraries", {}).items()),
    ]
    if "tensors" in facts:
        parts.append(f"{facts['tensors']['count']} tensors")
    if "loadSeconds" in facts:
        parts.append(f"load {facts['loadSeconds']} s")
    if "stepSeconds" in facts:
        parts.append(f"step {facts['stepSeconds']} s x {facts['steps']}")
    if "pictureSeconds" in facts:
        parts += [f"picture {facts['pictureSeconds']} s", _judged(facts["checks"])]
    verdicts = ", ".join(f"{finding.subject} {finding.level}" for finding in findings)
    return "; ".join([*(part for part in parts if part), verdicts])


def _judged(checks: Mapping[str, float]) -> str:
    """Those figures that have a bound in the settings."""
    bounded = CheckSettings.model_fields
    return ", ".join(f"{name} {figure:g}" for name, figure in checks.items() if name in bounded)


def _times(facts: Mapping[str, Any]) -> list[str]:
    if "timingsMs" not in facts:
        return []
    return ["", *(f"  {stage:<24} {spent:>8} ms" for stage, spent in facts["timingsMs"].items())]
