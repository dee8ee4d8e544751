"""What draws the pictures, and how its pictures are judged."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from runtime.settings.concern import Concern, Folder

_DEVICE = r"^(cpu|cuda(:[0-9]{1,3})?)$"

_NAME = r"^\S+$"


class EngineSettings(Concern):
    """What draws the pictures."""

    model_config = SettingsConfigDict(env_prefix="TRYON_")
    title = "Engine"

    engine: str = Field(default="auto", pattern=r"^[a-z0-9_*=, ]+$")
    """Which engine renders: ``warp``, ``klein``, ``fashn``, or ``auto``: ``klein`` where there is a CUDA device and its
    weights were fetched, else ``warp``. A route per category is allowed: ``upper_body=fashn,*=klein``."""

    models_dir: Folder = Path(".models")
    """Folder of the small model files that find people (``tryon engines fetch warp``)."""

    weights_dir: Folder = Path(".weights")
    """Folder of the generative engines' weights, one folder each (``tryon engines fetch klein``)."""

    engine_threads: int = Field(default=2, ge=1, le=1024)
    """CPU threads of one render."""

    licence_acknowledged: str | None = None
    """Names, with commas, of engines whose weights are not known to allow commercial use and that may start all the
    same."""

    device: str = Field(default="cuda", pattern=_DEVICE)
    """Device of the generative engines; ``cpu`` is for trials, a picture takes minutes there. With several GPUs start
    one worker for each and give it ``CUDA_VISIBLE_DEVICES``."""

    compile: bool = False
    """Compile the blocks of generative networks at the start: minutes then, faster pictures afterwards."""


class KleinSettings(Concern):
    """FLUX.2 [klein] 4B."""

    model_config = SettingsConfigDict(env_prefix="TRYON_KLEIN_")
    title = "Engine klein"

    model: str | None = None
    """A folder in diffusers' layout or a hub id in the hub's local cache; None is the folder that ``tryon engines fetch
    klein`` fills."""

    revision: str | None = Field(default=None, pattern=_NAME)
    """Commit of the hub's repository; None is the one that this version of the service was made for."""

    steps: int = Field(default=4, ge=1, le=100)
    """Steps of the network; the distilled weights want 4."""

    person_megapixels: float = Field(default=1.0, ge=0.25, le=4.0)
    """How large the photo is shown to the network, at most, and drawn."""

    garment_megapixels: float = Field(default=0.35, ge=0.1, le=1.0)
    """How large a garment is shown to the network. Its time grows with the pixels that it is shown."""

    fp8: Literal["off", "storage"] = "off"
    """``storage`` keeps the network's weights in 8 bits: half the memory, not faster."""

    attention_backend: str | None = Field(default=None, pattern=_NAME)
    """Name of one of diffusers' attention backends, such as ``_native_cudnn`` or ``flash``; None is PyTorch's own."""

    text_encoder_device: str | None = Field(default=None, pattern=_DEVICE)
    """Where the text encoder (8 GB) lies and computes. None: in main memory, and it is lent the GPU for each new
    prompt, which then needs the room for both."""

    embeddings_dir: Folder | None = None
    """Folder in which embeddings of prompts are kept across starts, 8 MB each, for one set of weights; None keeps them
    in memory alone."""


class FashnSettings(Concern):
    """FASHN VTON v1.5."""

    model_config = SettingsConfigDict(env_prefix="TRYON_FASHN_")
    title = "Engine fashn"

    weights: Folder | None = None
    """Folder of its weights; None is the one that ``tryon engines fetch fashn`` fills."""

    steps: int = Field(default=30, ge=2, le=100)
    """Steps of the network: 20 is fast, 50 is its makers' best."""

    guidance: float = Field(default=1.5, ge=1.0, le=10.0)
    """How strongly the garment rules over what the network would draw by itself."""

    batch_size: int = Field(default=4, ge=1, le=32)
    """At most so many pictures, of any customers, are drawn at a time."""

    batch_wait_ms: int = Field(default=20, ge=0, le=1000)
    """How long a picture waits for others to be drawn with."""


class CheckSettings(Concern):
    """How far a picture's figures may go before it is drawn again, and then failed and not billed."""

    model_config = SettingsConfigDict(env_prefix="TRYON_CHECK_")
    title = "Checks of finished pictures"

    contrast: float = Field(default=4.0, ge=0, le=50)
    """Least deviation of the lightness, 0 to 50."""

    changed: float = Field(default=3.0, ge=0, le=100)
    """Least mean colour difference where old clothes were; an echo of the photo has none."""

    outside: float = Field(default=0.15, ge=0, le=1)
    """Largest share of the frame away from the garments that shows something else than the photo."""

    shift: float = Field(default=0.02, ge=0, le=1)
    """Largest shift of the whole picture, as a share of its longer side."""

    cast: float = Field(default=8.0, ge=0, le=200)
    """Largest tint of the whole picture, in Lab."""

    face: float = Field(default=0.5, ge=-1, le=1)
    """Least correlation of the face with the photo's, -1 to 1."""

    people_off_by: float = Field(default=0.0, ge=0, le=100)
    """Largest difference between the people drawn and one."""

    pose: float = Field(default=0.4, ge=0, le=100)
    """Largest way that joints moved, in shoulder widths."""

    colours: float = Field(default=0.25, ge=0, le=1)
    """Least share of a garment's colours that is seen where it is worn."""
