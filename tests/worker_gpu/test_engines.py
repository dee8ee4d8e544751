"""Which engines a worker takes, by its settings and by what is on the machine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from engines.base import Category, EngineUnavailable, Garment, Hints, RenderRequest
from engines.flat.about import FLAT
from engines.klein.about import KLEIN
from engines.weights.fetch import MANIFEST
from runtime.concern import SettingsError
from runtime.settings import Settings
from tests.engines.painted import DrawnSegmenter, person_at_a_wall
from worker_gpu.engine import choose_engines, is_ready, weights_present

MANIFEST_TEXT = json.dumps(
    {"licence": KLEIN.weights_licence, "sources": [{"repository": KLEIN.source, "revision": KLEIN.revision}]}
)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TRYON_WEIGHTS_DIR", str(tmp_path))
    return Settings()


def have_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, said in {"is_available": True, "device_count": 1, "current_device": 0}.items():
        monkeypatch.setattr(torch.cuda, name, lambda said=said: said)


def names_of(settings: Settings) -> list[str]:
    return [engine.info.name for engine in choose_engines(settings, DrawnSegmenter()).all]


def test_auto_is_warp_where_nothing_was_fetched(settings: Settings) -> None:
    assert names_of(settings) == ["warp"]


def test_auto_is_warp_while_weights_are_being_fetched(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_a_gpu(monkeypatch)
    (tmp_path / "klein").mkdir()
    assert names_of(settings) == ["warp"]


def test_auto_is_klein_where_weights_and_a_gpu_are(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "klein").mkdir()
    (tmp_path / "klein" / MANIFEST).write_text(MANIFEST_TEXT)
    assert names_of(settings) == ["warp"]
    have_a_gpu(monkeypatch)
    assert is_ready("klein", settings)
    assert names_of(settings) == ["klein"]


def test_auto_does_without_a_gpu_only_where_none_was_named(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "klein").mkdir()
    (tmp_path / "klein" / MANIFEST).write_text(MANIFEST_TEXT)
    monkeypatch.setenv("TRYON_DEVICE", "cuda")
    with pytest.raises(EngineUnavailable, match="CUDA"):
        names_of(Settings())
    have_a_gpu(monkeypatch)
    monkeypatch.setenv("TRYON_DEVICE", "cpu")
    assert names_of(Settings()) == ["warp"]


def test_engines_beside_the_route_are_there_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_ENGINE", "warp")
    monkeypatch.setenv("TRYON_ENGINES_BESIDE", "flat, warp")
    assert names_of(Settings()) == ["warp", "flat"]
    monkeypatch.setenv("TRYON_ENGINES_BESIDE", "dream")
    with pytest.raises(SettingsError, match="TRYON_ENGINES_BESIDE"):
        Settings()


def test_klein_which_looks_at_the_free_memory_is_set_up_last(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told of the memory that is left to it, whichever way the route is written."""
    (tmp_path / "klein").mkdir()
    (tmp_path / "klein" / MANIFEST).write_text(MANIFEST_TEXT)
    for route, beside in (("upper_body=warp,*=klein", ""), ("klein", "warp")):
        monkeypatch.setenv("TRYON_ENGINE", route)
        monkeypatch.setenv("TRYON_ENGINES_BESIDE", beside)
        assert names_of(Settings()) == ["warp", "klein"]


def test_folder_of_the_operators_own_counts_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_FASHN_WEIGHTS", str(tmp_path / "mine"))
    assert not weights_present("fashn", Settings())
    (tmp_path / "mine").mkdir()
    assert weights_present("fashn", Settings())


def test_hub_id_that_is_not_in_the_cache_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("TRYON_KLEIN_MODEL", "somebody/else")
    assert not weights_present("klein", Settings())


def test_the_engine_for_tests_is_found_by_its_name_and_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder and its line in the catalogue are all there is of it."""
    monkeypatch.setenv("TRYON_ENGINE", "flat")
    monkeypatch.setenv("TRYON_CHECK_POSE", "99")
    person = person_at_a_wall()
    (engine,) = choose_engines(Settings(), DrawnSegmenter(person)).all
    assert engine.info is FLAT
    engine.setup()
    red = np.full((60, 40, 3), 255, np.uint8)
    red[10:50, 5:35] = (200, 0, 0)
    garment = Garment(red, Category.UPPER_BODY, Hints(tuck_state="tucked"))
    request = RenderRequest(person.photo, person.person_map, [garment])
    result = engine.render(request, lambda _: None, lambda: False)
    assert result.picture.shape == person.photo.shape
    assert (result.picture == (200, 0, 0)).all(2).sum() > 1000
    assert list(result.hints_not_applied) == ["tuck_state"]


def test_route_that_is_none_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_ENGINE", "flux")
    with pytest.raises(EngineUnavailable, match="TRYON_ENGINE: 'flux' is no route"):
        choose_engines(Settings(), DrawnSegmenter())
