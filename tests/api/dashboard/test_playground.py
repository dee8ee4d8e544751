from __future__ import annotations

import json
import re
import uuid
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from api.dashboard import samples
from api.dashboard.forms import RULES
from api.dashboard.playground import BEING_ACCEPTED, RUN_KEY, RUNS, TEXTS, WORDS_OF_CHECKS
from domain import products
from domain.access import idempotency
from domain.accounts import OwnTerms
from domain.errors import TryOnError
from domain.jobs import jobs
from domain.tables import Job
from imaging.limits import ImageLimits
from imaging.opening import inspect_image
from tests.api.conftest import Api, OpenApi
from tests.api.dashboard.billing_scene import hidden
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import create_caller
from tests.pictures import encoded, padded, photo
from workflows.contracts import CheckInput, Finding, Findings

PAGE, RUN, CHECK = "/playground", "/playground/run", "/playground/check"
JSON = {"Accept": "application/json"}
PERSON = ("customerPhotoBase64", ("me.jpg", encoded(), "image/jpeg"))
PICTURE = {
    "bucket": "b",
    "key": "products/x/1/front",
    "sha256": "0" * 64,
    "size": 9,
    "contentType": "image/png",
}


def front(place: int = 0, data: bytes | None = None, side: str = "garmentImageUrl") -> tuple[str, Any]:
    return f"garments[{place}].{side}.file", ("shirt.png", data or encoded(photo(seed=place)), "image/png")


async def send(
    browser: Browser, fields: dict[str, str] | None = None, *files: tuple[str, Any], json_wanted: bool = True
) -> httpx.Response:
    headers = JSON if json_wanted else {}
    return await browser.post(RUN, fields or {}, page=PAGE, files=list(files), headers=headers)


