"""What generators of clients make of the document: it compiles, it refuses what the service refuses, and it works."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.live_service import LiveService, live_service
from tests.node_tools import compiled, compiler_says, node, npm_program
from tests.pictures import data_uri, encoded, photo

PROJECT = Path(__file__).parents[2]
GENERATORS = PROJECT / ".venv" / "generators" / "bin"
"""An environment of its own: the generator's versions of what we use as well are not ours."""

SECONDS = 170


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with pytest.MonkeyPatch.context() as environment:
        for name in [name for name in os.environ if name.startswith("TRYON_")]:
            environment.delenv(name)
        with live_service(f"sqlite:///{tmp_path_factory.mktemp('live')}/tryon.db") as service:
            yield service


@pytest.fixture
def document(live: LiveService, tmp_path: Path) -> Path:
    """As a developer fetches it."""
    file = tmp_path / "openapi.json"
    file.write_bytes(httpx.get(f"{live.url}/openapi.json", trust_env=False).content)
    return file


def run(live: LiveService, folder: Path, *command: str | Path) -> str:
    """What a program prints; it finds its pictures in the folder and the service in its environment."""
    (folder / "pictures.json").write_text(json.dumps([data_uri(encoded(photo(seed=seed))) for seed in range(3)]))
    environment = {**os.environ, "VTO_BASE_URL": live.url, "VTO_API_KEY": live.keys[0], "NO_PROXY": "127.0.0.1"}
    environment["PATH"] = f"{GENERATORS}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def typescript_types(document: Path) -> Path:
    types = document.with_name("api.ts")
    program = npm_program("openapi-typescript/bin/cli.js")
    subprocess.run([*program, document, "-o", types], check=True, capture_output=True, timeout=SECONDS)
    return types


TYPESCRIPT = """
import { readFile } from "node:fs/promises";
import type { components, paths } from "./api.ts";

type Single = paths["/api/v1/tryon"]["post"]["requestBody"]["content"]["application/json"];
type Combo = paths["/api/v1/tryon/combo"]["post"]["requestBody"]["content"]["application/json"];
type Accepted = components["schemas"]["Accepted"];
type Poll = paths["/api/v1/tryon/{jobId}"]["get"]["responses"]["200"]["content"]["application/json"];

const [photo, shirt, jeans] = JSON.parse(await readFile("pictures.json", "utf8")) as [string, string, string];
const bodies: [path: "" | "/combo", body: Single | Combo][] = [
  ["", { customerPhotoBase64: photo, garmentImageUrl: shirt, category: "upper_body", tuckState: "tucked" }],
  ["", { customerPhotoBase64: photo, productId: "test_completed", category: null, viewAngle: "back" }],
  ["/combo", {
    customerPhotoBase64: photo,
    garments: [{ garmentImageUrl: jeans, category: "lower_body", size: null }, { productId: "test_completed" }],
  }],
];
const address = `${process.env.VTO_BASE_URL}/api/v1/tryon`;
const headers = { Authorization: `Bearer ${process.env.VTO_API_KEY}`, "Content-Type": "application/json" };
const pictures: string[] = [];
for (const [path, body] of bodies) {
  const accepted = await fetch(address + path, { method: "POST", headers, body: JSON.stringify(body) });
  const { jobId } = (await accepted.json()) as Accepted;
  const answer = await fetch(`${address}/${jobId}`, { headers: { ...headers, Prefer: "wait=30" } });
  const poll = (await answer.json()) as Poll;
  pictures.push(poll.status === "completed" ? poll.resultImageBase64.slice(0, 22) : poll.status);
}
console.log(JSON.stringify(pictures));
"""

