"""What callers give, and the requests built from it, not yet sent.

Pictures and garments become what the wire takes, or an error before anything is sent; each operation of the API
becomes a `Call`; a `Connection` puts a call into the terms of httpx.
"""

from __future__ import annotations

import base64
import json
import os
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import IO, Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode

import httpx

from tryon_client import answers
from tryon_client.answers import Job, JobStatus, ListedJob, PictureLink, Product, Usage, Verdict

Answer = TypeVar("Answer")

Picture: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]
"""A path, bytes, an open binary file, or a string: a path, a ``data:`` URI or an ``https://`` address."""


SIGNATURES = {
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
"""What pictures begin with, by their type; names and labels are not asked."""


def as_inline(picture: Picture, field: str, *, or_address: bool = False) -> str:
    """A picture as a ``data:`` URI, or its ``https://`` address where that is allowed.

    Raises:
        ValueError: It is an address that is not allowed, or no JPEG, PNG or WebP; the sentence begins with ``field``.
        OSError: It is a path and the file cannot be read.
    """
    scheme = _scheme(picture) if isinstance(picture, str) else ""
    if isinstance(picture, str) and scheme in {"http", "https"}:
        if not or_address:
            raise ValueError(f"{field}: the picture itself is sent, never an address")
        if scheme == "http":
            raise ValueError(f"{field}: an address must begin with https://")
        return picture
    data = _read(picture, field)
    if not data:
        raise ValueError(f"{field}: the picture is empty")
    for media_type, signature in SIGNATURES.items():
        if signature.match(data):
            return f"data:{media_type};base64,{base64.b64encode(data).decode()}"
    raise ValueError(f"{field}: not a JPEG, PNG or WebP picture (it begins with {data[:8].hex(' ')})")


def _scheme(text: str) -> str:
    """``https``, ``http``, ``data``, or nothing for a path."""
    found = re.match(r"(https?)://|(data):", text, re.IGNORECASE)
    return found[found.lastindex or 0].lower() if found else ""


def _read(picture: Picture, field: str) -> bytes:
    if isinstance(picture, str) and _scheme(picture) == "data":
        try:
            return answers.decode_data_uri(picture)
        except ValueError as error:
            raise ValueError(f"{field}: {error}") from None
    if isinstance(picture, str | os.PathLike):
        return Path(picture).read_bytes()
    if isinstance(picture, bytes | bytearray | memoryview):
        return bytes(picture)
    data = picture.read()
    if not isinstance(data, bytes):
        raise ValueError(f"{field}: the file must be opened in binary mode")  # noqa: TRY004 - like every bad picture
    return data


Category: TypeAlias = Literal["upper_body", "lower_body", "full_body"]
GarmentState: TypeAlias = Literal["open", "closed"]
TuckState: TypeAlias = Literal["tucked", "untucked"]
ViewAngle: TypeAlias = Literal["front", "left", "right", "back"]

MAX_GARMENTS = 4
"""In one look."""

PICTURES = {"image": "garmentImageUrl", "back_image": "garmentBackImageUrl"}
"""Fields that hold pictures, and the wire's names for them; every other name is the same in camelCase."""


@dataclass(frozen=True)
class Garment:
    """One garment: a picture with its category, or a registered product.

    Attributes:
        image: Its picture; not needed with ``product_id``.
        category: Which part of the body it covers; not needed with ``product_id``.
        product_id: A product of the account. Other fields override the product's for this request only.
        back_image: Its back, used when ``view_angle`` is back.
        garment_category: Such as ``t-shirt`` or ``jeans``.
        size: Its size, such as ``M``, ``38`` or ``W32/L34``.
        customer_size: The size that the customer wears.
        garment_state: For jackets, shirts, waistcoats.
        tuck_state: Whether a top is worn inside the trousers.
        view_angle: Where the customer is seen from.
    """

    image: Picture | None = field(default=None, repr=False)
    category: Category | None = None
    product_id: str | None = None
    back_image: Picture | None = field(default=None, repr=False)
    garment_category: str | None = None
    size: str | None = None
    customer_size: str | None = None
    garment_state: GarmentState | None = None
    tuck_state: TuckState | None = None
    view_angle: ViewAngle | None = None

    def wire(self, name: str) -> dict[str, str]:
        """Its fields as the API takes them; error messages call it ``name``.

        Raises:
            ValueError: Neither a product nor a picture with its category, or a picture that cannot be used.
            OSError: A picture's file cannot be read.
        """
        if self.product_id is None and (self.image is None or self.category is None):
            raise ValueError(f"{name}: give an image and its category, or a product_id")
        fields = wire_fields(vars(self), name)
        return {key: value for key, value in fields.items() if value is not None}


class Hints(TypedDict, total=False):
    """The fields of one garment, as keyword arguments."""

    category: Category | None
    product_id: str | None
    back_image: Picture | None
    garment_category: str | None
    size: str | None
    customer_size: str | None
    garment_state: GarmentState | None
    tuck_state: TuckState | None
    view_angle: ViewAngle | None


GarmentLike: TypeAlias = Garment | Picture
Garments: TypeAlias = GarmentLike | Sequence[GarmentLike] | None
"""One garment or up to four; ``None`` where ``product_id`` is among the hints."""


def as_garments(garments: Garments, **hints: Unpack[Hints]) -> list[Garment]:
    """The given garments as a list of one to four.

    Raises:
        ValueError: No garment, or more than four.
        TypeError: Hints for several garments: it is unclear which garment they are for.
    """
    if isinstance(garments, Sequence) and not isinstance(garments, str | bytes | bytearray | memoryview):
        if hints:
            raise TypeError(f"with several garments, give {', '.join(hints)} to each Garment")
        if not 1 <= len(garments) <= MAX_GARMENTS:
            raise ValueError(f"a look has 1 to {MAX_GARMENTS} garments, not {len(garments)}")
        return [item if isinstance(item, Garment) else Garment(item) for item in garments]
    if isinstance(garments, Garment):
        return [replace(garments, **hints)]
    return [Garment(garments, **hints)]


def wire_fields(values: Mapping[str, object], name: str) -> dict[str, str | None]:
    """Fields under the names that the wire has for them, pictures as ``data:`` URIs or addresses.

    Raises:
        ValueError: A picture cannot be used.
        TypeError: There is no such field.
        OSError: A picture's file cannot be read.
    """
    fields: dict[str, str | None] = {}
    for key, value in values.items():
        if key not in Garment.__annotations__.keys() | ProductChanges.__annotations__.keys():
            raise TypeError(f"there is no field {key}")
        if key in PICTURES and value is not None:
            picture: Picture = value  # type: ignore[assignment]  # checked there
            value = as_inline(picture, f"{name}: {key}", or_address=True)  # noqa: PLW2901
        fields[PICTURES.get(key) or answers.camel_case(key)] = None if value is None else str(value)
    return fields


class ProductFields(TypedDict, total=False):
    """What a product may have.

    Attributes:
        external_id: The shop's own number for it, one product for each; creating it again changes it.
        garment_category: Such as ``t-shirt`` or ``jeans``.
        back_image: Its back.
        garment_state: How it is worn unless a try-on says otherwise.
        tuck_state: Likewise.
        size: Its size.
    """

    external_id: str | None
    garment_category: str | None
    back_image: Picture | None
    garment_state: GarmentState | None
    tuck_state: TuckState | None
    size: str | None


class ProductChanges(ProductFields, total=False):
    """What may be changed: those, and what every product has. Status ``active`` brings an archived one back."""

    name: str
    category: Category
    image: Picture
    status: Literal["active", "archived"]


TRY_ON, COMBO, CHECK = "/api/v1/tryon", "/api/v1/tryon/combo", "/api/v1/tryon/check"
PRODUCTS, USAGE = "/api/v1/products", "/api/v1/usage"
JSON = {"Content-Type": "application/json"}
LONGEST_KEY = 255
"""Characters of an ``Idempotency-Key``."""

COPYING_SECONDS = 30
"""How much longer an answer may take for which the service fetches pictures from a shop."""


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """One HTTP request.

    Attributes:
        method: Its method.
        path: Its path, with the query.
        parse: Reads the answer.
        headers: Headers besides those of every request.
        content: Its body, if it has one. The bytes stay the same over retries.
        held_seconds: How much longer than usual the server may take to answer, because it was asked to.
        paced: Whether it counts against the request rate that try-ons and their polls share.
        repeatable: Whether sending it twice does no more than sending it once.
    """

    method: str
    path: str
    parse: Callable[[httpx.Response], Answer]
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = field(default=None, repr=False)
    held_seconds: int = 0
    paced: bool = False
    repeatable: bool = True

    def read(self, response: httpx.Response) -> Answer:
        """What the answer says.

        Raises:
            UnexpectedAnswer: It does not read as the API describes it.
        """
        try:
            return self.parse(response)
        except (KeyError, TypeError, ValueError, AttributeError):
            failure = answers.unexpected(response)
            failure.idempotency_key = self.idempotency_key
            raise failure from None

    @property
    def idempotency_key(self) -> str | None:
        """What makes sending it again harmless, if it has one."""
        return self.headers.get("Idempotency-Key")


class JobFilter(TypedDict, total=False):
    """Which jobs are wanted.

    Attributes:
        created_after: Accepted then or later; a moment with its time zone.
        created_before: Accepted before.
        product_id: With this product, by its id or the shop's own number for it.
        metadata: Started with these, and perhaps with more.
    """

    status: Literal["processing", "completed", "failed"] | None
    mode: Literal["live", "test"] | None
    created_after: datetime | None
    created_before: datetime | None
    product_id: str | None
    metadata: Mapping[str, str] | None


def start_try_on(
    person: Picture,
    garments: Garments,
    idempotency_key: str | None,
    metadata: Mapping[str, str] | None = None,
    **hints: Unpack[Hints],
) -> Call[Job]:
    """Start a job: with one garment, or a look of two to four.

    Raises:
        ValueError: A picture, the garments or the key cannot be used.
        TypeError: Hints for several garments.
        OSError: A picture's file cannot be read.
    """
    body = _look(person, garments, **hints)
    if metadata:
        body["metadata"] = dict(metadata)
    path = COMBO if "garments" in body else TRY_ON
    return Call("POST", path, answers.read_job, _post_headers(idempotency_key), _json(body), paced=True)


def check_pictures(person: Picture, garments: Garments, **hints: Unpack[Hints]) -> Call[Verdict]:
    """Ask whether a job with these pictures can complete, without starting one.

    Raises:
        ValueError: A picture or the garments cannot be used.
        TypeError: Hints for several garments.
        OSError: A picture's file cannot be read.
    """
    return Call("POST", CHECK, answers.read_verdict, JSON, _json(_look(person, garments, **hints)), paced=True)


def _look(person: Picture, garments: Garments, **hints: Unpack[Hints]) -> dict[str, object]:
    """The body of a request with one garment, or with two to four."""
    items = as_garments(garments, **hints)
    body: dict[str, object] = {"customerPhotoBase64": as_inline(person, "person")}
    if len(items) == 1:
        return body | items[0].wire("garment")
    return body | {"garments": [item.wire(f"garment {number}") for number, item in enumerate(items, 1)]}


def poll(job_id: str, wait: int | None = None) -> Call[JobStatus]:
    """Ask how a job stands; with ``wait``, the server may hold the answer until it has ended.

    Raises:
        ValueError: No job's id, or a negative wait.
    """
    if wait and wait < 0:
        raise ValueError("wait is in seconds from now")
    return Call(
        "GET",
        f"{TRY_ON}/{_segment(job_id)}",
        partial(answers.read_status, job_id=job_id),
        {"Prefer": f"wait={wait}"} if wait else {},
        held_seconds=wait or 0,
        paced=True,
    )


def list_jobs(
    limit: int | None, cursor: str | None, **wanted: Unpack[JobFilter]
) -> Call[tuple[list[ListedJob], str | None]]:
    """One page of the account's jobs."""
    query: dict[str, object] = {"limit": limit, "cursor": cursor}
    for name, value in wanted.items():
        if name == "metadata":
            query |= {f"metadata[{key}]": text for key, text in (wanted.get("metadata") or {}).items()}
        else:
            query[answers.camel_case(name)] = value.isoformat() if isinstance(value, datetime) else value
    given = urlencode({name: value for name, value in query.items() if value is not None})
    return Call("GET", f"{TRY_ON}?{given}", answers.read_jobs)


FORMATS = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}