async def input_of(api: Api, answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 202, answer.text
    job = await api.parts.database.read(jobs.get_job, job_id=uuid.UUID(answer.json()["jobId"]))
    assert job.account_id == api.caller.account_id
    assert job.api_key_id is None
    return job.workflow_input


async def register(api: Api, account_id: uuid.UUID, **values: Any) -> str:
    new_id = uuid.uuid4()
    row = {"name": "Oxford shirt", "category": "upper_body", "front": PICTURE, **values}
    await api.parts.database.write(products.register_product, account_id=account_id, new_id=new_id, values=row)
    return products.public_id(new_id)


@pytest.fixture
async def poor(open_api: OpenApi) -> AsyncIterator[tuple[Api, Browser]]:
    """An account that may do one generation."""
    async with open_api(own_terms=OwnTerms(included=1)) as api:
        yield api, await signed_in(api)


async def test_products_of_one_name_can_be_told_apart(api: Api, browser: Browser) -> None:
    first, second, third = [
        await register(api, api.caller.account_id, **values)
        for values in ({"external_id": "SKU-7"}, {}, {"name": "Tie"})
    ]
    shown = dict(re.findall(r'<option value="(prod_\w+)">([^<]+)</option>', (await browser.get(PAGE)).text))
    assert shown == {first: "Oxford shirt (SKU-7)", second: f"Oxford shirt (…{second[-6:]})", third: "Tie"}


async def test_the_page_says_what_it_costs_and_holds_every_field(browser: Browser) -> None:
    answer = await browser.get(PAGE)
    assert "250 left in this period, 0 in packs. Used today: 0 of" in words(answer)
    for name in RULES:
        assert answer.text.count(f'name="garments[3].{name}"') == 1, name
    assert len(answer.content) < 150_000
    assert answer.headers["Cache-Control"] == "no-store"


async def test_every_field_arrives_at_the_workflow(api: Api, browser: Browser) -> None:
    said = {
        "category": "lower_body",
        "garmentCategory": "jeans",
        "size": "W32/L34",
        "customerSize": "W33/L34",
        "garmentState": "open",
        "tuckState": "tucked",
        "viewAngle": "back",
    }
    assert set(said) == set(TEXTS)
    back = front(side="garmentBackImageUrl", data=encoded(photo(seed=7)))
    fields = {f"garments[0].{name}": value for name, value in said.items()}
    sent = await input_of(api, await send(browser, fields, PERSON, front(), back))
    (garment,) = sent["garments"]
    assert garment["category"] == said.pop("category")
    assert garment["hints"] == said
    stored = [sent["person"], garment["picture"], garment["backPicture"]]
    assert [await api.store.get(ref["key"]) for ref in stored] == [PERSON[1][1], front()[1][1], back[1][1]]


async def test_a_garment_may_be_at_an_address(api: Api, browser: Browser) -> None:
    fields = {
        "garments[0].source": "address",
        "garments[0].garmentImageUrl": "https://shop.example/shirt.jpg",
        "garments[0].garmentBackImageUrl": "https://shop.example/back.jpg",
        "garments[0].category": "upper_body",
    }
    (garment,) = (await input_of(api, await send(browser, fields, PERSON)))["garments"]
    assert garment["pictureUrl"] == "https://shop.example/shirt.jpg"
    assert garment["backPictureUrl"] == "https://shop.example/back.jpg"


@pytest.mark.parametrize("field", ["productId", "productId.other"])
async def test_a_garment_may_be_a_product(api: Api, browser: Browser, field: str) -> None:
    product_id = await register(api, api.caller.account_id)
    assert product_id in (await browser.get(PAGE)).text
    fields = {"garments[0].source": "product", f"garments[0].{field}": product_id, "garments[0].size": "XL"}
    (garment,) = (await input_of(api, await send(browser, fields, PERSON)))["garments"]
    assert garment["product"]["id"] == product_id
    assert (garment["category"], garment["hints"]["size"]) == ("upper_body", "XL")


async def test_only_the_chosen_source_counts(api: Api, browser: Browser) -> None:
    fields = {"garments[0].source": "sample", "garments[0].sample": "plain_tee", "garments[0].productId": "SKU-9"}
    (garment,) = (await input_of(api, await send(browser, fields, PERSON, front())))["garments"]
    assert garment["product"] is None
    assert await api.store.get(garment["picture"]["key"]) == samples.picture_of("plain_tee")


async def test_samples_need_nobodys_pictures(api: Api, browser: Browser) -> None:
    for garment in samples.SAMPLES.values():
        fields = {"personSource": "sample", "garments[0].source": "sample", "garments[0].sample": garment.name}
        sent = await input_of(api, await send(browser, fields))
        assert sent["garments"][0]["category"] == garment.category


@pytest.mark.parametrize("places", [(0, 1), (0, 3), (0, 1, 2, 3)])
async def test_several_garments_are_one_look(api: Api, browser: Browser, places: tuple[int, ...]) -> None:
    fields = {f"garments[{place}].category": "upper_body" for place in places}
    sent = await input_of(api, await send(browser, fields, PERSON, *map(front, places)))
    assert (sent["kind"], len(sent["garments"])) == ("combo", len(places))
    for place, garment in zip(places, sent["garments"], strict=True):
        assert await api.store.get(garment["picture"]["key"]) == front(place)[1][1]


async def test_without_scripts_it_goes_on_to_the_job(api: Api, browser: Browser) -> None:
    answer = await send(browser, {"garments[0].category": "upper_body"}, PERSON, front(), json_wanted=False)
    assert answer.status_code == 303
    job_id = answer.headers["Location"].removeprefix("/dashboard/jobs/")
    job = await api.parts.database.read(jobs.get_job, job_id=uuid.UUID(job_id))
    assert job.started_at is not None


SAMPLES = {"personSource": "sample", "garments[0].source": "sample", "garments[0].sample": "plain_tee"}


async def test_a_form_that_is_sent_again_is_the_same_job(poor: tuple[Api, Browser]) -> None:
    _, browser = poor
    keys = [hidden((await browser.get(PAGE)).text, RUN_KEY) for _ in range(2)]
    asked = {**SAMPLES, RUN_KEY: keys[0]}
    first, again = await send(browser, asked), await send(browser, asked)
    assert (first.status_code, again.status_code) == (202, 202), "the one try-on that there was is spent by the first"
    assert first.json() == again.json()
    without_scripts = await send(browser, asked, json_wanted=False)
    assert without_scripts.headers["Location"] == f"/dashboard/jobs/{first.json()['jobId']}"
    changed, later = {**asked, "garments[0].size": "M"}, {**asked, RUN_KEY: keys[1]}
    assert [(await send(browser, each)).status_code for each in (changed, later)] == [402, 402]


async def test_a_form_that_is_being_accepted_keeps_its_key(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def claimed(*_: Any, **__: Any) -> None:
        raise TryOnError("idempotency_in_progress", retry_after=1)

    monkeypatch.setattr(idempotency, "claim_key", claimed)
    asked = {**SAMPLES, RUN_KEY: "one"}
    answer, page = await send(browser, asked), await send(browser, asked, json_wanted=False)
    assert (answer.status_code, answer.json()["error"]) == (409, BEING_ACCEPTED)
    assert (page.status_code, hidden(page.text, RUN_KEY)) == (409, "one")


TOO_LARGE = padded(encoded(), 8 * 1024 * 1024 + 1)
CATEGORY = {"garments[0].category": "upper_body"}


@pytest.mark.parametrize(
    ("fields", "files", "refusal"),
    [
        (CATEGORY, [front()], (422, "customerPhotoBase64", "Choose a photo")),
        (CATEGORY, [PERSON], (422, "garments[0].garmentImageUrl", "Choose a picture")),
        ({}, [PERSON, front()], (422, "garments[0].category", "Choose the part of the body")),
        (
            CATEGORY,
            [("customerPhotoBase64", ("x.jpg", TOO_LARGE)), front()],
            (413, "customerPhotoBase64", "A picture is larger"),
        ),
        (CATEGORY, [PERSON, front(data=b"none")], (422, "garments[0].garmentImageUrl", "A picture could not be read")),
        (
            {**CATEGORY, "garments[0].source": "address", "garments[0].garmentImageUrl": "http://shop.example/a.jpg"},
            [PERSON],
            (400, "garments[0].garmentImageUrl", "A garment URL must"),
        ),
        (
            {**CATEGORY, "garments[2].category": "lower_body", "garments[2].size": "x" * 33},
            [PERSON, front(), front(2)],
            (400, "garments[2].size", "Must have at most 32 characters"),
        ),
        (
            {"garments[0].category": "head"},
            [PERSON, front()],
            (400, "garments[0].category", "Must be upper_body, lower_body or full_body"),
        ),
        (
            {"garments[0].source": "product", "garments[0].productId": "no-such"},
            [PERSON],
            (404, "garments[0].productId", "No product was found"),
        ),
    ],
)
async def test_a_refusal_comes_back_at_its_field(
    api: Api, browser: Browser, fields: dict[str, str], files: list[Any], refusal: tuple[int, str, str]
) -> None:
    status, field, sentence = refusal
    answer = await send(browser, fields, *files)
    assert answer.status_code == status, answer.text
    assert answer.json()["fields"].keys() == {field}
    assert answer.json()["error"].startswith(sentence)
    shown = await send(browser, {**fields, "garments[0].garmentCategory": "kilt"}, *files, json_wanted=False)
    assert shown.status_code == status
    assert answer.json()["error"] in words(shown)
    assert 'value="kilt"' in shown.text
    assert 'aria-invalid="true"' in shown.text
    with api.parts.database.reading() as session:
        assert not jobs.list_open_of_account(session, account_id=api.caller.account_id)


async def test_an_empty_form_says_everything_that_is_missing_at_once(browser: Browser) -> None:
    answer = await send(browser, {"garments[1].size": "M"})
    assert answer.json()["fields"] == {
        "customerPhotoBase64": "Choose a photo of the person, or use the sample.",
        "garments[0].garmentImageUrl": "Choose a picture, a link, a product or a sample.",
        "garments[0].category": "Choose the part of the body.",
        "garments[1].garmentImageUrl": "Choose a picture, a link, a product or a sample.",
        "garments[1].category": "Choose the part of the body.",
    }
    assert (await send(browser, {}, json_wanted=False)).text.count('class="error" id=') >= 3


async def test_what_the_api_refuses_is_said_at_every_field(browser: Browser) -> None:
    answer = await send(browser, {"garments[0].category": "head", "garments[0].size": "x" * 33}, PERSON, front())
    assert answer.json()["fields"].keys() == {"garments[0].category", "garments[0].size"}


async def test_another_accounts_product_is_as_unknown_as_any(api: Api, browser: Browser) -> None:
    other = await create_caller(api.parts.database, api.parts.digester)
    product_id = await register(api, other.account_id)
    assert product_id not in (await browser.get(PAGE)).text
    answer = await send(browser, {"garments[0].source": "product", "garments[0].productId": product_id}, PERSON)
    assert (answer.status_code, list(answer.json()["fields"])) == (404, ["garments[0].productId"])


async def test_an_archived_product_is_not_offered(api: Api, browser: Browser) -> None:
    product_id = await register(api, api.caller.account_id)
    with api.parts.database.transaction() as session:
        identifier = products.parse_public_id(product_id)
        assert identifier
        products.archive_product(session, account_id=api.caller.account_id, product_id=identifier)
    assert product_id not in (await browser.get(PAGE)).text


async def test_it_spends_what_a_call_spends(poor: tuple[Api, Browser]) -> None:
    api, browser = poor
    first = await send(browser, CATEGORY, PERSON, front())
    assert first.status_code == 202
    shown = await browser.get(PAGE)
    assert "0 left in this period" in words(shown)
    assert "All included try-ons and packs are used up" in words(shown)
    assert 'href="/dashboard/billing"' in shown.text
    assert 'id="go" disabled' in shown.text
    refused = await send(browser, CATEGORY, PERSON, front())
    assert (refused.status_code, list(refused.json()["fields"])) == (402, [""])
    page = await send(browser, CATEGORY, PERSON, front(), json_wanted=False)
    assert page.status_code == 402
    assert page.text.count("All included try-ons and packs are used up") == 2
    assert [key for key in api.store.objects if "jobs/" in key and first.json()["jobId"] not in key] == []


async def test_it_has_a_rate_of_its_own(api: Api, browser: Browser) -> None:
    for _ in range(RUNS.requests):
        await api.parts.rate_limiter.log.hit(api.caller.account_id, RUNS)
    answer = await send(browser, CATEGORY, PERSON, front())
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= RUNS.window_seconds
    assert (await send(browser, CATEGORY, PERSON, front(), json_wanted=False)).headers["Retry-After"]
    assert (await api.client.get("/api/v1/usage")).status_code == 200


def test_choices_are_the_models() -> None:
    assert [value for value, _ in RULES["viewAngle"]["choices"]] == ["front", "left", "right", "back"]
    assert [value for value, _ in RULES["category"]["choices"]] == ["upper_body", "lower_body", "full_body"]
    assert RULES["size"] == {"choices": [], "longest": 32}


def test_every_sample_is_a_picture_that_the_service_takes() -> None:
    for name in (samples.PORTRAIT, *samples.SAMPLES):
        assert inspect_image(samples.picture_of(name), ImageLimits()).startswith("image/")


def test_a_body_is_json_whatever_the_texts_hold() -> None:
    from api.dashboard.playground import Attempt

    attempt = Attempt(b"\xff\xd8", [{"garmentCategory": 'a "quoted" \\ word\n', "category": "upper_body"}], [0])
    read = json.loads(attempt.body())
    assert read["garmentCategory"] == 'a "quoted" \\ word\n'
    assert read["customerPhotoBase64"] == "data:image/jpeg;base64,/9g="


@pytest.mark.parametrize("offered", [True, False])
async def test_a_link_chooses_a_product_and_the_sample_portrait(
    api: Api, browser: Browser, monkeypatch: pytest.MonkeyPatch, offered: bool
) -> None:
    product_id = await register(api, api.caller.account_id)
    if not offered:
        monkeypatch.setattr("api.dashboard.playground.PRODUCTS_OFFERED", 0)
    shown = (await browser.get(f"/playground?productId={product_id}&personSource=sample")).text
    assert re.search(r'name="personSource" value="sample"[^>]*checked', shown)
    assert re.search(r'name="garments\[0\]\.source" value="product"[^>]*checked', shown)
    assert (f'<option value="{product_id}" selected' in shown) is offered
    assert (f'value="{product_id}"' in shown.partition('name="garments[0].productId.other"')[2][:200]) is not offered


async def test_a_link_with_a_null_character_chooses_nothing_of_the_kind(browser: Browser) -> None:
    shown = await browser.get("/playground?productId=%00&personSource=%00sample")
    assert shown.status_code == 200
    assert re.search(r'name="personSource" value="sample"[^>]*checked', shown.text)


DARK = Finding(code="photo_dark", severity="advice", advice="The photo is dark.")
TROUSERS = Finding(code="garment_not_recognised", garment=1, advice="It looks like trousers.")


@pytest.fixture
def found(api: Api, monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """What checks find."""
    findings: list[Finding] = []

    async def check(asked: CheckInput, seconds: float) -> Findings:
        assert asked.account_id == str(api.caller.account_id)
        return Findings(findings=findings)

    monkeypatch.setattr(api.parts.temporal, "check_pictures", check)
    return findings


async def check(browser: Browser, *, json_wanted: bool = True) -> httpx.Response:
    """Two garments, with a place of the form between them left empty."""
    fields = {"garments[0].category": "upper_body", "garments[2].category": "upper_body"}
    headers = JSON if json_wanted else {}
    return await browser.post(CHECK, fields, page=PAGE, files=[PERSON, front(), front(2)], headers=headers)


async def test_a_check_starts_nothing_and_says_that_all_is_well(
    api: Api, browser: Browser, found: list[Finding]
) -> None:
    answer = (await check(browser)).json()
    assert (answer["ok"], answer["said"]) == (True, WORDS_OF_CHECKS[True, False])
    with api.parts.database.reading() as session:
        assert session.query(Job).filter_by(account_id=api.caller.account_id).count() == 0


async def test_findings_are_told_by_the_fields_that_they_are_about(browser: Browser, found: list[Finding]) -> None:
    found += [TROUSERS, DARK]
    answer = (await check(browser)).json()
    assert (answer["ok"], answer["said"]) == (False, WORDS_OF_CHECKS[False, True])
    assert answer["findings"] == {
        "customerPhotoBase64": [{"severity": "advice", "message": "The photo is dark."}],
        "garments[0].garmentImageUrl": [],
        "garments[2].garmentImageUrl": [
            {"severity": "problem", "message": "The garment could not be recognised. It looks like trousers."}
        ],
    }


async def test_without_scripts_they_stand_under_the_pictures_of_the_page(
    browser: Browser, found: list[Finding]
) -> None:
    found.append(DARK)
    page = (await check(browser, json_wanted=False)).text
    assert WORDS_OF_CHECKS[True, True] in page
    shown = re.findall(
        r'<ul class="found" data-found="([^"]+)">\s*<li class="advice"><b>Better:</b> ([^<]+)</li>', page
    )
    assert shown == [("customerPhotoBase64", "The photo is dark.")]


async def test_a_check_refuses_a_form_as_a_run_does_and_needs_no_volume(
    open_api: OpenApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing_found(asked: CheckInput, seconds: float) -> Findings:
        return Findings()

    async with open_api(own_terms=OwnTerms(included=0)) as api:
        monkeypatch.setattr(api.parts.temporal, "check_pictures", nothing_found)
        browser = await signed_in(api)
        refused = await browser.post(CHECK, {}, page=PAGE, headers=JSON, files=[])
        assert (refused.status_code, "customerPhotoBase64" in refused.json()["fields"]) == (422, True)
        assert (await check(browser)).json()["ok"] is True
