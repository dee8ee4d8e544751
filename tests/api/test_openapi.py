"""The document is valid, whole, and says what the catalogue of errors and the contract say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.app import create_app
from api.openapi import COMBO_REQUESTS, PICTURE, SHIRT, SINGLE_REQUESTS, ErrorBody
from domain.errors import CATALOGUE
from imaging.data_uri import decode_data_uri
from imaging.opening import inspect_image
from runtime.settings import Settings
from tests.api.conftest import Api

GARMENT = (
    "productId garmentImageUrl garmentBackImageUrl category garmentCategory size customerSize garmentState tuckState "
    "viewAngle"
)
CONTRACT_FIELDS = {
    "TryOnByProduct": f"customerPhotoBase64 metadata {GARMENT}",
    "TryOnByPicture": f"customerPhotoBase64 metadata {GARMENT}",
    "ComboRequest": "customerPhotoBase64 garments metadata",
    "GarmentByProduct": GARMENT,
    "GarmentByPicture": GARMENT,
    "Accepted": "jobId status",
    "StillProcessing": "status",
    "Completed": "status resultImageBase64 generationTimeMs",
    "Failed": "status error",
    "ErrorBody": "error",
}

CONTRACT_STATUSES = {
    "createTryOn": "202 400 401 402 403 404 413 422 429 500",
    "createComboTryOn": "202 400 401 402 403 404 413 422 429 500",
    "getTryOn": "200 401 403 404 429 500",
}

HEADERS_OF_ANSWERS = {
    ("createTryOn", "202"): {"Location", "X-Ignored-Fields", "Idempotent-Replayed"},
    ("createComboTryOn", "202"): {"Location", "X-Ignored-Fields", "Idempotent-Replayed"},
    ("createTryOn", "409"): {"Retry-After"},
    ("getTryOn", "200"): {"Retry-After", "Preference-Applied", "X-Error-Code"},
    ("createProduct", "201"): {"Location", "X-Ignored-Fields"},
    ("updateProduct", "200"): {"X-Ignored-Fields"},
}

DASHBOARD_ONLY = {code for code in CATALOGUE if code.startswith("logo_")}
"""Watermarks are set in the dashboard; the API has no operation for them."""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(Settings()).openapi()


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        each["operationId"]: {**each, "path": path}
        for path, item in document["paths"].items()
        for each in item.values()
    }


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Every object in the document."""
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from nodes(child)