def get_picture(job_id: str, picture_format: str, size: int | None) -> Call[bytes]:
    """The picture of a completed job.

    Raises:
        ValueError: No format of `FORMATS`.
    """
    if picture_format not in FORMATS:
        raise ValueError(f"a picture is one of {', '.join(FORMATS)}")
    path = f"{TRY_ON}/{_segment(job_id)}/picture" + (f"?size={size}" if size else "")
    return Call("GET", path, answers.read_picture, {"Accept": FORMATS[picture_format]}, paced=True)


def link_picture(job_id: str, seconds: int) -> Call[PictureLink]:
    """Make a link to the picture of a completed job."""
    path, body = f"{TRY_ON}/{_segment(job_id)}/picture/link", _json({"seconds": seconds})
    return Call("POST", path, answers.read_link, JSON, body)


def delete_job(job_id: str) -> Call[None]:
    """Delete a job and its picture."""
    return Call("DELETE", f"{TRY_ON}/{_segment(job_id)}", answers.read_nothing)


def get_usage() -> Call[Usage]:
    """What the account has used."""
    return Call("GET", USAGE, answers.read_usage)


def create_product(fields: Mapping[str, object]) -> Call[Product]:
    """Register a garment, or change the one that has its ``external_id`` already.

    Only the ``external_id`` makes a second sending harmless.
    """
    body = {name: value for name, value in wire_fields(fields, "product").items() if value is not None}
    return Call(
        "POST",
        PRODUCTS,
        answers.read_product,
        _post_headers(None),
        _json(body),
        held_seconds=COPYING_SECONDS,
        repeatable="externalId" in body,
    )


