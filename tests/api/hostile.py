"""Hypothesis strategies for what nobody should send."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from api.tryon.schemas import SingleRequest
from tests.pictures import data_uri, encoded, photo

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=40)
    | st.sampled_from(["", "\0", "\ud800", "null", "upper_body", "prod_" + "0" * 32, "x" * 5000, 10**400, -0.0, 2**63])
)

FIELDS = [
    *SingleRequest.model_json_schema()["properties"],
    *("garments", "name", "externalId", "status"),
    *("model_extra", "__class__", "product_id", "\0", ""),
]
"""Of every request there is, and some that would hurt a careless reader."""

VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=8), inner, max_size=5)
    ),
    max_leaves=20,
)

CURIOUS_JSON = [
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"customerPhotoBase64":' + b"[" * 2000 + b"]" * 2000 + b"}",
    b"1" * 5000,
    b"1e999999",
    b"-",
    b'{"category": NaN, "size": Infinity}',
    b'"\\ud800"',
    b'{"size": "\\ud800\\u0000"}',
    b'{"size": "M", "size": "L", "size": 5}',
    b'{"": {"": {"": null}}}',
    b"\xef\xbb\xbf{}",
    "{}".encode("utf-16"),
    "{}".encode("utf-32"),
    b"{} {}",
    b"{'a': 1}",
    b'{"a": 1,}',
    b"\0",
    b"",
]

BODIES = st.one_of(
    st.binary(max_size=300),
    st.sampled_from(CURIOUS_JSON),
    VALUES.map(lambda value: json.dumps(value).encode()),
    st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
)


INTACT = [encoded(photo(256, 256), kind) for kind in ("JPEG", "PNG", "WEBP", "GIF", "TIFF")]


@st.composite
def damaged_pictures(draw: st.DrawFn) -> bytes:
    """Bytes of a picture that was cut, overwritten, or mixed with something else."""
    picture = draw(st.sampled_from(INTACT))
    data = bytearray(picture)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data) - 1) | st.integers(0, 200))
        data[at : at + draw(st.integers(0, 8))] = draw(st.binary(max_size=8))
    if draw(st.booleans()):
        del data[draw(st.integers(0, len(data))) :]
    return bytes(data)


PICTURES = st.one_of(st.binary(max_size=500), damaged_pictures())

DATA_URIS = st.one_of(
    st.text(max_size=60).map("data:".__add__),
    st.text(max_size=30).map("data:image/jpeg;base64,".__add__),
    st.text(alphabet="ABCDabcd0189+/=-_ \n", max_size=40).map("DATA:image/PNG;base64,".__add__),
    st.sampled_from(["data:", "data:,", "data:image/jpeg;base64,", "data:image/jpeg;base64,====", data_uri() + "\n"]),
)

HOSTS = st.text(max_size=30) | st.sampled_from(
    [
        *("localhost", "127.1", "0x7f.1", "[::1]", "[::ffff:10.0.0.1]", "[fe80::1%25eth0]"),
        *("a..b", "a.example.", "xn--a", "☃.example", ".", "-"),
        *("user@shop.example", "shop.example:99999", "shop.example:x", "shop.example:444"),
    ]
)

ADDRESSES = st.one_of(
    st.text(max_size=60),
    st.builds(
        "{}://{}/{}".format, st.sampled_from(["https", "http", "HTTPS", "ftp", "file", ""]), HOSTS, st.text(max_size=10)
    ),
    st.text(max_size=30).map("https://".__add__),
    st.just("https://shop.example/" + "a" * 3000),
)

HEADER_NAMES = st.sampled_from(
    b"content-type authorization idempotency-key prefer x-request-id content-length transfer-encoding content-encoding "
    b"accept host cookie expect range if-none-match x-forwarded-for x-http-method-override".split()
)

HEADER_VALUES = st.one_of(
    st.binary(max_size=60).map(lambda value: value.translate(None, b"\r\n\0")),
    st.sampled_from(
        [
            b"",
            b" ",
            b'""',
            b"application/json; charset=utf-16",
            b"text/plain, application/json",
            b"Bearer",
            b"Bearer  ",
            b"bearer vto_live_" + b"a" * 43,
            b"Bearer vto_live_" + b"a" * 60_000,
            b"Bearer \xff\xfe",
            b"wait=",
            b"wait=99999999999999999999",
            b"wait=-1",
            b"wait=0; x, respond-async",
            b"-1",
            b"+5",
            b"5, 5",
            b"9" * 5000,
            b"\xb2",
            b"chunked",
            b"x" * 300,
        ]
    ),
)

NAMES = st.one_of(
    st.text(min_size=1, max_size=60),
    st.uuids().map(str),
    st.uuids().map(lambda each: "{" + str(each).upper() + "}"),
    st.uuids().map(lambda each: f"prod_{each.hex}"),
    st.sampled_from(
        ["\0", "%00", "..", ".", "combo", "urn:uuid:", "prod_", "prod_" + "٣" * 32, "'; --", "a/b", "٣" * 32]
    ),
)

QUERIES = st.one_of(
    st.binary(max_size=60),
    st.builds(
        "{}={}&{}".format,
        st.sampled_from(
            ["limit", "cursor", "status", "Limit", "x", "mode", "createdAfter", "productId", "metadata", "metadata[a]"]
        ),
        st.sampled_from(
            ["0", "101", "1e2", "1_0", "٣", "", "%00", "active", "%ff", "9" * 5000, "MjAyNg==", "nan", "limit=5"]
        )
        | st.text(max_size=20),
        st.sampled_from(["", "limit=1&limit=x", "cursor=%zz", "&".join(f"metadata[{n}]=x" for n in range(1100))]),
    ).map(lambda text: text.encode("utf-8", "surrogatepass")),
)
