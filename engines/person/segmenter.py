"""From a photo to the map of its one person: the entry point of this package."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, OnStep, PersonMap, Picture, RenderStopped, ShouldStop
from engines.beside import beside
from engines.person.finding import Person, PersonFinder
from engines.person.matte import enlarged_matte, refined, with_carried
from engines.person.networks import Floats
from engines.person.parser import Parser
from engines.person.parsing import enlarged_labels, parse
from engines.regions import labelled_as
from engines.settling import cells_of, lab_of

_WORKING_SIDE = 1024
"""Longer side, in pixels, of the copy that is looked at; the networks see less, the parsing needs no more."""

_BRIGHT, _BRIGHTEST, _STRIDE = 95.0, 99.5, 8
"""Percentiles of the pixels that measure how bright a photo is, without its lamps, and how bright a face in front of
dark clothes and a grey wall may be; and the distance of the sampled pixels."""

_DIM, _USUAL, _FULL, _MOST = 160.0, 225.0, 250.0, 5.0
"""A photo whose bright parts are below the first is brought to the second, all 0 to 255, but its brightest ones not
beyond the third unless the photo stays dim otherwise; by no more than the fourth as a factor: beyond it is noise."""

_SKIN = (Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.HANDS, Label.LEGS)

_LEAST_SKIN = 0.02
"""Share of a headless body that is skin at least; a garment on an unseen dummy has its form and shows none."""

_Colours: TypeAlias = tuple[Floats, NDArray[np.intp]]
"""CIELAB of the working copy, and the histogram cells of its pixels."""


class MediaPipeSegmenter:
    """Finds the one person in a photo and says what they wear.

    Args:
        models_dir: The folder that `engines.models.fetch_models` filled.
        threads: How many threads a network may use.
    """

    def __init__(self, models_dir: Path, threads: int = 2) -> None:
        self._folder = models_dir
        self._threads = threads
        self._networks: tuple[PersonFinder, Parser] | None = None

    def setup(self) -> None:
        """Load the networks.

        Raises:
            ModelsMissing: A model file is not there.
        """
        self._networks = PersonFinder(self._folder, self._threads), Parser()

    def landmarks_of(self, picture: Picture) -> Floats:
        """See `engines.base.PersonSegmenter.landmarks_of`."""
        small, scale = _working_copy(picture)
        finder, _ = self._ready()
        return _at_full_size(finder.person(in_usual_light(small)).landmarks, scale)

    def segment(self, photo: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap:
        """See `engines.base.PersonSegmenter.segment`."""
        (finder, parser), step = self._ready(), _stopping(on_step, should_stop)
        step("pose")
        # The networks, the colours and the edges of the matte use the same brightened copy.
        photo = in_usual_light(photo)
        small, scale = _working_copy(photo)
        # The colours do not depend on what the networks find.
        with beside(lambda: _colours(small)) as colours:
            person = finder.person(small)
            step("matte")
        return _mapped(parser, photo, (small, scale), person, colours=colours.result(), step=step)

    def segment_wearer(self, picture: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap | None:
        """See `engines.base.PersonSegmenter.segment_wearer`."""
        (finder, parser), step = self._ready(), _stopping(on_step, should_stop)
        picture = in_usual_light(picture)
        small, scale = _working_copy(picture)
        found = finder.wearer(small)
        if found is None:
            return None
        person, surely = found
        step("matte")
        person_map = _mapped(parser, picture, (small, scale), person, colours=_colours(small), step=step)
        return person_map if surely or shows_skin(person_map) else None

    def _ready(self) -> tuple[PersonFinder, Parser]:
        if self._networks is None:
            self.setup()
        assert self._networks is not None  # noqa: S101  # for the type checker; setup() has just filled it
        return self._networks


def in_usual_light(photo: Picture) -> Picture:
    """The photo, brightened if it is dim, to the light that the colour models and their bounds are made for.

    Colours that differ plainly by day are all nearly black in a dark room: skin, cloth and hair were taken for one
    another there.

    Args:
        photo: ``(height, width, 3)`` uint8 sRGB.

    Returns:
        The same shape; the very photo where it is bright enough.
    """
    few = photo[::_STRIDE, ::_STRIDE].max(axis=2)
    bright, brightest = (max(float(level), 1.0) for level in np.percentile(few, (_BRIGHT, _BRIGHTEST)))
    if bright >= _DIM:
        return photo
    levels = np.arange(256) * min(_USUAL / bright, max(_FULL / brightest, _DIM / bright), _MOST)
    return np.asarray(np.clip(np.rint(levels), 0, 255).astype(np.uint8)[photo])


def shows_skin(person_map: PersonMap) -> bool:
    """Whether something with a body's form is a person."""
    body = int(np.count_nonzero(person_map.labels))
    return bool(np.count_nonzero(labelled_as(person_map.labels, _SKIN)) > _LEAST_SKIN * body)


def _stopping(on_step: OnStep, should_stop: ShouldStop) -> OnStep:
    """``on_step``, which raises `RenderStopped` when ``should_stop`` says so."""

    def step(name: str) -> None:
        if should_stop():
            raise RenderStopped
        on_step(name)

    return step


def _mapped(
    parser: Parser, photo: Picture, copy: tuple[Picture, float], person: Person, *, colours: _Colours, step: OnStep
) -> PersonMap:
    """The map of a photo from what was found in its working copy."""
    (small, scale), (lab, cells) = copy, colours
    chances = parser.look(small, person)
    matte = with_carried(refined(person, lab, cells), chances)
    step("parsing")
    labels = parse(person, chances, lab, cells, matte)
    step("enlarge")
    height, width = photo.shape[:2]
    return PersonMap(
        labels=enlarged_labels(labels, height, width),
        matte=enlarged_matte(matte, small, photo),
        landmarks=_at_full_size(person.landmarks, scale),
        score=person.score,
    )


def _colours(small: Picture) -> _Colours:
    lab = lab_of(small)
    return lab, cells_of(lab)


def _at_full_size(landmarks: Floats, scale: float) -> Floats:
    """Landmarks of a picture that was looked at ``scale`` times as large."""
    larger = landmarks / np.array([scale, scale, scale, 1.0], dtype=np.float32)
    larger[:, :2] += 0.5 / scale - 0.5
    return np.asarray(larger, dtype=np.float32)


def _working_copy(photo: Picture) -> tuple[Picture, float]:
    """The copy of a photo that is looked at, and how many times as large it is."""
    scale = min(1.0, _WORKING_SIDE / max(photo.shape[:2]))
    if scale == 1.0:
        return photo, scale
    small = cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8), scale
