"""Pictures in requests: inline as a data: URI, or at an address that only a worker will dial. Nothing here waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api.inline_pictures import NO_PICTURES, InlinePictures
from domain.errors import TryOnError
from imaging.data_uri import decode_data_uri, is_data_uri
from imaging.errors import ImageError, ImageErrorCode
from imaging.inspect import ImageFacts, inspect_image
from imaging.limits import ImageLimits
from imaging.remote_url import check_remote_url


@dataclass(frozen=True)
class Picture:
    """An inline picture.

    Attributes:
        field: What the request calls it, for error messages.
        data: Its bytes, or ``None`` where they are more than a picture may have.
    """

    field: str
    data: bytes | None


class PictureReader:
    """Finds the pictures that a request names."""

    def __init__(self, limits: ImageLimits, inline: InlinePictures = NO_PICTURES) -> None:
        """Prepare for one request.

        Args:
            limits: What pictures have to meet.
            inline: What was taken out of its body before it was parsed.
        """
        self._limits = limits
        self._inline = inline

    def picture(self, field: str, value: str | None) -> Picture | str | None:
        """Take an inline picture out of its data: URI, or judge the address of one.

        Returns:
            The picture, not looked into yet; or the address in normal form; or nothing where there is nothing.

        Raises:
            TryOnError: ``malformed_data_uri`` or ``garment_url_refused``.
        """
        if value is None:
            return None
        if is_data_uri(value):
            return self.inline(field, value)
        try:
            return check_remote_url(value)
        except ImageError as error:
            raise naming(field, error) from None

    def inline(self, field: str, value: str) -> Picture:
        """Take a picture out of a data: URI.

        Raises:
            TryOnError: ``malformed_data_uri``.
        """
        try:
            return Picture(field, decode_data_uri(self._inline.get(value, value), self._limits))
        except ImageError as error:
            if error.code == ImageErrorCode.TOO_LARGE:
                return Picture(field, None)  # refused further on, after what is cheaper to refuse
            raise naming(field, error) from None


def inspect_pictures(pictures: Sequence[Picture], limits: ImageLimits) -> dict[str, ImageFacts]:
    """Look into inline pictures.

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
