"""The protocol of a generative network that draws a whole photo anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from engines.base import Drafts, EngineInfo, Garment, Mask, OnStep, PersonMap, Picture, ShouldStop


@dataclass(frozen=True)
class Reference:
    """One garment as a network is shown it.

    Attributes:
        garment: What the caller sent, hints included.
        picture: ``(h, w, 3)``, trimmed to the garment's bounding box with a small margin. The ground is the product
            photo's own; where somebody wore the garment it is plain white.
        cover: ``(h, w)``, how much of each pixel is garment.
        back: The photo of its back, trimmed the same way, where there is one and the back is asked for.
        was_worn: Whether somebody wore the garment in its photo and it was lifted off them.
    """

    garment: Garment
    picture: Picture
    cover: Mask
    back: Picture | None = None
    was_worn: bool = False


@dataclass(frozen=True)
class PaintRequest:
    """Everything for one pass of the network.

    Attributes:
        person: The photo, or what the pass before made of it.
        person_map: What is where in it.
        references: At most `Painter.garments_per_pass`, from the skin outwards.
        seed: The same seed and inputs give the same picture.
        drafts: See `engines.base.RenderRequest`.
    """

    person: Picture
    person_map: PersonMap
    references: Sequence[Reference]
    seed: int
    drafts: Drafts | None = None


class Painter(Protocol):
    """Draws the whole picture of a person wearing garments; the caller puts everything but the garments back.

    `paint` may be called from several threads at a time, as many as `EngineInfo.parallel` says; it makes sure that
    these calls do not need more memory than the device has.
    """

    @property
    def info(self) -> EngineInfo:
        """What this engine is; ``max_garments`` counts all passes together."""
        ...

    @property
    def garments_per_pass(self) -> int:
        """How many references one call of `paint` takes."""
        ...

    def setup(self) -> None:
        """Load weights and draw once, so that the first customer does not wait for it.

        Raises:
            EngineUnavailable: The device is missing, or the weights are missing, corrupt or not the right ones.
        """

    def paint(self, request: PaintRequest, on_step: OnStep, should_stop: ShouldStop) -> Picture:
        """Draw the whole photo anew.

        Args:
            request: One pass.
            on_step: Called with a stage's name at every step of the network, and at least every few seconds of waiting.
            should_stop: Asked as often.

        Returns:
            ``(height, width, 3)``: the frame of ``request.person`` at the network's own size.

        Raises:
            EngineError: The picture cannot be made from these inputs.
            RenderStopped: ``should_stop`` said so.
            DeviceOutOfMemory: The device's memory did not suffice; nothing is left allocated by this call.
        """
        ...

    def refusal(self, garment: Garment, name: str) -> str | None:
        """Why a hint that makes sense is not followed, by the hint's name; None where it is."""
        ...

    def free_memory(self) -> None:
        """Give cached memory of the device back, after a `DeviceOutOfMemory`."""

    def readings(self) -> Mapping[str, float]:
        """See `engines.base.Engine.readings`."""
        ...
