"""What this engine is, and where its weights come from. Nothing heavy is imported here."""

from __future__ import annotations

from engines.base import EngineInfo
from engines.fashn.hints import HONOURED
from engines.weights.fetch import Repository

MODEL = "fashn-ai/fashn-vton-1.5"
POSES = "fashn-ai/DWPose"

LICENCES = {MODEL: "Apache-2.0", POSES: "Apache-2.0"}
"""Repositories whose licence is known to allow commercial use."""

REVISION = "main"
"""No commit of the weights could be looked up when this was written; what is fetched is in the folder's manifest."""

MEMORY_MB = 8192
"""The card that the publishers name for one picture at a time; batches need more. Not measured by this project."""

MAX_GARMENTS = 4
"""In as many passes."""

FASHN = EngineInfo(
    name="fashn",
    code_licence="Apache-2.0",
    weights_licence=LICENCES[MODEL],
    commercial_use=True,
    source=MODEL,
    revision=REVISION,
    device="cuda",
    trained=True,
    max_garments=MAX_GARMENTS,
    hints=HONOURED,
    memory_mb=MEMORY_MB,
)

FASHN_WEIGHTS = (
    Repository(MODEL, REVISION, ("model.safetensors",)),
    Repository(POSES, REVISION, ("yolox_l.onnx", "dw-ll_ucoco_384.onnx"), into="dwpose"),
)
