"""What trains the garment's network: marks become parts, pictures carry marks along, losses can be learnt from."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
import torch

from engines.garment.network import MIRRORED_PARTS, MIRRORED_POINTS, SIZE, Kind, Part, Point
from engines.models import models_present
from training.garment.data import IGNORED, Augmenter, Sample, parts_of, split
from training.garment.marks import KINDS, POINTS, Marks, read_marks, settled_mask
from training.garment.train import garment_network, losses

MODELS = Path(__file__).parents[2] / ".models"
needs_models = pytest.mark.skipif(not models_present(MODELS), reason="the model files were not fetched")

TEE = {
    "kind": "top",
    "outline": [
        [70, 30], [90, 40], [110, 30], [160, 70], [145, 95], [125, 80], [125, 190], [55, 190], [55, 80],
        [35, 95], [20, 70],
    ],
    "neckline": [[70, 30], [80, 55], [100, 55], [110, 30]],
    "points": {
        "neck_left": [70, 30], "neck_right": [110, 30], "shoulder_left": [50, 46], "shoulder_right": [130, 46],
        "armpit_left": [55, 80], "armpit_right": [125, 80], "cuff_left_outer": [20, 70], "cuff_right_outer": [160, 70],
        "cuff_left_inner": [35, 95], "cuff_right_inner": [145, 95], "hem_left": [55, 190], "hem_right": [125, 190],
    },
}  # fmt: skip


def tee() -> Sample:
    """A red T-shirt on grey."""
    marks = Marks.told(TEE)
    photo = np.full((220, 180, 3), 150, np.uint8)
    cv2.fillPoly(photo, [marks.outline.astype(np.int32)], (200, 30, 30))
    points = np.full((len(Point), 2), np.nan, np.float32)
    for name, place in marks.points.items():
        points[Point[name.upper()]] = place
    return Sample("tee", 1, Kind.TOP, photo, parts_of(settled_mask(photo, marks), marks), points)


def test_names_are_those_of_the_network() -> None:
    assert [name.upper() for name in POINTS] == [point.name for point in Point]
    assert [name.upper() for name in KINDS] == [kind.name for kind in Kind]


def test_mirroring_twice_changes_nothing_and_swaps_left_and_right() -> None:
    for mirrored, names in ((MIRRORED_PARTS, Part), (MIRRORED_POINTS, Point)):
        assert [mirrored[each] for each in mirrored] == list(range(len(names)))
        for one, other in enumerate(mirrored):
            assert names(one).name.replace("LEFT", "RIGHT") == names(other).name.replace("LEFT", "RIGHT")


def test_parts_follow_the_seams() -> None:
    parts = tee().parts
    for (x, y), part in {
        (90, 120): Part.BODY,
        (35, 75): Part.LEFT_SLEEVE,
        (145, 75): Part.RIGHT_SLEEVE,
        (90, 50): Part.BACK,
        (10, 10): Part.GROUND,
    }.items():
        assert parts[y, x] == part, (x, y)


def test_legs_part_at_the_crotch() -> None:
    mask = np.zeros((200, 120), bool)
    mask[20:180, 20:100] = True
    marks = Marks.told(
        {
            "kind": "trousers",
            "outline": [[20, 20], [100, 20], [100, 180], [20, 180]],
            "points": {"crotch": [60, 80], "hem_left_inner": [58, 180], "hem_right_inner": [62, 180]},
        }
    )
    parts = parts_of(mask, marks)
    assert parts[50, 60] == Part.BODY
    assert parts[150, 40] == Part.LEFT_LEG
    assert parts[150, 80] == Part.RIGHT_LEG


def test_made_pictures_stay_what_their_marks_say() -> None:
    sample = tee()
    augmenter, whole = Augmenter(np.random.default_rng(0), [sample]), 0
    for _ in range(20):
        photo, parts, points = augmenter.drawn(sample)
        assert (photo.shape, parts.shape) == ((SIZE, SIZE, 3), (SIZE, SIZE))
        left, right = points[Point.CUFF_LEFT_OUTER], points[Point.CUFF_RIGHT_OUTER]
        if np.isnan([left, right]).any():  # the picture ends within the garment
            continue
        whole += 1
        assert left[0] < right[0]
        columns = np.nonzero(parts == Part.LEFT_SLEEVE)[1]
        assert abs(columns.mean() - left[0]) < abs(columns.mean() - right[0])
        assert np.isnan(points[Point.CROTCH]).all()
    assert whole > 10


def test_no_sender_trains_and_judges() -> None:
    samples = [
        Sample(str(n), n, IGNORED, np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4), np.uint8), None) for n in range(30)
    ]
    train, judges = split(samples)
    assert judges
    assert not {s.sender for s in train} & {s.sender for s in judges}


def test_the_marks_that_are_kept_are_whole() -> None:
    marks = read_marks()
    assert len(marks) > 200
    for name, each in marks.items():
        missing = each.expected() - set(each.points)
        assert len(missing) <= 7, (name, missing)


@needs_models
def test_a_few_steps_learn_one_picture() -> None:
    torch.manual_seed(0)
    network = garment_network(MODELS).train()
    sample = tee()
    augmenter = Augmenter(np.random.default_rng(0), [sample])
    drawn = [augmenter.drawn(sample)]
    seen = torch.from_numpy(np.stack([photo.transpose(2, 0, 1) for photo, _, _ in drawn])).float()
    parts = torch.from_numpy(np.stack([each for _, each, _ in drawn])).long()
    points = torch.from_numpy(np.stack([each for _, _, each in drawn]))
    kinds = torch.full((1,), int(Kind.TOP))
    optimizer = torch.optim.AdamW([p for p in network.parameters() if p.requires_grad], lr=3e-3)
    told = []
    for _ in range(8):
        loss = losses(network(seen), parts, points, kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told.append(float(loss.detach()))
    assert told[-1] < 0.7 * told[0]
