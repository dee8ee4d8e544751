"""A setting that is wrong is one sentence: every command and every process is tried."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from cli.main import PLACES, app
from runtime.concern import Concern, SettingsError
from tests.stack.command_line import API, run_program

PROJECT = Path(__file__).parents[2]

SAID = "TRYON_S3_PORT is 'many'; it has to be a whole number, at least 1024 and at most 55535.\n"
"""Of the one concern that every process looks at first, to find its data folder."""

WITHOUT_SETTINGS = {"backup check"}
"""Commands that need none."""


ASKED_FOR = {"backup release-open": ["--nothing-runs"]}
"""What a command wants to be told before it begins."""


def every_command() -> Iterator[tuple[str, Any]]:
    """Each with its words, groups that do something by themselves too."""

    def below(words: str, command: Any) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "commands") or command.invoke_without_command:
            yield words, command
        for name, each in getattr(command, "commands", {}).items():
            yield from below(f"{words} {name}".strip(), each)

    group: Any = get_command(app)
    for name in PLACES:
        yield from below(name, group.get_command(None, name))


def arguments_of(command: Any, folder: Path) -> list[str]:
    """Something for each parameter that it cannot do without, of the right type."""
    words: list[str] = []
    for each in command.params:
        if not each.required:
            continue
        kind = each.type_descriptor.annotation
        kind = (*get_args(kind), kind)[0]
        # A text is the name of an engine where one is asked for, and as good as any elsewhere.
        text = "upper_body" if each.name == "category" else "warp"
        value = {Path: str(folder / "file"), uuid.UUID: str(uuid.uuid4()), int: "1"}.get(kind, text)
        words += [each.opts[-1], value] if each.opts[-1].startswith("-") else [value]
    return words


@pytest.mark.parametrize("words", [words for words, _ in every_command()])
def test_every_command_says_it_in_one_sentence(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = dict(every_command())[words]
    (tmp_path / "file").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRYON_S3_PORT", "many")
    loaded: list[type[Concern]] = []
    load = Concern.load.__func__  # type: ignore[attr-defined]

    def noted(concern: type[Concern], embedded_file: Path | None) -> Concern:
        loaded.append(concern)
        found: Concern = load(concern, embedded_file)
        return found

    monkeypatch.setattr(Concern, "load", classmethod(noted))
    done = CliRunner().invoke(app, [*words.split(), *arguments_of(command, tmp_path), *ASKED_FOR.get(words, [])])
    if words in WITHOUT_SETTINGS:
        assert not loaded
        assert "TRYON_" not in done.output
        return
    assert loaded, done.output
    assert (done.output, done.exit_code) == (SAID, 1)
    assert isinstance(done.exception, SettingsError)


def every_process() -> list[list[str]]:
    """What can be started with ``python -m`` and reads settings."""
    found = [["cli.main", "up"], ["cli.main", "up", "--detach"], ["cli.main", "db", "upgrade"]]
    for room in ("api", "worker_cpu", "worker_gpu", "bench"):
        for path in sorted((PROJECT / room).rglob("*.py")):
            text = path.read_text()
            if '__name__ == "__main__"' in text and re.search(r"\bload_settings\(|\bSettings\(\)|\brun_worker\(", text):
                name = ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__main__")
                found.append([name, *(["."] if room == "bench" else [])])
    return found


@pytest.mark.parametrize("words", every_process(), ids=" ".join)
def test_every_process_ends_with_one_sentence(words: list[str], tmp_path: Path) -> None:
    environment = {**os.environ, "TRYON_S3_PORT": "many", "TRYON_DATA_DIR": str(tmp_path), "PYTHONPATH": str(PROJECT)}
    done = run_program(words[0], words[1:], environment, tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("", SAID, 1)
    assert [each for each in tmp_path.iterdir() if each.name != "out"] == [], "nothing was begun"


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("TRYON_PLANS_FILE", str(PROJECT / "pyproject.toml"), "TRYON_PLANS_FILE is '"),
        ("TRYON_KEY_PEPPER", "short", "TRYON_KEY_PEPPER is wrong (its value is a secret); it has to be a secret of"),
        ("TRYON_S3_SECRET_KEY", "", "TRYON_S3_SECRET_KEY is wrong (its value is a secret); it has to be set to"),
        ("TRYON_SIGNING_KEY", str(PROJECT / "pyproject.toml"), "Set both TRYON_SIGNING_CERTIFICATES and"),
        ("TRYON_PAYMENTS_PROVIDER", "stripe", "TRYON_PAYMENTS_PROVIDER=stripe needs TRYON_PAYMENTS_STRIPE_SECRET_KEY"),
        ("TRYON_RATE_LIMIT_URL", "http://a:hunter2@b", "TRYON_RATE_LIMIT_URL must begin with one of valkey,"),
    ],
)
def test_the_api_says_what_is_wrong_with_what_only_it_reads(
    variable: str, value: str, said: str, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "TRYON_DATA_DIR": str(tmp_path),
        "TRYON_DATABASE_URL": f"sqlite:///{tmp_path}/tryon.db",
        "TRYON_KEY_PEPPER": "p" * 32,
        "TRYON_S3_SECRET_KEY": "s" * 32,
        variable: value,
    }
    done = run_program(API, [], environment)
    assert done.returncode == 1
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "hunter2" not in done.stdout + done.stderr
