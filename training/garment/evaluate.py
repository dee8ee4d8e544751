"""Judge a garment network: ``python -m training.garment.evaluate --model garment.onnx --clothing FOLDER``.

On photos of senders that did not train: overlap of the garment's mask with the marked one, by the network alone and as
the engine settles it; of the parts; how far landmarks lie from the marked ones; and how often the kind is right.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np

from engines.garment.cloth import MARGIN, lay_on_canvas
from engines.garment.cutout import garment_mask
from engines.garment.network import MODEL, GarmentNetwork, Kind, Part, Point
from training.garment.data import IGNORED, parts_of, prepared, split
from training.garment.marks import read_marks, settled_mask

if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--model", type=Path, default=MODEL)
    arguments.add_argument("--clothing", type=Path, required=True)
    given = arguments.parse_args()
    cv2.setNumThreads(1)
    network, marked = GarmentNetwork(given.model), read_marks()
    _, judges = split(prepared())
    alone: list[float] = []
    settled: list[float] = []
    steady: list[float] = []
    away: dict[str, list[float]] = defaultdict(list)
    met, either = np.zeros(len(Part)), np.zeros(len(Part))
    kinds = np.zeros((len(Kind), len(Kind)), int)
    for judge in judges:
        photo = np.asarray(
            cv2.cvtColor(cv2.imread(str(given.clothing / "photos" / f"{judge.name}.jpg")), cv2.COLOR_BGR2RGB), np.uint8
        )
        if judge.points is None:
            if judge.kind != IGNORED:
                kinds[judge.kind, int(network.look(photo).kinds.argmax())] += 1
            continue
        marks, canvas = marked[judge.name], lay_on_canvas(photo)
        seen = network.look(canvas, MARGIN)
        height, width = canvas.shape[:2]
        inner = np.s_[MARGIN : height - MARGIN, MARGIN : width - MARGIN]
        size = (width - 2 * MARGIN, height - 2 * MARGIN)
        truth = cv2.resize(parts_of(settled_mask(photo, marks), marks), size, interpolation=cv2.INTER_NEAREST)
        cloth = truth != Part.GROUND
        masks = seen.chance(Part.GROUND, height, width)[inner] < 0.5, garment_mask(canvas, seen)[inner]
        for mask, overlaps in zip(masks, (alone, settled), strict=True):
            overlaps.append(float((mask & cloth).sum() / (mask | cloth).sum()))
        steady.append(seen.steady)
        found = np.where(masks[1], seen.parts(height, width)[inner], np.uint8(Part.GROUND))
        for part in Part:
            one, other = (found == part) & (truth != IGNORED), truth == part
            met[part] += (one & other).sum()
            either[part] += (one | other).sum()
        kinds[judge.kind, int(seen.kinds.argmax())] += 1
        scale = size[0] / photo.shape[1]
        span = float(max(cv2.boundingRect(cloth.astype(np.uint8))[2:]))
        for point in Point:
            place = marks.points.get(point.name.lower())
            if place is not None:
                name = point.name.replace("_LEFT", "").replace("_RIGHT", "").lower()
                away[name].append(float(np.hypot(*(seen.points[point] - MARGIN - place * scale)) / span))
    tell = lambda values: {  # noqa: E731
        "median": round(float(np.median(values)), 4),
        "worst tenth": round(float(np.quantile(values, 0.1)), 4),
    }
    print(len(settled), "marked judges; mask alone", json.dumps(tell(alone)), "settled", json.dumps(tell(settled)))
    print("parts", json.dumps({part.name.lower(): round(met[part] / max(either[part], 1), 3) for part in Part}))
    print(
        "points, distance in garment lengths: median and 90 %",
        json.dumps({n: [round(float(np.quantile(v, q)), 4) for q in (0.5, 0.9)] for n, v in away.items()}),
    )
    print("steady", json.dumps(tell(steady)))
    print("kinds right in", round(float(np.trace(kinds) / kinds.sum()), 3), "of", int(kinds.sum()))
    print("\n".join(f"{kind.name.lower():10} {kinds[kind].tolist()}" for kind in Kind))
