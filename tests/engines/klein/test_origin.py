from __future__ import annotations

import json
from pathlib import Path

import pytest

from engines.klein.about import KLEIN, MODEL, REVISION
from engines.klein.origin import info_of
from engines.weights.fetch import MANIFEST


def folder_from(folder: Path, repository: str) -> Path:
    source = {"repository": repository, "revision": "c0ffee", "into": ".", "sha256": {}}
    (folder / MANIFEST).write_text(json.dumps({"licence": "Apache-2.0", "sources": [source]}))
    return folder


def test_the_published_weights_may_earn_money() -> None:
    assert info_of(MODEL, REVISION, "cuda") == KLEIN


def test_a_fetched_folder_says_what_it_is(tmp_path: Path) -> None:
    info = info_of(str(folder_from(tmp_path, MODEL)), REVISION, "cpu")
    assert (info.source, info.revision, info.device) == (MODEL, "c0ffee", "cpu")
    assert info.commercial_use
    assert info.weights_licence == "Apache-2.0"


def test_larger_weights_are_under_another_licence(tmp_path: Path) -> None:
    name = "black-forest-labs/FLUX.2-klein-9B"
    for model in (name, str(folder_from(tmp_path, name))):
        info = info_of(model, REVISION, "cuda")
        assert not info.commercial_use
        assert (info.source, info.weights_licence) == (name, "unknown")


@pytest.mark.parametrize("content", [None, "{}", "[]", "{", '{"sources": []}', '{"sources": ["a"]}'])
def test_nothing_is_known_of_a_folder_without_a_manifest(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / MANIFEST).write_text(content)
    info = info_of(str(tmp_path), REVISION, "cuda")
    assert not info.commercial_use
    assert (info.source, info.revision) == (str(tmp_path), "unknown")