def list_products(status: str, limit: int | None, cursor: str | None) -> Call[tuple[list[Product], str | None]]:
    """One page of the catalogue."""
    query = {"status": status, "limit": limit, "cursor": cursor}
    given = urlencode({name: value for name, value in query.items() if value is not None})
    return Call("GET", f"{PRODUCTS}?{given}", answers.read_products)


def get_product(product_id: str) -> Call[Product]:
    """One product."""
    return Call("GET", f"{PRODUCTS}/{_segment(product_id)}", answers.read_product)


def update_product(product_id: str, changes: Mapping[str, object]) -> Call[Product]:
    """Change what is given; ``None`` empties a field that may be empty."""
    path, body = f"{PRODUCTS}/{_segment(product_id)}", _json(wire_fields(changes, "product"))
    return Call("PATCH", path, answers.read_product, JSON, body, held_seconds=COPYING_SECONDS)


def archive_product(product_id: str) -> Call[None]:
    """Take a product out of the catalogue."""
    return Call("DELETE", f"{PRODUCTS}/{_segment(product_id)}", answers.read_nothing)


def _post_headers(idempotency_key: str | None) -> dict[str, str]:
    key = idempotency_key if idempotency_key is not None else str(uuid.uuid4())
    if not 1 <= len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise ValueError(f"an idempotency_key has 1 to {LONGEST_KEY} printable ASCII characters")
    return {**JSON, "Idempotency-Key": key}


