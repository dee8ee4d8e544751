"""What is signed into a picture, and what is read out of it, whatever happened in between."""

from __future__ import annotations

import io
import itertools
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from imaging import provenance
from imaging.decoder_pool import DecoderPool
from imaging.encode import TRAINED_COMPOSITE_XMP, convert_result, encode_jpeg
from imaging.errors import ImageError
from imaging.provenance import (
    ALTERED,
    COMPOSITE,
    TRAINED,
    UNASKED_SECONDS,
    Origin,
    OwnCertificates,
    PictureSigner,
    SigningError,
    Told,
    make_certificate,
    open_signer,
    read_manifest,
    sentences_of,
)
from tests.imaging.pictures import textured
from tests.node_tools import PACKAGES, node

AT = datetime(2026, 11, 28, 10, 30, tzinfo=UTC)
PHOTO = "ab" * 32
DRAWN = Origin("klein", "rev-1", TRAINED, PHOTO, (10, 20, 100, 200), logo=True, at=AT)
JPEG = encode_jpeg(textured(240, 320), xmp=TRAINED_COMPOSITE_XMP)


def signer_of(name: str = "Fitting Room", **more: Any) -> PictureSigner:
    certificates, key = make_certificate(name)
    return PictureSigner(certificates.encode(), key.encode(), name=name, version="1.2.3", **more)


@pytest.fixture(scope="module")
def signer() -> PictureSigner:
    return signer_of()


@pytest.fixture(scope="module")
def signed(signer: PictureSigner) -> bytes:
    return signer.sign(JPEG, DRAWN)


def test_a_picture_tells_how_it_was_made_and_holds_no_other(signer: PictureSigner, signed: bytes) -> None:
    assert read_manifest(signed, signer.own) == Told(
        found=True,
        intact=True,
        ours=True,
        signer="self-signed on this machine, Fitting Room",
        generator="Fitting Room 1.2.3",
        engine="klein rev-1",
        source="compositeWithTrainedAlgorithmicMedia",
        at="2026-11-28T10:30:00Z",
        photo_sha256=PHOTO,
        actions=["c2pa.created", "c2pa.edited", "c2pa.edited"],
        faults=[],
    )
    assert len(signed) - len(JPEG) < 5000, "a thumbnail"
    with Image.open(io.BytesIO(signed)) as opened, Image.open(io.BytesIO(JPEG)) as before:
        assert opened.info["xmp"] == TRAINED_COMPOSITE_XMP
        assert opened.tobytes() == before.tobytes()


def test_what_no_model_drew_is_a_composite(signer: PictureSigner) -> None:
    told = read_manifest(signer.sign(JPEG, Origin("warp", "14", COMPOSITE, PHOTO)))
    assert (told.source, told.actions) == ("compositeCapture", ["c2pa.created"])
    assert any("no trained model" in each for each in sentences_of(told, "Fitting Room"))


def test_what_took_no_garment_is_a_test(signer: PictureSigner) -> None:
    told = read_manifest(signer.sign(JPEG, Origin("rehearsal", "", ALTERED, PHOTO)), signer.own)
    assert (told.intact, told.engine, told.source) == (True, "rehearsal", "algorithmicallyEnhanced")
    said = " ".join(sentences_of(told, "Fitting Room"))
    assert "It is a test" in said
    assert "put together" not in said


@pytest.mark.parametrize(
    ("asked", "changes", "said"),
    [
        (("image/jpeg", 100), ["c2pa.resized"], "another size."),
        (("image/png", None), ["c2pa.converted"], "another format."),
        (("image/webp", 5000), ["c2pa.converted"], "another format."),
        (("image/webp", 100), ["c2pa.converted", "c2pa.resized"], "another format and size."),
    ],
)
def test_a_copy_tells_of_the_picture_that_it_was_made_of(
    signer: PictureSigner, signed: bytes, asked: tuple[str, int | None], changes: list[str], said: str
) -> None:
    told = read_manifest(convert_result(signed, *asked, signer), signer.own)
    assert (told.found, told.intact, told.ours) == (True, True, True)
    assert told.engine == "klein rev-1"
    assert told.photo_sha256 == PHOTO
    assert told.actions == ["c2pa.opened", *changes, "c2pa.created", "c2pa.edited", "c2pa.edited"]
    assert f"It is a copy in {said}" in sentences_of(told, "Fitting Room")


@pytest.mark.parametrize("longest", [None, 320, 5000])
def test_what_changes_nothing_is_no_copy(signer: PictureSigner, signed: bytes, longest: int | None) -> None:
    assert convert_result(signed, "image/jpeg", longest, signer) == signed


class Authority:
    """A time-stamp authority that says nothing, or hangs up."""

    def __init__(self) -> None:
        self.asked: list[socket.socket] = []
        self.hangs_up = False
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}/"
        self._thread = threading.Thread(target=self._receive)
        self._thread.start()

    def _receive(self) -> None:
        while True:
            try:
                caller, _ = self._door.accept()
            except OSError:
                return
            self.asked.append(caller)
            if self.hangs_up:
                caller.close()

    def close(self) -> None:
        self._door.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for each in (self._door, *self.asked):
            each.close()


@pytest.fixture
def authority() -> Iterator[Authority]:
    made = Authority()
    yield made
    made.close()


