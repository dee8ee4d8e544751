"""What this engine is, its settings, the wishes it follows, and where its weights come from; nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from engines.registration import GPU_LIBRARIES, EngineInfo, EngineOptions, Folder, Registration
from engines.weights.fetch import Repository

if TYPE_CHECKING:
    from engines.base import Garment

MODEL = "fashn-ai/fashn-vton-1.5"
POSES = "fashn-ai/DWPose"

REVISION = "main"
"""The commit of the weights was not known when this was written; the folder's manifest names the one that was
fetched."""

MAX_GARMENTS = 4
"""In as many passes."""

STEP_TFLOP = 26.4
"""One step with guidance at 576 x 864, in 10^12 operations; a test counts them."""

HONOURED = frozenset({"view_angle", "back_picture"})
"""Names of the hints that can change what the network is shown."""

FASHN = EngineInfo(
    name="fashn",
    code_licence="Apache-2.0",
    weights_licence="Apache-2.0",
    commercial_use=True,
    source=MODEL,
    revision=REVISION,
    device="cuda, mps or cpu",
    trained=True,
    max_garments=MAX_GARMENTS,
    hints=HONOURED,
    # The memory that the publishers recommend for one picture at a time; batches need more. Not measured by us.
    memory_mb=8192,
)


class FashnOptions(EngineOptions):
    """FASHN VTON v1.5."""

    weights: Folder | None = None
    """Folder of its weights; None is the one that ``tryon engines fetch fashn`` fills."""

    steps: int = Field(default=30, ge=2, le=100)
    """Steps of the network: 20 is fast, 50 is its makers' best."""

    guidance: float = Field(default=1.5, ge=1.0, le=10.0)
    """How strongly the garment rules over what the network would draw by itself."""

    batch_size: int = Field(default=4, ge=1, le=32)
    """At most so many pictures, of any customers, are drawn at a time on a CUDA GPU; elsewhere one is."""

    batch_wait_ms: int = Field(default=20, ge=0, le=1000)
    """How long a picture waits for others to be drawn with."""

    def own_weights(self) -> str | None:
        """A folder."""
        return None if self.weights is None else str(self.weights)

    def picture_tflop(self) -> float:
        """The last step is without guidance, which is half of one."""
        return (self.steps - 0.5) * STEP_TFLOP


ENGINE = Registration(
    FASHN,
    "engines.fashn.painter:build",
    FashnOptions,
    libraries=GPU_LIBRARIES,
    weights=(
        Repository(MODEL, REVISION, ("model.safetensors",), megabytes=1944),
        Repository(POSES, REVISION, ("yolox_l.onnx", "dw-ll_ucoco_384.onnx"), into="dwpose", megabytes=351),
    ),
    licences={MODEL: FASHN.weights_licence, POSES: "Apache-2.0"},
    check_weights="engines.fashn.checkpoint:check_weights",
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
