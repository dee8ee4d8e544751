"""What this engine is, and where its weights come from. Nothing heavy is imported here."""

from __future__ import annotations

from dataclasses import asdict

from engines import provenance
from engines.base import EngineInfo
from engines.fashn.hints import HONOURED
from engines.weights.fetch import Repository

MODEL = provenance.FASHN.source
POSES = "fashn-ai/DWPose"

LICENCES = {MODEL: provenance.FASHN.weights_licence, POSES: "Apache-2.0"}
"""Repositories whose licence is known to allow commercial use."""

REVISION = provenance.FASHN.revision

MAX_GARMENTS = 4
"""In as many passes."""

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