def test_an_authority_that_is_silent_costs_its_time_stamps_alone(authority: Authority) -> None:
    now = 0.0
    signer = signer_of(timestamp_url=authority.url, stamp_seconds=5.0, clock=lambda: now)
    signer_of().sign(JPEG, DRAWN)  # what takes a while the first time

    def sign(_: int = 0) -> float:
        began = time.monotonic()
        told = read_manifest(signer.sign(JPEG, DRAWN), signer.own)
        assert (told.intact, told.ours) == (True, True)
        return time.monotonic() - began

    with ThreadPoolExecutor(3) as pool:
        assert max(pool.map(sign, range(3))) < 15, "c2pa waits for 30 s"
    assert len(authority.asked) == 3, "one waited for another"
    now = UNASKED_SECONDS - 1
    sign()
    assert len(authority.asked) == 3
    authority.hangs_up, now = True, UNASKED_SECONDS
    for _ in range(2):
        sign()
    assert len(authority.asked) == 4


def test_what_is_wrong_with_a_picture_is_not_the_authoritys_fault(authority: Authority) -> None:
    signer = signer_of(timestamp_url=authority.url, stamp_seconds=5.0)
    authority.hangs_up = True
    with pytest.raises(SigningError):
        signer.sign(b"no picture", DRAWN)
    assert authority.asked == []
    signer.sign(JPEG, DRAWN)
    assert len(authority.asked) == 1


def test_the_authority_has_its_time_however_long_our_own_part_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []
    monkeypatch.setattr(provenance, "_within", lambda seconds, work: limits.append(seconds) or b"stamped")
    clock = itertools.count()
    signer = signer_of(timestamp_url="http://127.0.0.1:1/", stamp_seconds=3.0, clock=lambda: float(next(clock)))
    assert signer.sign(JPEG, DRAWN) == b"stamped"
    spent = 2  # looks at this clock until the plain signature was there
    assert limits == [3.0 + provenance.SLOWER * spent]


def painted_over(data: bytes) -> bytes:
    changed = bytearray(data)
    changed[len(changed) // 2] ^= 0xFF
    return bytes(changed)


READ_ELSEWHERE = """
const { readFileSync } = require("node:fs");
(async () => {
  const [packages, file] = process.argv.slice(1);
  const part = (name) => import(`${packages}/@trustnxt/c2pa-ts/dist/${name}/index.js`);
  const [{ JPEG }, { SuperBox }, { ManifestStore }] = await Promise.all(["asset", "jumbf", "manifest"].map(part));
  const asset = new JPEG(readFileSync(file));
  const found = await ManifestStore.read(SuperBox.fromBuffer(asset.getManifestJUMBF())).validate(asset);
  process.stdout.write(String(found.isValid));
})();
"""
"""With an implementation that has no line in common with ours: @trustnxt/c2pa-ts."""


@pytest.mark.parametrize(("change", "valid"), [(bytes, "true"), (painted_over, "false")])
def test_another_implementation_agrees(
    signed: bytes, tmp_path: Path, change: Callable[[bytes], bytes], valid: str
) -> None:
    if not (PACKAGES / "@trustnxt").is_dir():
        pytest.skip("@trustnxt/c2pa-ts is not there (make test-env fetches it where there is npm)")
    file = tmp_path / "signed.jpg"
    file.write_bytes(change(signed))
    command = [node(), "-e", READ_ELSEWHERE, str(PACKAGES), str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout == valid


def saved_again(data: bytes) -> bytes:
    sink = io.BytesIO()
    with Image.open(io.BytesIO(data)) as picture:
        picture.save(sink, "JPEG", quality=80)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("change", "found", "said"),
    [
        (painted_over, True, "was CHANGED"),
        (saved_again, False, "no signed history"),
        (lambda d: d[:-500], True, "CHANGED"),
    ],
    ids=["changed", "saved by an editor", "cut short"],
)
def test_what_was_changed_is_told(
    signer: PictureSigner, signed: bytes, change: Callable[[bytes], bytes], found: bool, said: str
) -> None:
    told = read_manifest(change(signed), signer.own)
    assert (told.found, told.intact, told.ours) == (found, False, False)
    assert said in " ".join(sentences_of(told, "Fitting Room"))


def test_a_certificate_of_another_is_not_ours(signer: PictureSigner, signed: bytes) -> None:
    told = read_manifest(signed, OwnCertificates(signer_of().own.anchors, signer.own.serials))
    assert (told.intact, told.ours) == (True, False)
    others = OwnCertificates(signer.own.anchors, ["4711"])  # of the same root
    assert not read_manifest(signed, others).ours
    assert any("not that of this service" in each for each in sentences_of(told, "Fitting Room"))


def test_files_that_do_not_fit_are_refused_with_a_sentence(tmp_path: Path) -> None:
    certificates, key = make_certificate("One")
    _, other = make_certificate("Another")
    files = {"certificates": certificates, "key": key, "other": other, "nothing": "no PEM"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    def said(first: str | None, second: str | None) -> str:
        paths = [None if name is None else tmp_path / name for name in (first, second)]
        with pytest.raises(SigningError) as refused:
            open_signer(*paths, name="One", timestamp_url="")
        return str(refused.value)

    assert "TRYON_SIGNING_KEY" in said("certificates", None)
    assert "cannot be read" in said("certificates", "missing")
    assert "holds none in PEM" in said("nothing", "key")
    assert "holds none in PEM" in said("certificates", "nothing")
    assert "not that of the first certificate" in said("certificates", "other")
    assert open_signer(None, None, name="One", timestamp_url="") is None
    opened = open_signer(tmp_path / "certificates", tmp_path / "key", name="One", timestamp_url="")
    assert opened
    assert opened.expires_at.year >= 2036


async def test_pictures_of_strangers_are_read_in_another_process(signer: PictureSigner, signed: bytes) -> None:
    pool = DecoderPool(1)
    try:
        told = await pool.read_manifest("visitors", signed, signer.own)
        assert (told.found, told.ours) == (True, True)
        with pytest.raises(ImageError):
            await pool.read_manifest("visitors", b"no picture", OwnCertificates())
    finally:
        await pool.close()
