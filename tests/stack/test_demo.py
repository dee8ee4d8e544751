"""``tryon demo`` against the running stack."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from api.dashboard.samples import PORTRAIT, pixels_of
from tests.pictures import encoded
from tests.stack.stack import Stack


def size_of(path: Path) -> tuple[int, int]:
    with Image.open(path) as image:
        return image.size


def test_the_demo_writes_the_picture_and_a_sheet_and_says_what_it_did(stack: Stack, tmp_path: Path) -> None:
    done = stack.tryon("demo", "--out", str(tmp_path / "deep" / "demo.jpg"))
    assert done.returncode == 0, done.stderr
    assert size_of(tmp_path / "deep" / "demo.jpg") == (1024, 1024)
    assert size_of(tmp_path / "deep" / "demo-sheet.jpg")[0] > 3000
    for part in ("answered 202", "by the warp engine", "stage_rendering", "namespaces/tryon/workflows/tryon-"):
        assert part in done.stdout


def test_several_garments_are_a_combo_and_files_are_taken(stack: Stack, tmp_path: Path) -> None:
    person, tee = tmp_path / "me.png", tmp_path / "tee.webp"
    person.write_bytes(encoded(Image.fromarray(pixels_of(PORTRAIT)), "PNG"))
    tee.write_bytes(encoded(Image.fromarray(pixels_of("plain_tee")), "WEBP"))
    garments = ["--garment", str(tee), "--garment", "striped_sweater"]
    done = stack.tryon(
        "demo", "--person", str(person), *garments, *["--category", "upper_body"] * 2, "--out", str(tmp_path / "x.jpg")
    )
    assert done.returncode == 0, done.stderr
    assert "/api/v1/tryon/combo" in done.stdout
    assert size_of(tmp_path / "x.jpg") == (512, 512)


def test_a_job_that_fails_ends_with_the_reason(stack: Stack, tmp_path: Path) -> None:
    nobody = tmp_path / "nobody.jpg"
    nobody.write_bytes(encoded())
    done = stack.tryon("demo", "--person", str(nobody), "--out", str(tmp_path / "x.jpg"))
    assert done.returncode == 1
    assert "No person was found" in done.stderr
    assert not (tmp_path / "x.jpg").exists()


def test_a_file_that_is_not_there_or_a_missing_category_is_said_at_once(stack: Stack, tmp_path: Path) -> None:
    missing = stack.tryon("demo", "--person", str(tmp_path / "none.jpg"))
    assert missing.returncode != 0
    assert "none.jpg" in missing.stderr
    uneven = stack.tryon("demo", "--garment", "plain_tee", "--garment", "denim_jeans", "--category", "upper_body")
    assert uneven.returncode != 0
    assert "--category" in uneven.stderr
