from __future__ import annotations

import io
import re
from pathlib import Path

import httpx
import pytest
from PIL import Image

from api.dashboard.samples import PORTRAIT, pixels_of
from tests.e2e.person import JOB_MS, Person
from tests.pictures import data_uri, encoded


@pytest.fixture(scope="session")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A photo of a person on this person's own disk."""
    path = tmp_path_factory.mktemp("pictures") / "me.jpg"
    Image.fromarray(pixels_of(PORTRAIT)).save(path, quality=92)
    return path


@pytest.fixture(scope="session")
def sweater(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "sweater.png"
    Image.fromarray(pixels_of("striped_sweater")).resize((512, 432)).save(path)
    return path


async def test_key_product_picture_job_and_the_end_of_the_key(person: Person, photo: Path, sweater: Path) -> None:
    await person.sign_up()
    key = await person.new_key()
    headers = {"Authorization": f"Bearer {key}"}
    assert httpx.get(f"{person.site.address}/api/v1/usage", headers=headers).status_code == 200

    await person.open("/products/new")
    await person.label("Name").fill("Striped sweater")
    await person.label("SKU").fill("SW-1")
    await person.label("Part of the body").select_option("upper_body")
    await person.label("File").first.set_input_files(sweater)
    await person.press("Add product")
    await person.sees_heading("Striped sweater")

    await person.page.get_by_role("link", name="Try it on").click()
    await person.sees_heading("Playground")
    await person.page.get_by_role("radio", name="Your photo").check()
    await person.label("Photo of the person").set_input_files(photo)
    await person.reads(re.compile("left in your trial"))
    await person.page.locator("#go").click()
    await person.page.locator("#done").wait_for(state="visible", timeout=JOB_MS)
    place = await person.page.locator("#compare").bounding_box()
    assert place is not None
    assert place["y"] >= 0  # the head is on the screen
    before = await person.page.locator("#compare").screenshot()
    await person.page.locator("#split").press("End")
    assert await person.page.locator("#compare").screenshot() != before
    picture = Image.open(io.BytesIO(await person.saved("Download")))
    assert (picture.format, picture.width) == ("JPEG", 512)

    await person.visit("Jobs")
    await person.reads("Striped sweater")
    await person.page.get_by_role("table").get_by_role("link").first.click()
    await person.reads(re.compile("Billed: one try-on"))
    for ending in ("PNG", "WebP"):
        assert Image.open(io.BytesIO(await person.saved(ending))).format == ending.upper()
    await person.press("Delete job data")
    await person.sees_heading("Delete the data of this job?")
    await person.press("Delete job data")
    await person.reads("You deleted the picture and inputs")

    await person.visit("API keys")
    await person.press(re.compile("^Revoke vto_"))
    await person.press("Revoke key")
    await person.reads("The key is revoked")
    refused = httpx.post(
        f"{person.site.address}/api/v1/tryon",
        headers=headers,
        json={"customerPhotoBase64": data_uri(encoded()), "productId": "SW-1"},
    )
    assert refused.status_code == 401
    assert person.complaints == []


async def test_a_webhook_from_its_endpoint_to_the_attempt(person: Person) -> None:
    """The whole way through a stack: the page's commit, the run, the worker that dials, and the page again."""
    await person.sign_up()
    await person.new_webhook()
    await person.reads("Attempts have failed since")
    await person.page.get_by_text("1 attempt").click()
    await person.reads("There was no connection to the host.")
    await person.page.get_by_text("Show the secret").click()
    secret = await person.page.locator("#the-secret").inner_text()
    await person.press("Make another secret")
    await person.page.get_by_text("Show the secret").click()
    assert await person.page.locator("#the-secret").inner_text() != secret
    await person.press("Switch off")
    await person.reads("You switched it off.")
