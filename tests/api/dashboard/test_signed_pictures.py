"""The page for everybody that reads what a picture says of itself."""

from __future__ import annotations

import pytest

from imaging.provenance import TRAINED, Origin, PictureSigner, make_certificate
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, words
from tests.pictures import encoded

PAGE = "/verify-picture"


@pytest.fixture
def signer(api: Api) -> PictureSigner:
    certificates, key = make_certificate("Fitting Room")
    made = PictureSigner(certificates.encode(), key.encode(), name="Fitting Room", version="1.2.3")
    object.__setattr__(api.parts, "signer", made)
    return made


async def test_anybody_reads_the_story_of_a_picture(api: Api, stranger: Browser, signer: PictureSigner) -> None:
    signed = signer.sign(encoded(), Origin("klein", "rev-1", TRAINED, "ab" * 32))
    for picture, said in ((signed, "made here, unchanged"), (encoded(), "no signed history")):
        answer = await stranger.post(PAGE, files={"picture": ("me.jpg", picture, "image/jpeg")})
        assert answer.status_code == 200
        assert said in words(answer)
    (shortcut,) = [await api.client.get("/verify")]
    assert shortcut.headers["Location"] == "/dashboard/verify-picture"


async def test_what_is_no_picture_is_refused(stranger: Browser, signer: PictureSigner) -> None:
    for files in ({"picture": ("me.jpg", b"no picture", "image/jpeg")}, {"other": ("me.jpg", b"x", "image/jpeg")}):
        answer = await stranger.post(PAGE, files=files)
        assert answer.status_code == 422