def _json(body: Mapping[str, object]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


def _segment(identifier: str) -> str:
    """An identifier as one part of a path."""
    if not identifier.strip("."):
        raise ValueError(f"{identifier!r} identifies nothing")
    return quote(identifier, safe="")


BASE_URL_VARIABLE, API_KEY_VARIABLE = "VTO_BASE_URL", "VTO_API_KEY"

USER_AGENT = "tryon-client/1"
"""The number is the API's version."""

ANSWER_SECONDS = 30.0
CONNECT_SECONDS = 10.0


class Connection:
    """The service's address, the account's key and the timeout: what all requests of a client share.

    Raises:
        ValueError: Neither the caller nor the environment gives an http or https address, or a key.
    """

    def __init__(self, base_url: str | None, api_key: str | None, timeout: float) -> None:
        base_url = base_url or os.environ.get(BASE_URL_VARIABLE, "")
        api_key = (api_key or os.environ.get(API_KEY_VARIABLE, "")).strip()
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(f"give base_url or set {BASE_URL_VARIABLE}, such as https://tryon.example")
        if not api_key.isascii() or not api_key:
            raise ValueError(f"give api_key or set {API_KEY_VARIABLE}")
        self._base_url, self._api_key, self._timeout = base_url.rstrip("/"), api_key, timeout

    @property
    def client_options(self) -> dict[str, Any]:
        """Options of the httpx client, if the caller gave none: no proxy for this machine itself."""
        return {"trust_env": not _is_this_machine(httpx.URL(self._base_url).host)}

    def request(self, call: Call[Any]) -> dict[str, Any]:
        """The arguments of httpx's ``request``."""
        return {
            "method": call.method,
            "url": self._base_url + call.path,
            "content": call.content,
            "headers": {
                "Authorization": f"Bearer {self._api_key}",
                "Accept": "application/json",
                "User-Agent": USER_AGENT,
                **call.headers,
            },
            "timeout": httpx.Timeout(self._timeout + call.held_seconds, connect=min(CONNECT_SECONDS, self._timeout)),
        }


def _is_this_machine(host: str) -> bool:
    try:
        address = ip_address(host)
        return address.is_loopback or address.is_unspecified
    except ValueError:
        return host == "localhost"
