"""Pictures that came along with a job, looked into before it is accepted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from domain.errors import CATALOGUE, TryOnError
from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from imaging.opening import ImageFacts


@dataclass(frozen=True)
class Picture:
    """A picture that came along in a field; ``None`` where its bytes are more than a picture may have."""

    field: str
    data: bytes | None


async def inspect_pictures(
    pictures: Sequence[Picture], limits: ImageLimits, decoders: DecoderPool, holder: Hashable
) -> dict[str, ImageFacts]:
    """What each picture is, by the name of its field; within the holder's share of the decoders, one after the other.

    Raises:
        TryOnError: One of the ``image_…`` codes; it names every picture that has to be refused.
    """
    facts, refused = {}, []
    for picture in pictures:
        try:
            if picture.data is None:
                raise ImageError(ImageErrorCode.TOO_LARGE, "judged by its length")
            facts[picture.field] = await decoders.inspect(holder, picture.data, limits)
        except ImageError as error:
            refused.append(naming(picture.field, error))
    if refused:
        raise TryOnError.naming_all(refused)
    return facts


def naming(field: str, error: ImageError) -> TryOnError:
    """The refusal of a picture, with the field that held it."""
    return TryOnError(error.code, fields={field: CATALOGUE[error.code].sentence})
