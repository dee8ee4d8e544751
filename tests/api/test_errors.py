from __future__ import annotations

import socket

import pytest
from sqlalchemy.exc import OperationalError

from api.errors import EXPECTED, as_tryon_error
from imaging.errors import ImageError, ImageErrorCode
from runtime.object_store import ObjectStoreUnavailableError


@pytest.mark.parametrize(
    "away",
    [
        ConnectionRefusedError(),
        socket.gaierror(socket.EAI_NONAME, "no such host"),
        TimeoutError(),
        OperationalError("SELECT 1", {}, Exception("locked")),
        ObjectStoreUnavailableError("gone"),
    ],
)
def test_a_part_that_is_away_is_503(away: Exception) -> None:
    assert isinstance(away, EXPECTED)
    assert as_tryon_error(away).entry.status == 503


def test_what_nobody_expected_is_500() -> None:
    assert as_tryon_error(KeyError("x")).code == "internal"


def test_a_picture_keeps_its_code() -> None:
    assert as_tryon_error(ImageError(ImageErrorCode.TOO_LARGE, "detail")).code == "image_too_large"
