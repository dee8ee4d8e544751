"""The protocol between the GPU worker and the engines that draw pictures.

An engine is set up once and renders many times; ``render`` mutates nothing that is shared. Pictures are
``uint8`` arrays of shape ``(height, width, 3)`` in sRGB, already turned upright. Errors that a customer can
do something about are `EngineError` with a code of the error catalogue; anything else is a fault of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict

# Part of this protocol, and imported from here, which the spelling says.
from engines.errors import DeviceBroken as DeviceBroken  # noqa: PLC0414 - likewise
from engines.errors import DeviceOutOfMemory as DeviceOutOfMemory  # noqa: PLC0414 - likewise
from engines.errors import EngineError as EngineError  # noqa: PLC0414 - likewise
from engines.errors import EngineUnavailable as EngineUnavailable  # noqa: PLC0414 - likewise
from engines.errors import RenderStopped as RenderStopped  # noqa: PLC0414 - likewise

# Defined beside the kinds, which know theirs; part of this protocol all the same.
from engines.garment_kinds import Category as Category  # noqa: PLC0414 - says that it is exported from here
from engines.garment_kinds import GarmentKind
from engines.hints import GarmentHints
from engines.registration import EngineInfo as EngineInfo  # noqa: PLC0414 - likewise
from engines.sizes import Fit

Picture: TypeAlias = NDArray[np.uint8]
"""``(height, width, 3)`` sRGB, 0 to 255."""

Mask: TypeAlias = NDArray[np.uint8]
"""``(height, width)``, 0 outside to 255 inside; values between are partial cover."""

OnStep: TypeAlias = Callable[[str], None]
"""Called with the name of each stage as it begins; the worker heartbeats here."""

ShouldStop: TypeAlias = Callable[[], bool]
"""Asked between stages; true once the job was cancelled or the worker is going down."""


class Label(np.uint8, Enum):
    """What a pixel of the person photo shows. "Left" and "right" are never told apart here.

    The values have the type of the maps: NumPy would widen a map before it compares it with Python's integers, which
    takes ten times as long.
    """

    BACKGROUND = 0
    HAIR = 1
    FACE = 2
    NECK = 3
    TORSO_SKIN = 4
    ARMS = 5
    HANDS = 6
    UPPER = 7
    LOWER = 8
    FULL = 9
    LEGS = 10
    FEET = 11
    OTHER = 12


class Landmark(IntEnum):
    """Rows of `PersonMap.landmarks`, in the order of MediaPipe's pose model. Left is the person's own left."""

    NOSE = 0
    LEFT_EYE_INNER = 1
    LEFT_EYE = 2
    LEFT_EYE_OUTER = 3
    RIGHT_EYE_INNER = 4
    RIGHT_EYE = 5
    RIGHT_EYE_OUTER = 6
    LEFT_EAR = 7
    RIGHT_EAR = 8
    MOUTH_LEFT = 9
    MOUTH_RIGHT = 10
    LEFT_SHOULDER = 11
    RIGHT_SHOULDER = 12
    LEFT_ELBOW = 13
    RIGHT_ELBOW = 14
    LEFT_WRIST = 15
    RIGHT_WRIST = 16
    LEFT_PINKY = 17
    RIGHT_PINKY = 18
    LEFT_INDEX = 19
    RIGHT_INDEX = 20
    LEFT_THUMB = 21
    RIGHT_THUMB = 22
    LEFT_HIP = 23
    RIGHT_HIP = 24
    LEFT_KNEE = 25
    RIGHT_KNEE = 26
    LEFT_ANKLE = 27
    RIGHT_ANKLE = 28
    LEFT_HEEL = 29
    RIGHT_HEEL = 30
    LEFT_FOOT_INDEX = 31
    RIGHT_FOOT_INDEX = 32


@dataclass(frozen=True)
class PersonMap:
    """Where the person is and what they wear, at the photo's own resolution.

    Attributes:
        labels: ``(height, width)`` of `Label` values.
        matte: How much of each pixel is person, 0 to 255.
        landmarks: ``(33, 4)`` float32: x and y in pixels of the photo, z in the same scale (negative towards
            the camera), visibility 0 to 1. Points outside the frame have coordinates outside the picture.
        score: How sure the pose model is that this is one person, 0 to 1.
    """

    labels: Mask
    matte: Mask
    landmarks: NDArray[np.float32]
    score: float


class Hints(GarmentHints):
    """What the caller said about the garment and how it is worn, and what follows from it. ``None`` means not said.

    Attributes:
        kind: What kind of garment the caller's words name, if any that is known.
        fit: What the two sizes say, where they can be compared.
        left_out: Names of the hints with which no picture came out.
    """

    model_config = ConfigDict(frozen=True)

    kind: GarmentKind | None = None
    fit: Fit | None = None
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Garment:
    """One garment to put on.

    Attributes:
        picture: The product photo, upright.
        category: Which part of the body it covers, as the caller said.
        hints: The caller's wishes, as they came; `engines.hint_sense` knows which of them make sense.
        back_picture: A photo of its back, when there is one; used where ``hints.view_angle`` is ``back``.
    """

    picture: Picture
    category: Category
    hints: Hints = field(default_factory=Hints)
    back_picture: Picture | None = None


class Drafts(Protocol):
    """Keeps unfinished pictures of one job for the next attempt, on whatever machine; called from the device's thread.

    Neither method fails: without a draft, the picture is drawn from its beginning.
    """

    def load(self, name: str) -> bytes | None:
        """What was saved last under a name, if it is still there."""

    def save(self, name: str, data: bytes) -> None:
        """Keep this; it is written while the device goes on, or passed over for a newer one."""


@dataclass(frozen=True)
class RenderRequest:
    """Everything an engine needs for one picture.

    Attributes:
        person: The customer photo.
        person_map: What `PersonSegmenter.segment` said about that photo.
        garments: One to four, in the order they are put on: from the skin outwards.
        seed: The same seed and inputs give the same picture.
        drafts: Where unfinished pictures are kept by engines whose steps are slow; None keeps none.
    """

    person: Picture
    person_map: PersonMap
    garments: Sequence[Garment]
    seed: int = 0
    drafts: Drafts | None = None


@dataclass(frozen=True)
class RenderResult:
    """The picture and how it came about.

    Attributes:
        picture: At the size of the person photo.
        hints_applied: Names of the hints that changed the picture.
        hints_not_applied: Name of a hint to the reason why it did not. Every hint that was given is in one of the
            two, see `engines.hint_sense.settle`.
        timings_ms: Milliseconds per stage, in order.
        checks: Figures by which the picture was judged, each named for what it measures.
        painting: What a network drew of the whole frame, at its own size, before the garments were taken from it; None
            where an engine changes the photo itself.
        swatches: Of each garment, in the order of the request, some of its pixels, ``(n, 3)`` sRGB.
    """

    picture: Picture
    hints_applied: Sequence[str] = ()
    hints_not_applied: Mapping[str, str] = field(default_factory=dict)
    timings_ms: Mapping[str, int] = field(default_factory=dict)
    checks: Mapping[str, float] = field(default_factory=dict)
    painting: Picture | None = None
    swatches: Sequence[NDArray[np.uint8]] = ()


class PersonSegmenter(Protocol):
    """Finds the one person in a photo."""

    def setup(self) -> None:
        """Load the models; called once before the worker polls."""

    def segment_wearer(self, picture: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap | None:
        """The map of the person in a picture that may show a garment alone; None if it surely shows nobody.

        The head may be cut off, as in pictures of shops.

        Raises:
            EngineError: Somebody is there, and ``several_people``, ``person_not_found`` or ``pose_not_usable``.
            RenderStopped: ``should_stop`` said so.
        """
        ...

    def landmarks_of(self, picture: Picture) -> NDArray[np.float32]:
        """The joints alone, as in `PersonMap.landmarks`, of the one person in a picture; much quicker than a map.

        Raises:
            EngineError: ``person_not_found``, ``several_people`` or ``pose_not_usable``.
        """
        ...

    def segment(self, photo: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap:
        """Say where the person is and what they wear.

        Raises:
            EngineError: ``person_not_found``, ``several_people`` or ``pose_not_usable``.
            RenderStopped: ``should_stop`` said so.
        """
        ...


class Engine(Protocol):
    """Draws a person wearing garments."""

    @property
    def info(self) -> EngineInfo:
        """What this engine is."""
        ...

    def setup(self) -> None:
        """Load what is needed; called once before the worker polls."""

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        """Draw the person wearing the garments.

        Raises:
            EngineError: ``garment_not_recognised``, ``pose_not_usable`` and their like.
            RenderStopped: ``should_stop`` said so.
        """
        ...

    def examine(
        self,
        photo: Picture,
        person_map: PersonMap | None,
        garments: Sequence[Garment],
        on_step: OnStep,
        should_stop: ShouldStop,
    ) -> list[EngineError]:
        """Why ``render`` would refuse a photo or garments, by the same bounds and without drawing anything.

        What only a finished picture shows is not foreseen.

        Args:
            photo: The customer photo.
            person_map: What `PersonSegmenter.segment` said about it; None if it refused the photo. Then each garment
                is looked at by itself.
            garments: In the order they are put on; there may be none.
            on_step: See `render`.
            should_stop: See `render`.

        Returns:
            Each refusal, the one that ``render`` would raise first. Those with ``garment`` are about that garment, the
            others about the photo. An engine that cannot tell without drawing gives none.

        Raises:
            RenderStopped: ``should_stop`` said so.
        """
        ...

    def free_memory(self) -> None:
        """Give cached memory of the device back, after a `DeviceOutOfMemory`."""

    def readings(self) -> Mapping[str, float]:
        """Figures for operators by name, such as ``memory_bytes`` of the device or ``latent_cache_hits``."""
        ...
