import pytest

from engines.base import Picture
from engines.person import MediaPipeSegmenter
from tests.engines.drawings import draw_garment


def test_somebody_in_the_picture_is_seen(segmenter: MediaPipeSegmenter, astronaut: Picture) -> None:
    assert segmenter.shows_person(astronaut)


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve"])
def test_garment_alone_is_nobody(segmenter: MediaPipeSegmenter, kind: str) -> None:
    assert not segmenter.shows_person(draw_garment(kind).picture)
