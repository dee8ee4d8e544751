"""What can be wrong with a picture or with the address it is fetched from."""

from __future__ import annotations

from enum import StrEnum


class ImageErrorCode(StrEnum):
    """Entries of the error catalogue that this package raises."""

    MALFORMED_DATA_URI = "malformed_data_uri"
    TOO_LARGE = "image_too_large"
    NOT_READABLE = "image_not_readable"
    TOO_SMALL = "image_too_small"
    TOO_MANY_PIXELS = "image_too_many_pixels"
    TOO_ELONGATED = "image_too_elongated"
    TOO_COMPLEX = "image_too_complex"
    ANIMATED = "image_animated"
    URL_REFUSED = "garment_url_refused"
    URL_UNREACHABLE = "garment_url_unreachable"
    URL_TOO_LARGE = "garment_url_too_large"
    URL_NOT_AN_IMAGE = "garment_url_not_an_image"


class Refusal(StrEnum):
    """Why an address is refused."""

    MALFORMED = "malformed"
    SCHEME = "scheme"
    CREDENTIALS = "credentials"
    PORT = "port"
    NAME = "name"
    """A host name that is no public one."""
    ADDRESS = "address"
    """No public address, or a name that leads to such a one."""


class ImageError(Exception):
    """A picture, or the address of one, cannot be used.

    Attributes:
        code: What is wrong, as an entry of the error catalogue.
        detail: The reason for a developer to read in a log. It may name addresses and ports that an end user
            must not see, wherever the code begins with ``garment_url``.
        retryable: Whether the same call may succeed later: a timeout yes, a missing page no.
        refusal: Why an address is refused, where it is.
    """

    def __init__(
        self, code: ImageErrorCode, detail: str, *, retryable: bool = False, refusal: Refusal | None = None
    ) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.retryable = retryable
        self.refusal = refusal

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"
