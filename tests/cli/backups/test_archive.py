from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from stat import S_IFREG
from typing import Any

import pytest

from cli.archive import DATABASE, MANIFEST, OBJECTS, SECRETS, BackupError, new_archive, read_archive

FACTS = {"service_version": "1", "made_at": "now", "schema_revision": None, "counts": {}, "missing": []}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path, database = tmp_path / "backup.tar", tmp_path / "copy.db"
    database.write_bytes(b"rows" * 1000)
    with new_archive(path) as writer:
        writer.add(DATABASE, database)
        writer.add(SECRETS, b"{}")
        writer.add(OBJECTS + "products/ä/front.png", b"picture")
        writer.close(FACTS)
    return path


def rewritten(archive: Path, change: dict[str, bytes | None]) -> Path:
    """The archive with other members; ``None`` takes one out."""
    with tarfile.open(archive) as tar:
        members = {name: tar.extractfile(name).read() for name in tar.getnames()}  # type: ignore[union-attr]  # files
    kept = {name: data for name, data in {**members, **change}.items() if data is not None}
    with tarfile.open(archive, "w") as tar:
        for name, data in kept.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return archive


def manifest_of(archive: Path) -> dict[str, Any]:
    with tarfile.open(archive) as tar:
        file = tar.extractfile(MANIFEST)
        assert file is not None
        found: dict[str, Any] = json.load(file)
        return found


def refusal(archive: Path) -> str:
    with pytest.raises(BackupError) as refused, read_archive(archive):
        pass
    return str(refused.value)


def test_what_was_written_is_read(archive: Path, tmp_path: Path) -> None:
    with read_archive(archive) as backup:
        assert backup.object_keys == ["products/ä/front.png"]
        assert backup.read(OBJECTS + "products/ä/front.png") == b"picture"
        backup.extract(DATABASE, tmp_path / "out.db")
    assert (tmp_path / "out.db").read_bytes() == b"rows" * 1000
    for path in (archive, tmp_path / "out.db"):
        assert path.stat().st_mode & 0o077 == 0


def test_a_single_changed_byte_is_refused(archive: Path) -> None:
    data = archive.read_bytes()
    assert data.count(b"picture") == 1
    archive.write_bytes(data.replace(b"picture", b"pictura"))
    assert "SHA-256 differs" in refusal(archive)


@pytest.mark.parametrize("kept", [0, 100, 2000, 5000])
def test_a_part_of_a_backup_is_refused(archive: Path, kept: int) -> None:
    archive.write_bytes(archive.read_bytes()[:kept])
    assert refusal(archive)


def test_a_part_too_many_or_too_few_is_refused(archive: Path) -> None:
    assert "products/ä/front.png" in refusal(rewritten(archive, {OBJECTS + "products/ä/front.png": None}))
    assert "tryon.db" in refusal(rewritten(archive, {DATABASE: None}))


def test_a_stranger_among_the_parts_is_refused(archive: Path) -> None:
    assert "../evil" in refusal(rewritten(archive, {"../evil": b"x"}))


def test_a_newer_format_is_refused_and_named(archive: Path) -> None:
    newer = json.dumps(manifest_of(archive) | {"format": 2, "parts": "laid out otherwise"}).encode()
    assert "has format 2" in refusal(rewritten(archive, {MANIFEST: newer}))


@pytest.mark.parametrize("manifest", [b"", b"[]", b"{}", b'{"format": "x"}'])
def test_a_manifest_that_cannot_be_read_is_refused(archive: Path, manifest: bytes) -> None:
    assert "manifest" in refusal(rewritten(archive, {MANIFEST: manifest}))


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_lies_where_it_is_being_written_is_not_written_to(tmp_path: Path, kind: str) -> None:
    """Whoever made such a file would be its owner and keep its mode, and a link leads anywhere."""
    partial, victim = tmp_path / "new.tar.partial", tmp_path / "victim"
    victim.write_text("precious")
    if kind == "link":
        partial.symlink_to(victim)
    else:
        partial.hardlink_to(victim)
        partial.chmod(0o666)
    with new_archive(tmp_path / "new.tar") as writer:
        writer.add(SECRETS, b"{}")
        assert partial.lstat().st_mode == S_IFREG | 0o600
    assert victim.read_text() == "precious"
    assert not (tmp_path / "new.tar").is_symlink()


def test_a_stranger_who_is_quicker_is_not_written_to_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partial = tmp_path / "new.tar.partial"
    partial.write_text("")
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    with pytest.raises(FileExistsError), new_archive(tmp_path / "new.tar") as writer:
        writer.add(SECRETS, b"{}")
    assert partial.read_text() == ""


def test_a_backup_that_fails_leaves_no_file_and_spoils_none(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="there already"), new_archive(archive):
        pass
    with pytest.raises(OSError, match="full"), new_archive(tmp_path / "new.tar") as writer:
        writer.add(SECRETS, b"{}")
        raise OSError("the disk is full")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.tar", "copy.db"]
