"""Pictures in requests: inline as a data: URI, or at an address that only a worker will dial. Nothing here waits."""

from __future__ import annotations

from collections.abc import Mapping

from api.inline_pictures import NO_PICTURES, InlinePictures
from domain.errors import TryOnError
from imaging.data_uri import decode_data_uri, is_data_uri
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from imaging.remote import check_remote_url
from intake.pictures import Picture, naming


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

    def pictures(self, values: Mapping[str, str | None]) -> dict[str, Picture | str | None]:
        """Every picture of a request, by the name of its field; see `picture`.

        Raises:
            TryOnError: It names every field that is wrong.
        """
        found: dict[str, Picture | str | None] = {}
        refused = []
        for field, value in values.items():
            try:
                found[field] = self.picture(field, value)
            except TryOnError as error:
                refused.append(error)
        if refused:
            raise TryOnError.naming_all(refused)
        return found

    def picture(self, field: str, value: str | None) -> Picture | str | None:
        """Take an inline picture out of its data: URI, or judge the address of one.

        Returns:
            The picture, not looked into yet; or the address in normal form; or nothing where there is nothing.

        Raises:
            TryOnError: ``malformed_data_uri`` or ``garment_url_refused``.
        """
        if value is None:
            return None
        try:
            if not is_data_uri(value):
                return check_remote_url(value)
            return Picture(field, decode_data_uri(self._inline.get(value, value), self._limits))
        except ImageError as error:
            if error.code == ImageErrorCode.TOO_LARGE:
                return Picture(field, None)  # refused further on, after what is cheaper to refuse
            raise naming(field, error) from None
