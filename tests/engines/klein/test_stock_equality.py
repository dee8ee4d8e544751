"""The engine's pictures and those of diffusers' own pipeline, loaded and called by diffusers' own code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import Flux2KleinPipeline
from PIL import Image

from engines.base import Hints, Picture
from engines.garment_kinds import GarmentKind
from engines.generative.painter import PaintRequest
from engines.klein.about import REVISION
from engines.klein.embeddings import embedding_file, store_embedding
from engines.klein.painter import KleinPainter
from engines.klein.prompt import prompt_for
from tests.engines.klein.test_loading import change_json
from tests.engines.klein.tiny import go_on, ignore, networks_of, reference, request


def stock_picture(stock: Flux2KleinPipeline, asked: PaintRequest, guidance: float = 1.0) -> Picture:
    pictures = [asked.person]
    for shown in asked.references:
        pictures += [shown.picture] if shown.back is None else [shown.picture, shown.back]
    image = stock(
        image=[Image.fromarray(picture) for picture in pictures],
        prompt=prompt_for(asked.references),
        num_inference_steps=4,
        guidance_scale=guidance,
        generator=torch.Generator("cpu").manual_seed(asked.seed),
    ).images[0]
    return np.asarray(image)


def test_same_bits_as_the_stock_pipeline_cold_and_warm(painter: KleinPainter, stock: Flux2KleinPipeline) -> None:
    asked = request(reference(11), reference(12, Hints(view_angle="back"), back=True))
    expected = stock_picture(stock, asked)
    misses, hits = painter.latents.misses, painter.latents.hits
    cold = painter.paint(asked, ignore, go_on)
    assert (painter.latents.misses, painter.latents.hits) == (misses + 3, hits)
    words = painter.embeddings.hits
    warm = painter.paint(asked, ignore, go_on)
    assert (painter.latents.misses, painter.latents.hits) == (misses + 3, hits + 3)
    assert painter.embeddings.hits == words + 1
    np.testing.assert_array_equal(cold, expected)
    np.testing.assert_array_equal(warm, expected)


def test_same_bits_in_bfloat16(weights: Path) -> None:
    stock = Flux2KleinPipeline.from_pretrained(weights, dtype=torch.bfloat16, local_files_only=True)
    stock.set_progress_bar_config(disable=True)
    painter = KleinPainter(str(weights), device="cpu")
    painter.setup()
    asked = request(reference(1))
    np.testing.assert_array_equal(painter.paint(asked, ignore, go_on), stock_picture(stock, asked))


def test_undistilled_weights_are_guided_as_in_the_stock_pipeline(own_weights: Path) -> None:
    change_json(own_weights / "model_index.json", lambda index: index.update(is_distilled=False))
    stock = Flux2KleinPipeline.from_pretrained(own_weights, dtype=torch.float32, local_files_only=True)
    stock.set_progress_bar_config(disable=True)
    painter = KleinPainter(str(own_weights), device="cpu", dtype="float32", guidance=3.0)
    painter.setup()
    asked = request(reference(1))
    guided = painter.paint(asked, ignore, go_on)
    np.testing.assert_array_equal(guided, stock_picture(stock, asked, guidance=3.0))
    assert (guided != stock_picture(stock, asked)).any()
    unguided = KleinPainter(device="cpu", dtype="float32", networks=networks_of(painter))
    unguided.setup()
    np.testing.assert_array_equal(unguided.paint(asked, ignore, go_on), stock_picture(stock, asked))


def test_stored_embeddings_take_the_place_of_the_text_encoder(
    tmp_path: Path, painter: KleinPainter, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = request(reference(1, Hints(kind=GarmentKind.SHIRT)))
    prompt = prompt_for(asked.references)
    expected = painter.paint(asked, ignore, go_on)
    embedding = painter.embeddings.find(prompt)
    assert embedding is not None
    store_embedding(tmp_path, prompt, REVISION, embedding)
    assert embedding_file(tmp_path, prompt, REVISION).is_file()
    reader = KleinPainter(device="cpu", dtype="float32", embeddings_folder=tmp_path, networks=networks_of(painter))
    reader.setup()
    monkeypatch.setattr(type(networks_of(reader).words), "encode", None)
    np.testing.assert_array_equal(reader.paint(asked, ignore, go_on), expected)
    assert reader.embeddings.reads == 1
