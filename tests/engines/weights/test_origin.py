from __future__ import annotations

import json
from pathlib import Path

import pytest

from engines.base import EngineInfo
from engines.fashn import about as fashn
from engines.klein import about as klein
from engines.weights.fetch import MANIFEST
from engines.weights.origin import info_of

KLEIN_BASE, KLEIN_9B = "black-forest-labs/FLUX.2-klein-base-4B", "black-forest-labs/FLUX.2-klein-9B"


def folder_from(folder: Path, *repositories: str) -> str:
    sources = [
        {"repository": name, "revision": f"c0ffee{number}", "into": ".", "sha256": {}}
        for number, name in enumerate(repositories)
    ]
    (folder / MANIFEST).write_text(json.dumps({"licence": "Apache-2.0", "sources": sources}))
    return str(folder)


def klein_info(model: str, device: str = klein.KLEIN.device) -> EngineInfo:
    return info_of(klein.KLEIN, klein.ENGINE.licences, model, revision=klein.REVISION, device=device)


def fashn_info(model: str) -> EngineInfo:
    return info_of(fashn.FASHN, fashn.ENGINE.licences, model, revision=fashn.REVISION, device="cuda")


def test_the_published_weights_may_earn_money() -> None:
    assert klein_info(klein.MODEL) == klein.KLEIN


def test_a_fetched_folder_says_what_it_is(tmp_path: Path) -> None:
    info = klein_info(folder_from(tmp_path, klein.MODEL), "cpu")
    assert (info.source, info.revision, info.device) == (klein.MODEL, "c0ffee0", "cpu")
    assert info.commercial_use
    assert info.weights_licence == "Apache-2.0"


@pytest.mark.parametrize("name", [KLEIN_9B, KLEIN_BASE])
def test_other_weights_are_not_known(tmp_path: Path, name: str) -> None:
    for model in (name, folder_from(tmp_path, name)):
        info = klein_info(model)
        assert not info.commercial_use
        assert (info.source, info.weights_licence) == (name, "unknown")


def test_every_repository_of_a_folder_counts(tmp_path: Path) -> None:
    info = fashn_info(folder_from(tmp_path, fashn.MODEL, fashn.POSES))
    assert (info.source, info.revision) == (fashn.MODEL, "c0ffee0")
    assert (info.weights_licence, info.commercial_use) == ("Apache-2.0", True)
    mixed = fashn_info(folder_from(tmp_path, fashn.MODEL, "somebody/poses"))
    assert (mixed.weights_licence, mixed.commercial_use) == ("unknown", False)


@pytest.mark.parametrize("content", [None, "{}", "[]", "{", '{"sources": []}', '{"sources": ["a"]}'])
def test_nothing_is_known_of_a_folder_without_a_manifest(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / MANIFEST).write_text(content)
    info = klein_info(str(tmp_path))
    assert not info.commercial_use
    assert (info.source, info.revision) == (str(tmp_path), "unknown")
