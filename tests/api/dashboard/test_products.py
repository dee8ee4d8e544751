"""The catalogue's pages, with a CPU worker behind them."""

from __future__ import annotations

import asyncio
import hashlib
import io
import re
import threading
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from markupsafe import escape
from PIL import Image
from temporalio.client import Client

from api.app import PAGE_DECODERS
from api.dashboard.rendering import STATIC
from domain.products import new_registration_id, product_id_of, public_id, register_product
from imaging.decoder_pool import DecoderPool
from tests.api.catalogue import Catalogue, in_shop, opened_catalogue
from tests.api.conftest import Api, OpenApi, single
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import create_caller
from tests.pictures import encoded, photo

PICTURE = re.compile(r'src="(/dashboard/products/[^"]+)"')
GOOD = {"name": "Linen shirt", "category": "upper_body", "externalId": "SKU-1", "size": "M"}


@pytest.fixture
async def catalogue(open_api: OpenApi, temporal: Client) -> AsyncIterator[Catalogue]:
    async with opened_catalogue(open_api, temporal) as opened:
        yield opened


@pytest.fixture
async def owner(catalogue: Catalogue) -> AsyncIterator[Browser]:
    """Signed in where products can be registered; `browser` is where no worker is."""
    opened = await signed_in(catalogue.api)
    yield opened
    await opened.client.aclose()


def front(data: bytes | None = None) -> dict[str, Any]:
    return {"frontFile": ("front.jpg", encoded() if data is None else data, "image/jpeg")}


async def added(browser: Browser, files: Any = None, **fields: str) -> str:
    """A product's path below the dashboard."""
    answer = await browser.post("/products/new", {**GOOD, **fields}, files=front() if files is None else files)
    assert answer.status_code == 303, words(answer)
    return answer.headers["Location"].removeprefix("/dashboard").partition("?")[0]


async def rows(api: Api, *products: dict[str, Any], picture: bytes = b"") -> list[str]:
    """Products as a registration leaves them; their paths below the dashboard."""
    digest = hashlib.sha256(picture).hexdigest()
    await api.store.put(f"products/{digest}", picture, "image/png")
    reference = {
        "bucket": "tryon",
        "key": f"products/{digest}",
        "sha256": digest,
        "size": 1,
        "content_type": "image/png",
    }
    paths = []
    with api.parts.database.transaction() as session:
        for values in products:
            saved = register_product(
                session,
                account_id=api.caller.account_id,
                new_id=product_id_of(new_registration_id()),
                values={"category": "upper_body", "front": reference, **values},
            )
            paths.append(f"/products/{public_id(saved.product.id)}")
    return paths


SHIRT = {"name": "Linen shirt", "external_id": "SKU-1"}


async def record_of(catalogue: Catalogue, path: str) -> dict[str, Any]:
    answer = await catalogue.get(path.rpartition("/")[2])
    record: dict[str, Any] = answer.json()
    return record


def errors_in(answer: httpx.Response) -> dict[str, str]:
    """What stands beside fields, by the field's name."""
    return dict(re.findall(r'<p class="error" id="(\w+)-error">([^<]+)</p>', answer.text))


async def test_pictures_of_pages_do_not_hold_up_calls(api: Api, browser: Browser) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def draw() -> None:
        begun.set()
        go_on.wait(30)

    pages: DecoderPool = api.app.state.page_decoders
    drawing = [asyncio.create_task(pages.in_thread(place, draw)) for place in range(PAGE_DECODERS)]
    await asyncio.to_thread(begun.wait, 30)
    try:
        looking = asyncio.create_task(browser.post("/products/new", GOOD, files=front()))
        await asyncio.sleep(0.2)
        answer = await api.post(single())
        assert answer.status_code == 202
        assert not looking.done()
        looking.cancel()
    finally:
        go_on.set()
        await asyncio.gather(*drawing)


async def test_the_first_product_is_a_form_away(browser: Browser) -> None:
    empty = await browser.get("/products")
    assert "No products yet" in words(empty)
    assert 'href="/dashboard/products/new"' in empty.text
    assert 'href="/dashboard/products/import"' in empty.text


async def test_a_product_comes_from_files(catalogue: Catalogue, owner: Browser) -> None:
    files = {**front(), "backFile": ("back.png", encoded(photo(seed=2), "PNG"), "image/png")}
    path = await added(owner, files, garmentCategory="shirt", tuckState="untucked")
    record = await record_of(catalogue, path)
    assert (record["name"], record["externalId"], record["size"]) == ("Linen shirt", "SKU-1", "M")
    assert (record["garmentCategory"], record["tuckState"], record["garmentState"]) == ("shirt", "untucked", None)
    assert record["hasBackImage"]
    shown = await owner.get(path)
    for word in ("Linen shirt", "SKU-1", "Upper body", "untucked", record["id"]):
        assert word in words(shown)
    assert f'href="/dashboard/playground?productId={record["id"]}&amp;personSource=sample"' in shown.text
    assert "Linen shirt" in words(await owner.get("/products"))


