"""The embedded engine: bends garment photos onto the body, on a CPU, without a generative model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import (
    Category,
    EngineError,
    EngineInfo,
    Garment,
    Label,
    OnStep,
    PersonMap,
    PersonSegmenter,
    Picture,
    RenderRequest,
    RenderResult,
    ShouldStop,
)
from engines.channels import on_channels
from engines.errors import blamed_on, noted_in
from engines.finish.swatches import swatch
from engines.garment.cloth import Cloth
from engines.garment.lifting import Lifter
from engines.heap import keep_freed_memory
from engines.regions import BoolMask, labelled_as
from engines.registration import EngineOptions, Workplace
from engines.stages import Stages
from engines.warp.about import WARP
from engines.warp.body.model import LEFT, RIGHT, BodyModel, measure_body
from engines.warp.composite.compose import Scene, compose
from engines.warp.debug_pictures import (
    Observe,
    look_away,
    picture_of_body,
    picture_of_cloth,
    picture_of_colours,
    picture_of_drape,
    picture_of_map,
    picture_of_mesh,
)
from engines.warp.drape.upper import drape_garment
from engines.warp.gate import check_drape, check_pose
from engines.warp.hints import is_open, is_tucked, photo_to_lay, settle_hints
from engines.warp.lifted_ahead import LiftedAhead
from engines.warp.plate.lay import fill_in, left_as_it_is, old_garment, take_off
from engines.warp.ribbon import Drape
from engines.warp.working_photo import changed_region, pasted_back, reduced_map, reduced_photo, working_scale

SURELY_CLOTH = 0.95
"""Cover from which a pixel of the cut-out shows the garment alone."""

WORN_AS = {Category.UPPER_BODY: Label.UPPER, Category.LOWER_BODY: Label.LOWER, Category.FULL_BODY: Label.FULL}

IN_FRONT = (Label.HAIR, Label.FACE, Label.HANDS, Label.OTHER)
"""Labels that keep lying over a garment."""


class WarpEngine:
    """Draws people wearing garments by warping the garments' own pixels.

    Args:
        threads: How many threads OpenCV may use; with more than one, garments are cut out in a second one.
        observe: Shown what each step made, see `engines.warp.debug_pictures`.
        segmenter: Lifts garments off people who wear them in the garment's picture; without one, garments have to lie
            or hang alone.
    """

    def __init__(
        self, threads: int = 2, observe: Observe = look_away, segmenter: PersonSegmenter | None = None
    ) -> None:
        self._threads = threads
        self._observe = observe
        self._lifter = Lifter(segmenter)

    @property
    def info(self) -> EngineInfo:
        """What this engine is."""
        return WARP

    def setup(self) -> None:
        """Load the garment's network, set the number of threads and keep memory for pictures."""
        cv2.setNumThreads(self._threads)
        keep_freed_memory()
        self._lifter.setup()

    def free_memory(self) -> None:
        """Nothing is kept from one render to the next."""

    def readings(self) -> Mapping[str, float]:
        """There is no device to watch."""
        return {}

    def examine(
        self,
        photo: Picture,
        person_map: PersonMap | None,
        garments: Sequence[Garment],
        on_step: OnStep,
        should_stop: ShouldStop,
    ) -> list[EngineError]:
        """Measure the body, cut the garments out and lay them on it, see `engines.base.Engine.examine`.

        A garment that is put on after one that was refused is only cut out: what it would lie on is not known.
        """
        stages, refusals = Stages(on_step, should_stop), list[EngineError]()
        body: BodyModel | None = None
        if person_map is not None:
            stages.begin("body")
            person_map = reduced_map(person_map, working_scale(photo))
            with noted_in(refusals):
                body = measure_body(person_map)
                check_pose(person_map, body)
        for number, garment in enumerate(garments):
            with noted_in(refusals), blamed_on(garment):
                stages.begin("cut_out")
                cloth = self._lifter.lift(photo_to_lay(garment), garment.category, on_step, should_stop)
                if person_map is None or body is None or refusals:
                    continue
                stages.begin("drape")
                drape = draped(garments, number, cloth, body)
                check_drape(drape, body, garment.category)
                if number + 1 < len(garments):
                    old = beneath(garments, number, person_map, body).old
                    person_map, body = redressed(person_map, body, drape, old, garment.category)
        return refusals

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        """Draw the person wearing the garments, from the skin outwards.

        Raises:
            EngineError: ``garment_not_recognised`` or ``pose_not_usable``.
            RenderStopped: ``should_stop`` said so.
        """
        stages = Stages(on_step, should_stop)
        stages.begin("prepare")
        with LiftedAhead(self._lifter, request.garments, stages, self._threads) as cloths:
            before, picture, checks, swatches = self._dressed(request, stages, cloths)
        stages.begin("paste")
        changed = changed_region(before, picture)
        result = pasted_back(request.person, picture, changed)
        checks["changed_share"] = float(changed.mean())
        applied, not_applied = settle_hints(request.garments)
        return RenderResult(result, applied, not_applied, stages.timings_ms(), checks, swatches=swatches)

    def _dressed(
        self, request: RenderRequest, stages: Stages, cloths: LiftedAhead
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], dict[str, float], list[NDArray[np.uint8]]]:
        """The working photo before and after all garments are put on, the checks, and pixels of each garment."""
        scale = working_scale(request.person)
        before = picture = reduced_photo(request.person, scale)
        person_map = reduced_map(request.person_map, scale)
        stages.begin("body")
        body = measure_body(person_map)
        checks = check_pose(person_map, body)
        self._observe("map", lambda: picture_of_map(before, person_map))
        self._observe("body", lambda: picture_of_body(before, body))
        swatches: list[NDArray[np.uint8]] = []
        for number, garment in enumerate(request.garments):
            with blamed_on(garment):
                picture, drape, old, pixels = self._put_on(
                    request, number, picture, person_map, body, stages=stages, cloths=cloths
                )
            swatches.append(pixels)
            after_first = f"_{number + 1}" if number else ""
            checks.update({f"{name}{after_first}": value for name, value in drape.checks.items()})
            if number + 1 < len(request.garments):
                person_map, body = redressed(person_map, body, drape, old, garment.category)
        return before, picture, checks, swatches

    def _put_on(
        self,
        request: RenderRequest,
        number: int,
        picture: NDArray[np.float32],
        person_map: PersonMap,
        body: BodyModel,
        *,
        stages: Stages,
        cloths: LiftedAhead,
    ) -> tuple[NDArray[np.float32], Drape, BoolMask, NDArray[np.uint8]]:
        """One garment on the picture so far.

        Returns:
            The picture with it, the garment with its checks, where the old one was, and some of its pixels.
        """
        garment, name = request.garments[number], number + 1
        # What goes with the old garment does not depend on the new one, which is still being cut out.
        stages.begin("take_off")
        under = beneath(request.garments, number, person_map, body)
        seen, old = under.seen, under.old
        off = None if under.stays else take_off(picture, person_map, seen, garment.category)
        stages.begin("cut_out")
        cloth = cloths.take(number)
        self._observe(f"cut_out_{name}", lambda: picture_of_cloth(cloth))
        stages.begin("drape")
        drape = draped(request.garments, number, cloth, body)
        self._observe(f"mesh_{name}", lambda: picture_of_mesh(picture, drape))
        self._observe(f"drape_{name}", lambda: picture_of_drape(drape))
        self._observe(f"mask_{name}", lambda: picture_of_colours(on_channels(drape.alpha)))
        drape.checks.update(check_drape(drape, body, garment.category))
        stages.begin("plate")
        plate = left_as_it_is(picture, person_map) if off is None else fill_in(picture, off, drape, garment.category)
        del off  # What was measured for it takes memory that the compositor needs.
        self._observe(f"plate_{name}", lambda: picture_of_colours(plate.picture))
        stages.begin("composite")
        under_tucked_top = has_tucked_top(request.garments[:number])
        picture = compose(Scene(picture, plate, person_map, seen, old, drape, under_tucked_top), request.seed)
        self._observe(f"result_{name}", lambda: picture_of_colours(picture))
        pixels = np.rint(swatch(cloth.colour, cloth.alpha > SURELY_CLOTH) * 255).clip(0, 255).astype(np.uint8)
        return picture, drape, old, pixels


