from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from engines.base import EngineUnavailable
from engines.klein.about import MODEL, REVISION
from engines.klein.loading import check_weights, load_networks
from engines.klein.networks import Networks
from engines.klein.repository import model_folder

TRANSFORMER = "transformer/diffusion_pytorch_model.safetensors"
VAE = "vae/diffusion_pytorch_model.safetensors"
TEXT = "text_encoder/model.safetensors"


def load(folder: Path | str, revision: str = REVISION) -> Networks:
    return load_networks(
        str(folder), revision, device=torch.device("cpu"), dtype=torch.float32, text_encoder_device=None
    )


def refused(folder: Path) -> str:
    with pytest.raises(EngineUnavailable) as refusal:
        load(folder)
    return str(refusal.value)


def test_whole_weights_pass(weights: Path) -> None:
    check_weights(weights)


def change_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def change_tensors(path: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)


def test_all_is_loaded_as_asked(weights: Path) -> None:
    networks = load_networks(
        str(weights), REVISION, device=torch.device("cpu"), dtype=torch.bfloat16, text_encoder_device=None
    )
    assert networks.transformer.dtype == networks.vae.dtype == torch.bfloat16
    assert networks.is_distilled
    assert networks.device == networks.words.device == torch.device("cpu")
    assert not any(parameter.requires_grad for parameter in networks.transformer.parameters())
    assert not networks.vae.training
    saved = load_file(weights / TRANSFORMER)["x_embedder.weight"]
    assert torch.equal(networks.transformer.x_embedder.weight, saved.to(torch.bfloat16))


def test_weights_in_pieces_are_loaded_alike(own_weights: Path) -> None:
    whole = load(own_weights)
    tensors = load_file(own_weights / TRANSFORMER)
    (own_weights / TRANSFORMER).unlink()
    names, stem = sorted(tensors), "diffusion_pytorch_model"
    places = {}
    for number, piece in enumerate((names[::2], names[1::2]), start=1):
        file = f"{stem}-{number:05}-of-00002.safetensors"
        save_file({name: tensors[name] for name in piece}, own_weights / "transformer" / file)
        places |= dict.fromkeys(piece, file)
    index = own_weights / "transformer" / f"{stem}.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 0}, "weight_map": places}))
    pieces = load(own_weights)
    for name, tensor in whole.transformer.state_dict().items():
        assert torch.equal(tensor, pieces.transformer.state_dict()[name])
    (own_weights / "transformer" / f"{stem}-00002-of-00002.safetensors").unlink()
    assert "00002-of-00002.safetensors are missing" in refused(own_weights)
    change_json(index, lambda content: content["weight_map"].update({names[0]: "../elsewhere.safetensors"}))
    assert "names ../elsewhere.safetensors" in refused(own_weights)
    index.write_text("{}")
    assert "has no weight_map" in refused(own_weights)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("_class_name", "Flux2Pipeline", "_class_name is 'Flux2Pipeline' instead of 'Flux2KleinPipeline'"),
        (
            "transformer",
            ["diffusers", "FluxTransformer2DModel"],
            "transformer is ['diffusers', 'FluxTransformer2DModel']",
        ),
        ("text_encoder", ["mine", "Qwen3ForCausalLM"], "text_encoder is ['mine', 'Qwen3ForCausalLM']"),
        ("vae", None, "vae is None"),
        ("scheduler", ["diffusers", "EulerDiscreteScheduler"], "scheduler is ['diffusers', 'EulerDiscreteScheduler']"),
    ],
)
def test_another_pipeline_is_refused(own_weights: Path, key: str, value: object, sentence: str) -> None:
    change_json(own_weights / "model_index.json", lambda index: index.update({key: value}))
    said = refused(own_weights)
    assert sentence in said
    assert str(own_weights / "model_index.json") in said


@pytest.mark.parametrize("component", ["transformer", "vae", "text_encoder", "tokenizer", "scheduler"])
def test_a_missing_component_is_named(own_weights: Path, component: str) -> None:
    shutil.rmtree(own_weights / component)
    said = refused(own_weights)
    assert str(own_weights / component) in said
    assert "tryon engines fetch klein" in said


@pytest.mark.parametrize("file", [TRANSFORMER, VAE, TEXT])
def test_missing_weights_are_named(own_weights: Path, file: str) -> None:
    (own_weights / file).unlink()
    said = refused(own_weights)
    assert f"{own_weights / file} are missing" in said
    assert "tryon engines fetch klein" in said


@pytest.mark.parametrize(
    ("file", "pickled"), [(TRANSFORMER, "diffusion_pytorch_model.bin"), (TEXT, "pytorch_model.bin"), (VAE, "ae.ckpt")]
)
def test_pickles_are_never_opened(own_weights: Path, file: str, pickled: str) -> None:
    weights = own_weights / file
    weights.unlink()
    weights.with_name(pickled).write_bytes(pickle.dumps({}))
    assert f"{weights.with_name(pickled)} is a pickle" in refused(own_weights)


def test_a_pickle_by_another_name_is_known(own_weights: Path) -> None:
    torch.save({"x_embedder.weight": torch.zeros(2)}, own_weights / TRANSFORMER)
    assert f"{own_weights / TRANSFORMER} is a pickle" in refused(own_weights)