async def test_a_product_comes_from_an_address(catalogue: Catalogue, owner: Browser) -> None:
    path = await added(owner, {"backFile": ("", b"")}, garmentImageUrl=in_shop(catalogue))
    assert (await record_of(catalogue, path))["hasBackImage"] is False


@pytest.mark.parametrize(
    ("fields", "wrong", "sentence"),
    [
        ({"name": " "}, "name", "Enter a name."),
        ({"name": "x" * 201}, "name", "Must have at most 200 characters."),
        ({"category": "feet"}, "category", "Must be upper_body, lower_body or full_body."),
        ({"externalId": "prod_1"}, "externalId", "reserved"),
        ({"size": "x" * 33}, "size", "Must have at most 32 characters."),
        ({"garmentState": "half"}, "garmentState", "Must be open or closed."),
        ({"garmentBackImageUrl": "http://shop.example/a.jpg"}, "garmentBackImageUrl", "https"),
        ({"garmentImageUrl": "https://shop.example/a.jpg"}, "garmentImageUrl", "not both"),
    ],
)
async def test_what_is_wrong_is_said_beside_its_field(
    api: Api, browser: Browser, fields: dict[str, str], wrong: str, sentence: str
) -> None:
    answer = await browser.post("/products/new", {**GOOD, **fields}, files=front())
    assert answer.status_code in (400, 422)
    assert sentence in errors_in(answer)[wrong]
    assert "Nothing was saved" in words(answer)
    assert 'value="SKU-1"' in answer.text or wrong == "externalId", "what was filled in stays"
    assert api.store.objects == {}


@pytest.mark.parametrize(
    ("data", "status", "sentence"),
    [
        (b"no picture", 422, "JPEG"),
        (encoded(photo(100, 100)), 422, "256"),
        (b"\xff\xd8" + bytes(8 * 1024 * 1024), 413, "8 MB"),
    ],
)
async def test_pictures_meet_the_checks_of_the_api(
    api: Api, browser: Browser, data: bytes, status: int, sentence: str
) -> None:
    answer = await browser.post("/products/new", GOOD, files=front(data))
    assert (answer.status_code, list(errors_in(answer))) == (status, ["garmentImageUrl"])
    assert sentence in errors_in(answer)["garmentImageUrl"]
    assert api.store.objects == {}


async def test_no_picture_and_one_that_is_not_there(owner: Browser) -> None:
    answer = await owner.post("/products/new", GOOD)
    assert errors_in(answer) == {"garmentImageUrl": "Choose a file or enter a link."}
    answer = await owner.post("/products/new", {**GOOD, "garmentImageUrl": "https://shop.example/gone.jpg"})
    assert "could not be downloaded" in errors_in(answer)["garmentImageUrl"]


async def test_a_name_that_is_taken_says_by_what(catalogue: Catalogue, owner: Browser) -> None:
    first, second = await rows(
        catalogue.api, SHIRT, {"name": "Jeans", "external_id": "SKU-2", "category": "lower_body"}
    )
    for path, fields in (("/products/new", GOOD), (f"{second}/edit", {**GOOD, "name": "Jeans"})):
        answer = await owner.post(path, fields, files=front())
        assert answer.status_code in (409, 422)
        assert "externalId" in errors_in(answer)
        assert f'<a href="/dashboard{first}">Linen shirt</a>' in answer.text
    assert "Jeans" in words(await owner.get(second))


async def test_a_change_leaves_pictures_alone_unless_another_is_chosen(catalogue: Catalogue, owner: Browser) -> None:
    path = await added(owner, {**front(), "backFile": ("back.jpg", encoded(photo(seed=2)), "image/jpeg")})
    shown = await owner.get(f"{path}/edit")
    assert 'value="Linen shirt"' in shown.text
    before = PICTURE.findall((await owner.get(path)).text)
    answer = await owner.post(f"{path}/edit", {**GOOD, "name": "Shirt", "size": ""}, files={"backFile": ("", b"")})
    assert "The product is saved" in words(await owner.follow(answer))
    record = await record_of(catalogue, path)
    assert (record["name"], record["size"], record["revision"], record["hasBackImage"]) == ("Shirt", None, 2, True)
    assert PICTURE.findall((await owner.get(path)).text) == before
    await owner.post(f"{path}/edit", {**GOOD, "removeBack": "yes"}, files=front(encoded(photo(seed=3))))
    assert (await record_of(catalogue, path))["hasBackImage"] is False
    assert PICTURE.findall((await owner.get(path)).text)[0] != before[0]


async def test_a_change_that_is_wrong_changes_nothing(api: Api, browser: Browser) -> None:
    (path,) = await rows(api, SHIRT)
    answer = await browser.post(f"{path}/edit", {**GOOD, "name": "", "category": ""})
    assert errors_in(answer) == {"name": "Enter a name.", "category": "Choose the part of the body."}
    assert "Revision 1" in words(await browser.get(path))