def has_tucked_top(garments: Sequence[Garment]) -> bool:
    """Whether a top among these is tucked in, so that the waistband is open to view."""
    return any(is_tucked(each) for each in garments)


def draped(garments: Sequence[Garment], number: int, cloth: Cloth, body: BodyModel) -> Drape:
    """A garment, cut out, on the body and between those that are put on before and after it.

    Raises:
        EngineError: See `engines.warp.drape.upper.drape_garment`.
    """
    return drape_garment(
        garments[number],
        cloth,
        body,
        under_tucked_top=has_tucked_top(garments[:number]),
        tucked_into_next=any(each.category is Category.LOWER_BODY for each in garments[number + 1 :]),
    )


@dataclass(frozen=True)
class Beneath:
    """What a garment is put on over.

    Attributes:
        seen: The body, in what is worn so far.
        stays: Whether nothing is taken off: over another one of the job of its category, and under an open one.
        old: ``(h, w)`` bool, the garment that is taken off.
    """

    seen: BodyModel
    stays: bool
    old: BoolMask


def beneath(garments: Sequence[Garment], number: int, person_map: PersonMap, body: BodyModel) -> Beneath:
    """What a garment of a job takes the place of."""
    garment = garments[number]
    seen = replace(body, labels=person_map.labels).with_fields_of(body)
    worn = old_garment(person_map.labels, seen, garment.category)
    stays = is_open(garment) or any(each.category is garment.category for each in garments[:number])
    return Beneath(seen, stays, np.zeros_like(worn) if stays else worn)


