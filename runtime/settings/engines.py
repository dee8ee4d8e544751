"""What draws the pictures, and how its pictures are judged."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from engines.registration import DEVICE, EngineOptions
from runtime.settings.concern import Concern, Folder


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

    device: str = Field(default="cuda", pattern=DEVICE)
    """Device of the generative engines; ``cpu`` is for trials, a picture takes minutes there. With several GPUs start
    one worker for each and give it ``CUDA_VISIBLE_DEVICES``."""

    compile: bool = False
    """Compile the blocks of generative networks at the start: minutes then, faster pictures afterwards."""


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


@cache
def concern_of(engine: str, options: type[EngineOptions]) -> type[Concern]:
    """An engine's own settings as they are read from the environment."""

    class Read(options, Concern):  # type: ignore[misc, valid-type]  # a base that is a value
        __doc__ = options.__doc__
        model_config = SettingsConfigDict(env_prefix=f"TRYON_{engine.upper()}_")
        title = f"Engine {engine}"

    return Read
