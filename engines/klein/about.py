"""What this engine is, its settings, and where its weights come from. Nothing heavy is imported here."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from engines.errors import EngineUnavailable
from engines.registration import DEVICE, GPU_LIBRARIES, EngineInfo, EngineOptions, Folder, Registration
from engines.weights.fetch import Repository

HONOURED = frozenset({"kind", "size", "customer_size", "garment_state", "tuck_state", "view_angle", "back_picture"})
"""Names of the hints that become words of the prompt or a further picture."""

MAX_GARMENTS = 4
"""More are never named in one prompt; FLUX.2 [klein] was published as an editor of up to four references."""

PARALLEL = 2
"""One picture is drawn while the next job's pictures are prepared and encoded."""

MODEL = "black-forest-labs/FLUX.2-klein-4B"
"""The distilled network of 3.9 billion parameters; the larger ones forbid commercial use."""

REVISION = "e7b7dc27f91deacad38e78976d1f2b499d76a294"
"""The commit of its repository that this engine was written for."""

MEMORY_MB = 5 * 1024
"""The least that will do; reckoned, see `engines.klein.memory`. It is slower than where more fits: 11.4 GB take the
text encoder to the CPU alone, 16.5 GB nothing."""

STEP_TFLOP, VAE_TFLOP = 93.0, 15.4
"""Of a step with a photo of 1 megapixel and one garment, and of encoding that photo and decoding the picture, in 10^12
operations; a test counts them."""

KLEIN = EngineInfo(
    name="klein",
    code_licence="Apache-2.0",
    weights_licence="Apache-2.0",
    commercial_use=True,
    source=MODEL,
    revision=REVISION,
    device="cuda, mps or cpu",
    trained=True,
    max_garments=MAX_GARMENTS,
    hints=HONOURED,
    memory_mb=MEMORY_MB,
    parallel=PARALLEL,
    by_free_memory=True,
)


class KleinOptions(EngineOptions):
    """FLUX.2 [klein] 4B."""

    model: str | None = None
    """A folder in diffusers' layout or a hub id in the hub's local cache; None is the folder that ``tryon engines fetch
    klein`` fills."""

    revision: str | None = Field(default=None, pattern=r"^\S+$")
    """Commit of the hub's repository; None is the one that this version of the service was made for."""

    steps: int = Field(default=4, ge=1, le=100)
    """Steps of the network; the distilled weights want 4."""

    person_megapixels: float = Field(default=1.0, ge=0.25, le=4.0)
    """How large the photo is shown to the network, at most, and drawn."""

    garment_megapixels: float = Field(default=0.35, ge=0.1, le=1.0)
    """How large a garment is shown to the network. Its time grows with the pixels that it is shown."""

    fp8: Literal["off", "storage"] = "off"
    """``storage`` keeps the network's weights in 8 bits: half the memory, not faster."""

    attention_backend: str | None = Field(default=None, pattern=r"^\S+$")
    """Name of one of diffusers' attention backends, such as ``_native_cudnn`` or ``flash``; None is PyTorch's own."""

    text_encoder_device: str | None = Field(default=None, pattern=DEVICE)
    """Where the text encoder (8 GB) lies and computes. None: it lies in main memory, and `TRYON_KLEIN_OFFLOAD` says
    where it computes."""

    offload: Literal["auto", "nothing", "text_encoder", "blocks"] = "auto"
    """What stays off the GPU. ``nothing``: the text encoder is lent the GPU for each new prompt, which takes 17 GB;
    ``text_encoder`` (12 GB): it computes on the CPU; ``blocks`` (6 GB): and the network's blocks are copied to the GPU
    at every step. ``auto``: the first of these that the GPU's free memory has room for."""

    embeddings_dir: Folder | None = None
    """Folder in which embeddings of prompts are kept across starts, 8 MB each, for one set of weights; None keeps them
    in memory alone."""

    def own_weights(self) -> str | None:
        """A folder or a hub id."""
        return self.model

    def picture_tflop(self) -> float:
        """With the photo at its default size."""
        return self.steps * STEP_TFLOP + VAE_TFLOP

    def has_weights(self, folder: Path) -> bool:
        """A folder that is there, or a repository in the hub's local cache."""
        if folder.is_dir():
            return True
        try:
            from engines.klein.repository import model_folder  # here, for its library is not installed everywhere

            return model_folder(str(self.model), self.revision or REVISION).is_dir()
        except (ImportError, EngineUnavailable):
            return False


ENGINE = Registration(
    KLEIN,
    "engines.klein.painter:build",
    KleinOptions,
    libraries=GPU_LIBRARIES,
    weights=(
        # The components in diffusers' layout; the single file beside them holds the same network once more.
        Repository(
            MODEL,
            REVISION,
            ("model_index.json", "scheduler/*", "transformer/*", "vae/*", "text_encoder/*", "tokenizer/*"),
            megabytes=16_000,
        ),
    ),
    licences={MODEL: KLEIN.weights_licence},
    check_weights="engines.klein.loading:check_weights",
)