def redressed(
    person_map: PersonMap, body: BodyModel, drape: Drape, old: BoolMask, category: Category
) -> tuple[PersonMap, BodyModel]:
    """The person map and the body after a garment was put on, for the next one over it.

    Args:
        person_map: Before this garment.
        body: Measured from the photo.
        drape: The new garment.
        old: ``(h, w)`` bool, the garment it took the place of.
        category: Where the new one is worn.
    """
    labels, matte = person_map.labels.copy(), person_map.matte.copy()
    covered = drape.alpha > 0.5
    bared = old & ~covered
    side_limit = np.where(body.laterals < 0, body.half_width(body.heights, LEFT), body.half_width(body.heights, RIGHT))
    in_torso = (np.abs(body.laterals) * body.shoulder_width < side_limit) & (body.heights < body.crotch_height)
    labels[bared] = Label.BACKGROUND
    labels[bared & in_torso] = Label.TORSO_SKIN
    labels[bared & (body.leg_distance < 1) & (body.heights > body.crotch_height)] = Label.LEGS
    labels[bared & (body.arm_distance < 1)] = Label.ARMS
    matte[bared & (labels == Label.BACKGROUND)] = 0
    labels[covered & ~labelled_as(labels, IN_FRONT)] = WORN_AS[category]
    matte = np.maximum(matte, (drape.alpha * 255).astype(np.uint8))
    next_map = replace(person_map, labels=labels, matte=matte)
    return next_map, replace(body, labels=labels, matte=matte.astype(np.float32) / 255.0)


def build(_options: EngineOptions, workplace: Workplace) -> WarpEngine:
    """The engine for a worker, not yet set up."""
    return WarpEngine(workplace.threads, workplace.observe or look_away, workplace.segmenter)