def resolved(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    target: Any = document
    for name in node["$ref"].removeprefix("#/").split("/"):
        target = target[name]
    assert isinstance(target, dict)
    return target


def codes(answer: dict[str, Any]) -> list[str]:
    listed: list[str] = answer["headers"]["X-Error-Code"]["schema"]["enum"]
    return listed


def test_it_is_valid_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    errors = [
        f"{list(error.absolute_path)}: {error.message}" for error in OpenAPIV31SpecValidator(document).iter_errors()
    ]
    assert errors == []


def test_every_reference_leads_somewhere_and_every_component_is_used(document: dict[str, Any]) -> None:
    references = {node["$ref"] for node in nodes(document) if isinstance(node.get("$ref"), str)}
    for reference in references:
        assert resolved(document, {"$ref": reference})
    links = {node["operationId"] for node in nodes(document) if "operationId" in node and "summary" not in node}
    assert links
    assert links <= {each["operationId"] for item in document["paths"].values() for each in item.values()}
    for kind in ("schemas", "headers"):
        unused = {f"#/components/{kind}/{name}" for name in document["components"][kind]} - references
        assert unused == set()


def test_it_says_who_and_where(document: dict[str, Any]) -> None:
    assert document["info"]["license"]["identifier"] == "Apache-2.0"
    assert document["servers"] == [{"url": "/", "description": "The host that served this document."}]
    assert document["components"]["securitySchemes"]["apiKey"]["scheme"] == "bearer"
    used = {tag for item in document["paths"].values() for each in item.values() for tag in each["tags"]}
    assert used == {tag["name"] for tag in document["tags"] if tag["description"]}


def test_bodies_have_the_fields_of_the_contract_and_no_others(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name, fields in CONTRACT_FIELDS.items():
        assert set(schemas[name]["properties"]) == set(fields.split()), name
    for name in ("Accepted", "StillProcessing", "Completed", "Failed", "ErrorBody"):
        assert schemas[name]["additionalProperties"] is False
        assert schemas[name]["required"] == list(schemas[name]["properties"])


def test_no_object_has_fields_and_a_choice_at_one_level(document: dict[str, Any]) -> None:
    for node in nodes(document["components"]["schemas"]):
        assert "properties" not in node or not {"anyOf", "oneOf", "allOf"} & node.keys(), node.get("description")


SINGLES: dict[str, tuple[bool, dict[str, Any]]] = {
    "product": (True, {"productId": "SKU-1"}),
    "product and a value beside it": (True, {"productId": "SKU-1", "category": "upper_body", "garmentImageUrl": None}),
    "product and a picture": (True, {"productId": "SKU-1", "garmentImageUrl": SHIRT}),
    "picture": (True, {"garmentImageUrl": SHIRT, "category": "upper_body"}),
    "picture and no product": (
        True,
        {"garmentImageUrl": SHIRT, "category": "upper_body", "productId": None, "size": None},
    ),
    "unknown fields": (True, {"garmentImageUrl": SHIRT, "category": "upper_body", "seed": 7}),
    "no category": (False, {"garmentImageUrl": SHIRT}),
    "null for the category": (False, {"garmentImageUrl": SHIRT, "category": None}),
    "no picture": (False, {"category": "upper_body"}),
    "nothing": (False, {}),
    "null for the product": (False, {"productId": None}),
    "a product that is no text": (
        False,
        {"productId": 7, "garmentImageUrl": SHIRT, "category": "upper_body"},
    ),
    "no such category": (False, {"productId": "SKU-1", "category": "tops"}),
}


@pytest.mark.parametrize("name", SINGLES)
async def test_a_garment_is_right_for_the_document_where_it_is_for_the_service(
    api: Api, document: dict[str, Any], name: str
) -> None:
    from jsonschema import Draft202012Validator

    right, garment = SINGLES[name]
    body = {"customerPhotoBase64": PICTURE, **garment}
    schema = {"$ref": "#/components/schemas/SingleRequest", "components": document["components"]}
    assert Draft202012Validator(schema).is_valid(body) is right
    answer = await api.post(body)
    assert (answer.status_code != 400) is right, answer.text


def test_the_address_is_the_public_one_where_one_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_DASHBOARD_PUBLIC_URL", "https://tryon.example/")
    monkeypatch.setenv("TRYON_DASHBOARD_NAME", "Wardrobe")
    document = create_app(Settings()).openapi()
    assert [server["url"] for server in document["servers"]] == ["https://tryon.example", "/"]
    assert document["info"]["title"] == "Wardrobe"


def test_a_poll_has_one_of_three_shapes_told_apart_by_status(document: dict[str, Any], operations: Any) -> None:
    poll = operations["getTryOn"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert poll["discriminator"]["propertyName"] == "status"
    assert {name: reference.rpartition("/")[2] for name, reference in poll["discriminator"]["mapping"].items()} == {
        "processing": "StillProcessing",
        "completed": "Completed",
        "failed": "Failed",
    }
    assert [resolved(document, shape)["properties"]["status"]["const"] for shape in poll["oneOf"]] == [
        "processing",
        "completed",
        "failed",
    ]


def test_operations_have_the_statuses_of_the_contract(operations: Any) -> None:
    for name, statuses in CONTRACT_STATUSES.items():
        assert set(statuses.split()) <= operations[name]["responses"].keys(), name


def test_every_call_with_a_key_may_meet_the_gate(operations: Any) -> None:
    for name, operation in operations.items():
        under_api = operation["path"].startswith("/api/")
        assert bool(operation["security"]) is under_api, name
        if under_api:
            assert {"401", "403", "429", "500", "503"} <= operation["responses"].keys(), name


def test_addresses_and_methods_that_are_not_there_are_described(document: dict[str, Any]) -> None:
    answers = document["components"]["responses"]
    assert codes(answers["RouteNotFound"]) == ["route_not_found"]
    assert codes(answers["MethodNotAllowed"]) == ["method_not_allowed"]
    assert "Allow" in answers["MethodNotAllowed"]["headers"]


def test_every_refusal_has_the_one_body_and_codes_of_its_status(document: dict[str, Any], operations: Any) -> None:
    for name, operation in operations.items():
        if not operation["path"].startswith("/api/"):
            continue
        for status, answer in operation["responses"].items():
            if status < "400":
                continue
            content = answer["content"]["application/json"]
            assert content["schema"] == {"$ref": "#/components/schemas/ErrorBody"}, (name, status)
            assert {CATALOGUE[code].status for code in codes(answer)} == {int(status)}
            assert content["examples"].keys() == set(codes(answer))
            for code in codes(answer):
                assert f"`{code}`" in answer["description"]


def test_every_code_of_the_catalogue_is_in_the_document(document: dict[str, Any], operations: Any) -> None:
    answers = [answer for operation in operations.values() for answer in operation["responses"].values()]
    answers += document["components"]["responses"].values()
    listed = {
        code
        for answer in answers
        for code in answer["headers"].get("X-Error-Code", {}).get("schema", {}).get("enum", [])
    }
    assert listed == {code for code, entry in CATALOGUE.items() if entry.status is not None} - DASHBOARD_ONLY


def test_nothing_of_the_frameworks_own_refusals_is_left(document: dict[str, Any]) -> None:
    assert "ValidationError" not in json.dumps(document)
    assert '"detail"' not in json.dumps(document)


def test_headers_are_told_where_they_come(document: dict[str, Any], operations: Any) -> None:
    for name, operation in operations.items():
        under_api = operation["path"].startswith("/api/")
        for status, answer in operation["responses"].items():
            expected = {"X-Request-Id", "Cache-Control"} | HEADERS_OF_ANSWERS.get((name, status), set())
            if under_api and status not in ("401", "403", "500", "503"):
                expected |= {"RateLimit", "RateLimit-Policy"}
            if under_api and status >= "400":
                expected.add("X-Error-Code")
            if under_api and status in ("429", "503"):
                expected.add("Retry-After")
                assert resolved(document, answer["headers"]["Retry-After"])["required"]
            if status == "401":
                expected.add("WWW-Authenticate")
            if (name, status) in HEADERS_OF_ANSWERS or status >= "400":
                assert expected <= answer["headers"].keys(), (name, status)


def test_headers_of_requests_are_parameters(operations: Any) -> None:
    def headers(name: str) -> set[str]:
        return {each["name"] for each in operations[name].get("parameters", []) if each["in"] == "header"}

    assert headers("createTryOn") == headers("createComboTryOn") == {"Idempotency-Key"}
    assert headers("getTryOn") == {"Prefer"}


def test_whatever_has_a_body_has_an_example_that_fits(document: dict[str, Any], operations: Any) -> None:
    from jsonschema import Draft202012Validator

    shown = 0
    for operation in operations.values():
        for part in [operation.get("requestBody", {}), *operation["responses"].values()]:
            content = part.get("content", {}).get("application/json")
            if content is None:
                continue
            assert content["examples"], operation["operationId"]
            schema = {**content["schema"], "components": document["components"]}
            for example in content["examples"].values():
                Draft202012Validator(schema).validate(example["value"])
                shown += 1
    assert shown > 50


async def test_requests_that_are_shown_are_accepted(api: Api) -> None:
    for path, requests in (
        ("/api/v1/tryon", SINGLE_REQUESTS),
        ("/api/v1/tryon/combo", COMBO_REQUESTS),
    ):
        for name, body in requests.items():
            unknown_product = "productId" in body
            assert (await api.post(body, path)).status_code == (404 if unknown_product else 202), name


def test_the_picture_that_is_shown_is_one() -> None:
    assert inspect_image(decode_data_uri(PICTURE)) == "image/webp"


def test_an_error_is_never_empty() -> None:
    assert all(ErrorBody(error=entry.sentence) for entry in CATALOGUE.values())


async def test_the_docs_pages_fetch_nothing_from_another_host(api: Api) -> None:
    for page in ("/docs", "/redoc"):
        answer = await api.client.get(page)
        assert answer.status_code == 200
        assert 'src="http' not in answer.text
        assert 'link href="http' not in answer.text
        assert '<html lang="en">' in answer.text
        policy = dict(rule.split(" ", 1) for rule in answer.headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert all("http" not in sources and "*" not in sources for sources in policy.values())
    assert "<main id=" in (await api.client.get("/docs")).text
