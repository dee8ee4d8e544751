"""TypeScript, compiled and run by what `make test-env` fetches from npm; skipped where there is no npm."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[1] / ".venv" / "npm" / "node_modules"
SECONDS = 170


def node() -> str:
    """The program that runs what was compiled."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed")
    return program


def npm_program(path: str) -> list[str | Path]:
    """The command of a program among the packages, such as ``typescript/bin/tsc``."""
    if not (PACKAGES / path).is_file():
        pytest.skip(f"{path.partition('/')[0]} is not there (make test-env fetches it where there is npm)")
    return [node(), PACKAGES / path]


COMPILER = """
const ts = require(process.argv[1]);
const library = new Map();  // what every program has in common, read once
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { folder, words } = JSON.parse(line);
  process.chdir(folder);
  const { options, fileNames } = ts.parseCommandLine(words);
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  host.getSourceFile = (name, ...how) => {
    if (!name.includes("/node_modules/")) return read(name, ...how);
    if (!library.has(name)) library.set(name, read(name, ...how));
    return library.get(name);
  };
  const program = ts.createProgram(fileNames, options, host);
  const found = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  console.log(JSON.stringify(ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(found), host)));
});
"""


@cache
def compiler() -> subprocess.Popen[str]:
    """TypeScript's compiler, which reads its library once instead of for every program; it ends with its input."""
    program = npm_program("typescript/lib/typescript.js")[1]
    return subprocess.Popen(
        [node(), "-e", COMPILER, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=PACKAGES
    )


def compiler_says(*files: Path) -> str:
    """Compile TypeScript as strictly as it goes; returns the complaints. What has any is not written."""
    options = ["--strict", "--noEmitOnError", "--skipLibCheck", "--target", "es2022", "--module", "nodenext"]
    types = ["--types", "node", "--typeRoots", PACKAGES / "@types"]
    at_work = compiler()
    assert at_work.stdin is not None
    assert at_work.stdout is not None
    words = [str(word) for word in (*options, *types, *files)]
    at_work.stdin.write(json.dumps({"folder": str(files[0].parent), "words": words}) + "\n")
    at_work.stdin.flush()
    complaints: str = json.loads(at_work.stdout.readline())
    return complaints


def compiled(file: Path) -> Path:
    """The JavaScript of a module (``.mts``) without a single complaint of the compiler."""
    complaints = compiler_says(file)
    assert complaints == "", complaints
    return file.with_suffix(".mjs")
