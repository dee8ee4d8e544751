from __future__ import annotations

from tests.api.conftest import Api


async def test_the_document_describes_the_three_routes(api: Api) -> None:
    document = (await api.client.get("/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    operations = {
        operation["operationId"]: operation for path in document["paths"].values() for operation in path.values()
    }
    assert {"createTryOn", "createComboTryOn", "getTryOn"} <= operations.keys()
    for name in ("createTryOn", "createComboTryOn"):
        assert {"202", "400", "401", "403", "404", "413", "422", "500"} <= operations[name]["responses"].keys()
        assert "customerPhotoBase64" in str(
            document["components"]["schemas"][
                operations[name]["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            ]
        )
    assert all(operation.get("security") for name, operation in operations.items() if "TryOn" in name)


async def test_every_reference_in_the_document_exists(api: Api) -> None:
    import re

    text = (await api.client.get("/openapi.json")).text
    schemas = (await api.client.get("/openapi.json")).json()["components"]["schemas"]
    assert set(re.findall(r"#/components/schemas/(\w+)", text)) <= schemas.keys()


async def test_the_docs_pages_fetch_nothing_from_another_host(api: Api) -> None:
    for page in ("/docs", "/redoc"):
        answer = await api.client.get(page)
        assert answer.status_code == 200
        assert "https://" not in answer.text


async def test_health_needs_no_key(api: Api) -> None:
    api.client.headers.pop("Authorization")
    assert (await api.client.get("/healthz")).json() == {"status": "ok"}
    ready = await api.client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["parts"] == {"database": "ok", "objectStore": "ok", "temporal": "ok"}