TYPESCRIPT_REFUSED = {
    "no photo": '{ productId: "SKU-1" }',
    "no photo with a picture": '{ garmentImageUrl: "https://shop.example/a.jpg", category: "upper_body" }',
    "no such category": '{ customerPhotoBase64: "", garmentImageUrl: "https://shop.example/a.jpg", category: "tops" }',
    "no such category with a product": '{ customerPhotoBase64: "", productId: "SKU-1", category: "tops" }',
    "no category": '{ customerPhotoBase64: "", garmentImageUrl: "https://shop.example/a.jpg" }',
    "no garment": '{ customerPhotoBase64: "" }',
    "no product": '{ customerPhotoBase64: "", productId: null }',
    "a wrong name": '{ customerPhotoBase64: "", productId: "SKU-1", viewangle: "back" }',
}


@pytest.mark.timeout(400)
def test_the_types_of_openapi_typescript_compile_and_send(live: LiveService, document: Path) -> None:
    typescript_types(document)
    program = document.with_name("program.mts")
    program.write_text(TYPESCRIPT.replace("./api.ts", "./api.js"))  # types alone: nothing of it is loaded
    pictures = json.loads(run(live, document.parent, node(), compiled(program)))
    assert pictures == ["data:image/jpeg;base64"] * 3


@pytest.mark.timeout(400)
def test_the_types_of_openapi_typescript_refuse_what_the_service_refuses(document: Path) -> None:
    typescript_types(document)
    file = document.with_name("refused.mts")
    lines = [f"  (): Single => ({body})," for body in TYPESCRIPT_REFUSED.values()]
    file.write_text(
        'import type { components } from "./api.js";\ntype Single = components["schemas"]["SingleRequest"];\n'
        "export const bodies = [\n" + "\n".join(lines) + "\n];\n"
    )
    complaints = compiler_says(file)
    for number, name in enumerate(TYPESCRIPT_REFUSED, 4):
        assert f"refused.mts({number}," in complaints, f"{name} compiles"


PYTHON = """
import json, os, sys
from service import AuthenticatedClient
from service.api.try_on import create_combo_try_on, create_try_on, get_try_on
from service.models import (
    ComboRequest, Completed, GarmentByPicture, GarmentByPictureCategory, GarmentByProduct, TryOnByPicture,
    TryOnByPictureCategory, TryOnByProduct,
)

photo, shirt, jeans = json.load(open("pictures.json"))
client = AuthenticatedClient(os.environ["VTO_BASE_URL"], os.environ["VTO_API_KEY"], timeout=60)
looks = [
    (create_try_on, TryOnByPicture(
        customer_photo_base_64=photo, garment_image_url=shirt, category=TryOnByPictureCategory.UPPER_BODY)),
    (create_try_on, TryOnByProduct(customer_photo_base_64=photo, product_id="test_completed")),
    (create_combo_try_on, ComboRequest(customer_photo_base_64=photo, garments=[
        GarmentByPicture(garment_image_url=jeans, category=GarmentByPictureCategory.LOWER_BODY),
        GarmentByProduct(product_id="test_completed"),
    ])),
]
pictures = []
for create, body in looks:
    accepted = create.sync(client=client, body=body)
    poll = get_try_on.sync(accepted.job_id, client=client, prefer="wait=30")
    pictures.append(poll.result_image_base_64[:22] if isinstance(poll, Completed) else str(poll))
refused = create_try_on.sync(client=client, body=TryOnByProduct(customer_photo_base_64=photo, product_id="nothing"))
print(json.dumps([*pictures, refused.error]))
"""


@pytest.mark.timeout(400)
def test_the_package_of_openapi_python_client_sends(live: LiveService, document: Path) -> None:
    generator = GENERATORS / "openapi-python-client"
    if not generator.is_file():
        pytest.skip("openapi-python-client is not there (make test-env installs it)")
    folder = document.parent
    run(live, folder, generator, "generate", "--path", document, "--output-path", "service", "--meta", "none")
    *pictures, refusal = json.loads(run(live, folder, GENERATORS / "python", "-c", PYTHON))
    assert pictures == ["data:image/jpeg;base64"] * 3
    assert "product" in refusal.lower()
