"""Pictures that came along with a job, looked into before it is accepted. Nothing here waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.errors import TryOnError
from imaging.errors import ImageError, ImageErrorCode
from imaging.inspect import ImageFacts, inspect_image
from imaging.limits import ImageLimits


@dataclass(frozen=True)
class Picture:
    """A picture that came along.

    Attributes:
        field: What the caller calls it, for error messages.
        data: Its bytes, or ``None`` where they are more than a picture may have.
    """

    field: str
    data: bytes | None


def inspect_pictures(pictures: Sequence[Picture], limits: ImageLimits) -> dict[str, ImageFacts]:
    """Look into pictures.

    Returns:
        What each picture is, by the name of its field.

    Raises:
        TryOnError: One of the ``image_…`` codes, for the first picture that has to be refused.
    """
    facts = {}
    for picture in pictures:
        try:
            if picture.data is None:
                raise ImageError(ImageErrorCode.TOO_LARGE, "judged by its length")
            facts[picture.field] = inspect_image(picture.data, limits)
        except ImageError as error:
            raise naming(picture.field, error) from None
    return facts


def naming(field: str, error: ImageError) -> TryOnError:
    """The refusal of a picture, with the field that held it."""
    return TryOnError(error.code, f"{field}: {TryOnError(error.code).sentence}")
