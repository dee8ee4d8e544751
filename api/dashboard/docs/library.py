"""Which texts there are, and for whom: some are for everybody, the others tell operators how to run the service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from api.dashboard.docs.markdown import Rendered, render
from api.dashboard.rendering import ROOT

FOLDER = Path(__file__).parents[3] / "docs"
"""Beside the packages, in a checkout and in an image; an installation of the packages alone comes without."""

EXAMPLE_URL = "http://127.0.0.1:8000"
"""Where the texts say that the service is."""


@dataclass(frozen=True)
class Text:
    """A text for everybody.

    Attributes:
        label: What lists call it.
        leave_out: Headings of sections that are about commands and servers.
    """

    label: str
    leave_out: tuple[str, ...] = ()


TEXTS: Mapping[str, Text] = {
    "clients": Text("Calling the service"),
    "api": Text("API reference"),
    "errors": Text("Errors"),
    "test-keys": Text("Test keys"),
    "garments": Text("Garments"),
    "products": Text("Products", leave_out=("Importing a file", "For operators")),
    "watermark": Text("Watermark", leave_out=("Setting it", "What you can rely on")),
    "privacy": Text("Privacy"),
}


@dataclass(frozen=True)
class Replaced:
    """A text for operators in whose place owners have a page of its own.

    Attributes:
        address: Of that page, below the docs.
        own_label: What lists call the page.
        label: What they call the text.
    """

    address: str
    own_label: str
    label: str


REPLACED: Mapping[str, Replaced] = {
    "quickstart": Replaced("", "Quickstart", "First steps on a machine"),
    "billing": Replaced("/limits", "Limits and billing", "Plans and quotas"),
}


def own_address(name: str) -> str | None:
    """Where owners find what a text is about; nothing for a text that is for operators."""
    if name in TEXTS:
        return f"{ROOT}/docs/{name}"
    return f"{ROOT}/docs{REPLACED[name].address}" if name in REPLACED else None


def label_of(name: str, *, operator: bool) -> str:
    """What a reader calls a text, or the page in its place."""
    if name in TEXTS:
        return TEXTS[name].label
    if name in REPLACED:
        return REPLACED[name].label if operator else REPLACED[name].own_label
    return name.replace("-", " ").capitalize()


def operator_texts(folder: Path = FOLDER) -> dict[str, str]:
    """Name and label of each text that operators have beside `TEXTS`."""
    found = sorted(folder.glob("*.md")) if folder.is_dir() else []
    return {path.stem: label_of(path.stem, operator=True) for path in found if path.stem not in TEXTS}


@lru_cache(maxsize=256)
def read_text(name: str, *, operator: bool, base_url: str, folder: Path = FOLDER) -> Rendered | None:
    """A text as a page.

    Args:
        name: Of its file, without the ending.
        operator: Whether an operator reads it, whom it is shown to as it is.
        base_url: Where browsers find the service; stands in place of `EXAMPLE_URL`.
        folder: Where the texts are.

    Returns:
        ``None`` if there is none, or not for this reader.
    """
    if name not in TEXTS and not (operator and name in operator_texts(folder)):
        return None
    path = folder / f"{name}.md"
    if not path.is_file():
        return None
    others = operator_texts(folder) if operator else {}

    def where(link: str) -> str | None:
        file, hash_sign, anchor = link.partition("#")
        if not file or link.startswith(("http://", "https://")):
            return link
        stem = file.removesuffix(".md")
        if stem == file:
            return None
        address = f"{ROOT}/docs/{stem}" if stem in others else own_address(stem)
        return None if address is None else f"{address}{hash_sign}{anchor}"

    return render(
        path.read_text().replace(EXAMPLE_URL, base_url),
        where=where,
        names={each.name: label_of(each.stem, operator=operator) for each in folder.glob("*.md")},
        leave_out=() if operator else TEXTS[name].leave_out,
    )