@pytest.mark.parametrize(
    ("file", "key"),
    [(TRANSFORMER, "x_embedder.weight"), (VAE, "bn.running_mean"), (TEXT, "model.layers.5.mlp.up_proj.weight")],
)
def test_tensors_are_compared_with_the_network(own_weights: Path, file: str, key: str) -> None:
    path = own_weights / file
    kept = load_file(path)[key]
    change_tensors(path, lambda tensors: tensors.pop(key))
    assert refused(own_weights) == f"{path} does not hold the tensor {key}."
    change_tensors(path, lambda tensors: tensors.update({key: torch.zeros(3, 2)}))
    assert f"{path}: {key} has the shape (3, 2) instead of {tuple(kept.shape)}." == refused(own_weights)
    change_tensors(path, lambda tensors: tensors.update({key: kept, "stray": torch.zeros(1)}))
    assert refused(own_weights) == f"{path} holds stray, which is no part of this network."
    change_tensors(path, lambda tensors: tensors.pop("stray"))
    change_tensors(path, lambda tensors: tensors.update({key: kept.to(torch.float8_e4m3fn)}))
    assert f"{path}: {key} is F8_E4M3, which this engine does not load." == refused(own_weights)


def test_a_file_that_was_cut_short_is_refused(own_weights: Path) -> None:
    path = own_weights / VAE
    path.write_bytes(path.read_bytes()[:-8])
    assert f"{path} is corrupt" in refused(own_weights)


def test_the_output_head_may_be_tied_but_not_lost(own_weights: Path) -> None:
    assert "lm_head.weight" not in load_file(own_weights / TEXT)
    change_json(own_weights / "text_encoder/config.json", lambda config: config.update(tie_word_embeddings=False))
    assert refused(own_weights) == f"{own_weights / TEXT} does not hold the tensor lm_head.weight."


@pytest.mark.parametrize("component", ["transformer", "vae", "text_encoder"])
def test_configurations_are_read_with_care(own_weights: Path, component: str) -> None:
    path = own_weights / component / "config.json"
    path.write_text("{")
    assert refused(own_weights) == f"{path} is not readable as JSON."
    path.write_text("[]")
    assert refused(own_weights) == f"{path} does not hold a JSON object."
    path.unlink()
    assert f"{path} is missing" in refused(own_weights)


def test_a_configuration_of_nonsense_is_named(own_weights: Path) -> None:
    path = own_weights / "transformer/config.json"
    change_json(path, lambda config: config.update(num_layers="many"))
    assert f"{path} does not describe this network" in refused(own_weights)


def test_networks_that_do_not_fit_each_other_are_refused(own_weights: Path) -> None:
    config = own_weights / "transformer/config.json"
    change_json(config, lambda content: content.update(joint_attention_dim=48))
    change_tensors(
        own_weights / TRANSFORMER, lambda tensors: tensors.update({"context_embedder.weight": torch.zeros(32, 48)})
    )
    assert refused(own_weights) == f"{config}: joint_attention_dim is 48, but the other networks need 24."


def test_a_shallow_text_encoder_is_refused(own_weights: Path) -> None:
    change_json(own_weights / "text_encoder/config.json", lambda config: config.update(num_hidden_layers=26))
    change_tensors(
        own_weights / TEXT,
        lambda tensors: [tensors.pop(name) for name in list(tensors) if ".layers.26." in name or ".layers.27." in name],
    )
    change_json(own_weights / "text_encoder/config.json", lambda config: config.pop("layer_types", None))
    assert "num_hidden_layers is 26, but layer 27 is read" in refused(own_weights)


def test_a_tokenizer_without_template_is_refused(own_weights: Path) -> None:
    (own_weights / "tokenizer/chat_template.jinja").unlink()
    assert f"{own_weights / 'tokenizer'} has no chat template" in refused(own_weights)


def test_a_missing_tokenizer_file_is_named(own_weights: Path) -> None:
    for path in (own_weights / "tokenizer").iterdir():
        path.unlink()
    assert str(own_weights / "tokenizer") in refused(own_weights)


@pytest.mark.parametrize("model", ["/nowhere/klein", "klein", "a/b/c"])
def test_no_folder_and_no_hub_id(model: str) -> None:
    with pytest.raises(EngineUnavailable, match="fetch it with tryon engines fetch klein"):
        load(model)


def test_a_hub_id_is_looked_up_in_the_cache_alone(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(EngineUnavailable, match=f"{MODEL} at {REVISION} are not on this machine; fetch them with"):
        load(MODEL)
    snapshot = tmp_path / "models--black-forest-labs--FLUX.2-klein-4B" / "snapshots" / REVISION
    shutil.copytree(weights, snapshot)
    assert model_folder(MODEL, REVISION) == snapshot
    assert load(MODEL).is_distilled


@pytest.mark.parametrize("revision", ["main", "", REVISION[:7]])
def test_a_branch_is_no_pinned_revision(revision: str) -> None:
    with pytest.raises(EngineUnavailable, match="is not a commit"):
        load(MODEL, revision)
