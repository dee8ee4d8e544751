"""What this engine is, which wishes it follows, and where its weights come from. Nothing heavy is imported here."""

from __future__ import annotations

from dataclasses import asdict

from engines import provenance
from engines.base import EngineInfo, Garment
from engines.weights.fetch import Repository

MODEL = provenance.FASHN.source
POSES = "fashn-ai/DWPose"

LICENCES = {MODEL: provenance.FASHN.weights_licence, POSES: "Apache-2.0"}
"""Repositories whose licence is known to allow commercial use."""

REVISION = provenance.FASHN.revision

MAX_GARMENTS = 4
"""In as many passes."""

HONOURED = frozenset({"view_angle", "back_picture"})
"""Names of the hints that can change what the network is shown."""

FASHN = EngineInfo(
    **asdict(provenance.FASHN),
    trained=True,
    max_garments=MAX_GARMENTS,
    hints=HONOURED,
)

FASHN_WEIGHTS = (
    Repository(MODEL, REVISION, ("model.safetensors",)),
    Repository(POSES, REVISION, ("yolox_l.onnx", "dw-ll_ucoco_384.onnx"), into="dwpose"),
)

_REASONS = {
    "kind": "The form of this garment is read from its picture; its name only decides the order of dressing.",
    "size": "This network is told no sizes; it chooses the fit by the picture of the garment.",
    "customer_size": "This network is told no sizes; it chooses the fit by the picture of the garment.",
    "tuck_state": "This network is told nothing in words; tucking only decides the order of dressing.",
    "garment_state": "The garment is drawn open or closed as in its picture; this only decides the order of dressing.",
    "view_angle": "The person is shown from the side that the photo shows.",
}


def refusal(garment: Garment, name: str) -> str | None:
    """Why a hint that makes sense is not followed, by the hint's name; None where it is."""
    if name == "view_angle" and garment.hints.view_angle in ("front", "back"):
        return None
    if name == "kind" and garment.hints.kind is None:
        return "This name for a garment is not known; its form is read from its picture."
    return _REASONS.get(name)
