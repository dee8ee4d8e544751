"""What trains the parser: its encoder is MediaPipe's, its pictures are what they say, its losses can be learnt from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from engines.base import Landmark
from engines.garment.network import SIZE
from engines.models import models_present
from engines.person.parser import HEIGHT, PLANES, WIDTH, Thing
from training.export import export
from training.exported import load_exported
from training.garment.train import garment_network
from training.network import TAPS, PoseEncoder
from training.parser.data import IGNORED, MIRRORED, NAMES, Augmenter, Look, Sample, _repaired, split
from training.parser.evaluate import GROUPS, Overlap, grouped
from training.parser.train import losses, parser_network, seen_again, unsteadiness

MODELS = Path(__file__).parents[2] / ".models"
POSE = MODELS / "pose_landmark_full.tflite"
needs_models = pytest.mark.skipif(not models_present(MODELS), reason="the model files were not fetched")


def figure(number: int = 1) -> Sample:
    """Somebody drawn: head, red top, blue trousers, shoes, before grey."""
    photo = np.full((300, 200, 3), 150, np.uint8)
    labels = np.full((300, 200), Thing.GROUND, np.uint8)
    boxes = {
        Thing.HAIR: ((85, 20, 30, 15), (60, 40, 20)),
        Thing.SKIN: ((85, 35, 30, 30), (220, 170, 140)),
        Thing.TOP: ((65, 65, 70, 85), (200, 30, 30)),
        Thing.TROUSERS: ((70, 150, 60, 110), (30, 40, 160)),
        Thing.SHOES: ((65, 260, 70, 15), (20, 20, 20)),
    }
    for thing, ((left, top, across, down), colour) in boxes.items():
        photo[top : top + down, left : left + across] = colour
        labels[top : top + down, left : left + across] = thing
    mask = np.where(labels == Thing.GROUND, np.uint8(0), np.uint8(255))
    rows = np.interp(np.arange(33), [0, 11, 15, 23, 27, 32], [50, 75, 150, 150, 255, 268])
    columns = np.where(np.arange(33) % 2 == 1, 120.0, 80.0)
    return Sample(number, photo, labels, (Look(mask, mask, np.column_stack([columns, rows]).astype(np.float32)),))


def test_every_name_of_the_set_belongs_to_one_class() -> None:
    words = " ".join(NAMES.values()).split()
    assert len(words) == len(set(words)) == 59


def test_augmented_pictures_stay_what_their_labels_say() -> None:
    augmenter, sample = Augmenter(np.random.default_rng(0)), figure()
    seen_things = set()
    for _ in range(20):
        seen, _, labels = augmenter.drawn(sample)
        assert (seen.shape, seen.dtype, labels.shape) == ((PLANES, HEIGHT, WIDTH), np.uint8, (HEIGHT, WIDTH))
        seen_things |= set(np.unique(labels).tolist())
        top, ground = seen[:3, labels == Thing.TOP].T, seen[:3, labels == Thing.GROUND].T
        assert len(top) > 100
        assert len(ground) > 100
    assert seen_things == {
        *map(int, (Thing.GROUND, Thing.HAIR, Thing.SKIN, Thing.TOP, Thing.TROUSERS, Thing.SHOES)),
        IGNORED,
    }


def test_mirrored_and_turned_pictures_carry_their_masks_along() -> None:
    augmenter, sample = Augmenter(np.random.default_rng(1)), figure()
    compared = 0
    for _ in range(20):
        seen, _, labels = augmenter.drawn(sample)
        mask = seen[3] > 127
        person = (labels != Thing.GROUND) & (labels != IGNORED)
        if mask.any():
            compared += 1
            assert (mask == person)[labels != IGNORED].mean() > 0.98
    assert compared > 10


def test_a_dress_below_a_top_is_a_skirt_and_denim_at_the_chest_is_outerwear() -> None:
    sample = figure()
    sample.labels[150:220, 70:130] = Thing.DRESS
    assert (_repaired(sample).labels[160:210, 80:120] == Thing.SKIRT).all()
    sample = figure()
    sample.labels[70:120, 66:80] = Thing.TROUSERS
    repaired = _repaired(sample).labels
    assert (repaired[75:115, 68:78] == Thing.OUTERWEAR).all()
    assert (repaired[170:240, 80:120] == Thing.TROUSERS).all()


def test_left_and_right_landmarks_change_places_in_a_mirrored_photo() -> None:
    for landmark in Landmark:
        other = landmark.name
        for side, opposite in (("LEFT", "RIGHT"), ("RIGHT", "LEFT")):
            if side in landmark.name:
                other = landmark.name.replace(side, opposite)
        assert Landmark(MIRRORED[landmark]).name == other


def test_who_judges_never_trains() -> None:
    samples = [figure(number) for number in range(1, 41)]
    train, judges = split(samples, 3)
    assert {s.number for s in judges} == {3, 13, 23, 33}
    assert not {s.number for s in train} & {s.number for s in judges}


def test_what_is_seen_again_lies_where_the_grid_says() -> None:
    torch.manual_seed(0)
    augmenter = Augmenter(np.random.default_rng(2))
    drawn = [augmenter.drawn(figure()) for _ in range(8)]
    seen = torch.from_numpy(np.stack([each for each, *_ in drawn])).float()
    labels = torch.from_numpy(np.stack([each for *_, each in drawn])).long()
    again, grid = seen_again(seen, seen[:, 3:])
    assert again.shape == seen.shape
    assert -0.01 <= again.min() < again.max() <= 255.01
    laid_on = lambda planes: torch.nn.functional.grid_sample(planes, grid, padding_mode="border", align_corners=False)  # noqa: E731
    mask, laid = again[:, 3] > 127, laid_on(seen[:, 3:4])[:, 0] > 127
    assert (mask == laid).float().mean() > 0.97
    assert (mask != (seen[:, 3] > 127)).float().mean() > 0.05, "it was moved"
    sure = 8.0 * torch.nn.functional.one_hot(labels.clamp(max=12), 13).permute(0, 3, 1, 2).float()
    same = laid_on(sure)
    assert float(unsteadiness(sure, same, grid)) < 0.01
    assert float(unsteadiness(sure, sure, grid)) > 0.5, "not moved along, it is another answer"


def test_overlap_counts_what_it_should() -> None:
    truth = grouped(figure().labels)
    overlap = Overlap()
    overlap.add(truth, truth, 40.0)
    figures = overlap.figures()
    assert figures["upper"] == figures["lower"] == 1.0
    assert figures["blob"] == 0.0
    found = truth.copy()
    found[150:260, 70:130] = list(GROUPS).index("full")
    overlap = Overlap()
    overlap.add(truth, found, 40.0)
    figures = overlap.figures()
    assert figures["lower"] == 0.0
    assert "full" not in figures, "of what is not there nothing can be told"
    assert figures["blob"] == pytest.approx(108 * 58 / 40**2, rel=0.02)


@needs_models
@pytest.mark.filterwarnings("ignore:.*experimental_preserve_all_tensors")
def test_the_encoder_is_that_of_the_pose_network() -> None:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(POSE), experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    picture = np.random.default_rng(0).random((1, 256, 256, 3), np.float32)
    interpreter.set_tensor(0, picture)
    interpreter.invoke()
    with torch.no_grad():
        maps = PoseEncoder(POSE).eval()(torch.from_numpy(picture.transpose(0, 3, 1, 2)))
    for tap, found in zip(TAPS, maps, strict=True):
        wanted = interpreter.get_tensor(tap).transpose(0, 3, 1, 2)
        assert np.abs(found.numpy() - wanted).max() < 2e-3 * max(1.0, float(np.abs(wanted).max()))


@needs_models
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_few_steps_learn_one_picture_and_the_exported_file_begins_another_training(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = parser_network(MODELS).train()
    augmenter = Augmenter(np.random.default_rng(0))
    drawn = [augmenter.drawn(figure()) for _ in range(2)]
    seen = torch.from_numpy(np.stack([each for each, *_ in drawn])).float()
    labels = torch.from_numpy(np.stack([each for *_, each in drawn])).long()
    optimizer = torch.optim.AdamW([p for p in network.parameters() if p.requires_grad], lr=3e-3)
    told = []
    for _ in range(8):
        loss = losses(network(seen), labels, torch.ones(len(Thing)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told.append(float(loss.detach()))
    assert told[-1] < 0.7 * told[0]
    frozen = [p for p in network.encoder.parameters() if not p.requires_grad]
    assert frozen
    assert all(p.grad is None for p in frozen)
    checkpoint, path = tmp_path / "parser.pt", tmp_path / "parser.onnx"
    torch.save({"mean": network.state_dict()}, checkpoint)
    assert export(parser_network(MODELS), checkpoint, (PLANES, HEIGHT, WIDTH), path) < 1e-2

    again = parser_network(MODELS)
    load_exported(again, path, [seen])
    network.eval()
    with torch.no_grad():
        assert (again.eval()(seen)[0] - network(seen)[0]).abs().max() < 1e-2

    garment = garment_network(MODELS)
    load_exported(garment, path, [torch.rand(2, 3, SIZE, SIZE) * 255])
    name = "joined.1.1.0.weight"
    assert torch.equal(garment.state_dict()[name], again.state_dict()[name]), "it begins with the parser's weights"
    assert garment.head.weight.shape[0] != again.head.weight.shape[0]