async def test_a_change_over_one_that_nobody_has_seen_is_asked_about(catalogue: Catalogue, owner: Browser) -> None:
    path = await added(owner)
    (revision,) = re.findall(r'name="revision" value="(\d+)"', (await owner.get(f"{path}/edit")).text)
    await catalogue.patch(path.rpartition("/")[2], size="L")
    sent = {**GOOD, "name": "Shirt", "revision": revision}
    asked = await owner.post(f"{path}/edit", {**sent, "name": ""})
    assert (asked.status_code, "changed after this form was opened" in words(asked)) == (409, True)
    assert (await record_of(catalogue, path))["size"] == "L"
    (revision,) = re.findall(r'name="revision" value="(\d+)"', asked.text)
    assert (await owner.post(f"{path}/edit", {**sent, "revision": revision})).status_code == 303
    assert (await record_of(catalogue, path))["name"] == "Shirt"


async def test_archived_after_a_question_and_brought_back(api: Api, browser: Browser) -> None:
    (path,) = await rows(api, SHIRT)
    assert "bring it back at any time" in words(await browser.get(f"{path}/archive"))
    shown = await browser.follow(await browser.post(f"{path}/archive"))
    assert "The product is archived" in words(shown)
    assert "Try it on" not in words(shown)
    assert "Linen shirt" not in words(await browser.get("/products"))
    assert "Linen shirt" in words(await browser.get("/products?status=archived"))
    await browser.post(f"{path}/bring-back", page=path)
    assert "Linen shirt" in words(await browser.get("/products"))
    assert "Revision 3" in words(await browser.get(path))


async def test_a_small_picture_is_kept_by_the_browser(api: Api, browser: Browser) -> None:
    (path,) = await rows(api, SHIRT, picture=encoded(photo(900, 1200), "PNG"))
    (address,) = PICTURE.findall((await browser.get(path)).text)
    answer = await browser.client.get(address.replace("&amp;", "&"))
    picture = Image.open(io.BytesIO(answer.content))
    assert (picture.format, max(picture.size)) == ("WEBP", 480)
    assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    again = await browser.client.get(address, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    stale = await browser.get(f"{path}/picture/front.webp?v=00000000&w=99999")
    assert (stale.status_code, stale.headers["Cache-Control"]) == (200, "private, no-cache")
    assert max(Image.open(io.BytesIO(stale.content)).size) == 480
    assert (await browser.get(f"{path}/picture/back.webp")).status_code == 404
    assert (await browser.get(f"{path}/picture/side.webp")).status_code == 404


async def test_nothing_of_another_account_is_there(api: Api, browser: Browser) -> None:
    (path,) = await rows(api, SHIRT)
    other = await create_caller(api.parts.database, api.parts.digester)
    neighbour = await signed_in(api, other.account_id)
    assert "Linen shirt" not in words(await neighbour.get("/products?status=all"))
    for end in ("", "/edit", "/archive", "/picture/front.webp"):
        assert (await neighbour.get(path + end)).status_code == 404
    for end in ("/edit", "/archive", "/bring-back"):
        assert (await neighbour.post(path + end, GOOD, page="/products/new")).status_code == 404
    assert "Revision 1" in words(await browser.get(path))
    await neighbour.client.aclose()


async def test_a_search_finds_names_and_the_beginnings_of_skus(api: Api, browser: Browser) -> None:
    await rows(
        api,
        {"name": "Blue Shirt", "external_id": "AB-1"},
        {"name": "Red 100% wool", "external_id": "AB-2"},
        {"name": "Jeans_slim", "external_id": "CD-3"},
    )

    async def found(query: str) -> list[str]:
        return re.findall(r'<span class="name">([^<]+)</span>', (await browser.get(f"/products?q={query}")).text)

    assert await found("shirt") == ["Blue Shirt"]
    assert sorted(await found("ab-")) == ["Blue Shirt", "Red 100% wool"]
    assert await found("%25") == ["Red 100% wool"]
    assert await found("_s") == ["Jeans_slim"]
    assert await found("%00") == []
    assert "Nothing found" in words(await browser.get("/products?q=nothing"))


async def test_pages_hold_every_product_once(api: Api, browser: Browser) -> None:
    await rows(api, *({"name": f"Shirt {number:03}"} for number in range(100)))
    seen: list[str] = []
    path = "/products"
    while True:
        answer = await browser.get(path)
        assert len(answer.content) < 150_000
        seen += re.findall(r'<span class="name">([^<]+)</span>', answer.text)
        older = re.search(r'rel="next" href="/dashboard([^"]+)"', answer.text)
        if older is None:
            break
        path = older[1].replace("&amp;", "&")
    assert seen == [f"Shirt {number:03}" for number in reversed(range(100))]
    assert (await browser.get("/products?after=nonsense")).status_code == 400


async def test_a_long_name_is_shown_in_two_lines_and_told_in_full(api: Api, browser: Browser) -> None:
    name = 'Coat with "buttons" ' + "x" * 180
    await rows(api, {"name": name})
    assert f'title="{escape(name)}"' in (await browser.get("/products")).text
    css = (STATIC / "dashboard.css").read_text()
    assert re.search(r"\.garment \.name \{[^}]*-webkit-line-clamp: 2;[^}]*overflow: hidden", css)


async def test_the_kind_promises_what_it_does(browser: Browser) -> None:
    shown = words(await browser.get("/products/new"))
    assert "It decides what goes on first in an outfit" in shown
