"""What finds its way into logs by accident, and what of it must never be seen there."""

from __future__ import annotations

import json
from typing import Any

KEY = "vto_live_" + "aB3-_xyz" * 5 + "abc"
TEST_KEY = "vto_test_" + "Q" * 43
SHORT_URI = "data:,hello-inline"
PICTURE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA"
EMAIL = "mallory+shop@example.co.uk"

SECRETS = (
    KEY[9:],
    TEST_KEY[9:],
    "hello-inline",
    "iVBORw0KGgo",
    "AAAANSUhEUgAAAAUA",
    "mallory",
    "example.co.uk",
    "s3cr3t",
    "dG9rZW4",
    "X-Amz-Signature",
)


class Talkative:
    """An object whose repr says too much."""

    def __repr__(self) -> str:
        return f"<Talkative key={KEY!r} of {EMAIL}>"


class Silent:
    """An object that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


CYCLE: dict[str, Any] = {"uri": PICTURE}
CYCLE["self"] = CYCLE

EVENTS: dict[str, Any] = {
    "short data: URI": SHORT_URI,
    "picture in a sentence": f"the field holds {PICTURE}, which is wrong",
    "picture in capitals": PICTURE.replace("data:image", "DATA:IMAGE"),
    "picture with parameters": PICTURE.replace(";base64", ";charset=utf-8;base64"),
    "picture over lines": PICTURE.replace("GgoA", "GgoA\n"),
    "picture in a repr": repr({"photo": PICTURE.replace("GgoA", "GgoA\n")}),
    "picture in a JSON text": f'{{"customerPhotoBase64":"{PICTURE}"}}',
    "picture percent-encoded": PICTURE.replace(":", "%3A").replace(";", "%3B").replace(",", "%2C"),
    "key": KEY,
    "key in a sentence": f"no account has {KEY}.",
    "test key": {"nested": [{"deeper": (TEST_KEY,)}]},
    "key as a name": {KEY: 1},
    "bytes": KEY.encode(),
    "bytes in a repr": repr(f"Bearer {KEY}".encode()),
    "header": {"Authorization": "Bearer s3cr3t-s3cr3t"},
    "header in lower case": {"headers": {"proxy-authorization": "Basic dG9rZW4="}},
    "headers as pairs": [("host", "here"), ("authorization", "s3cr3t")],
    "headers as ASGI has them": [[b"authorization", b"Bearer s3cr3t"]],
    "headers in a repr": "{'Authorization': 'Bearer s3cr3t-s3cr3t'}",
    "header line": "Authorization: s3cr3t",
    "bearer alone": "Bearer dG9rZW4tc2VjcmV0",
    "cookie": {"Cookie": "session=s3cr3t"},
    "cookie in a text": 'the call had Cookie: session=s3cr3t; theme=dark; second="dG9rZW4" and failed',
    "cookies in a repr": repr({"Set-Cookie": "session=s3cr3t; HttpOnly", "cookie": "dG9rZW4="}),
    "cookies as ASGI has them, in a repr": repr([(b"host", b"here"), (b"cookie", b"session=s3cr3t")]),
    "cookie in a JSON text within a text": json.dumps(json.dumps({"cookie": "session=s3cr3t"})),
    "cookie line among others": "Host: here\r\nCookie: session=s3cr3t\r\nAccept: */*",
    "fields that hold secrets": {
        "password": "s3cr3t",
        "Secret-Key": "s3cr3t",
        "settings": [{"secret_key": "dG9rZW4"}, {"token": "s3cr3t"}, ("token", "s3cr3t")],
    },
    "signed address within an address": "https://proxy.example/https://shop.example/a.jpg?X-Amz-Signature=s3cr3t#x",
    "address with a secret fragment": "see https://shop.example/a.jpg#access=s3cr3t.",
    "e-mail": EMAIL,
    "e-mail percent-encoded": f"/accounts/{EMAIL.replace('@', '%40')}/keys",
    "e-mail in brackets": f"Owner <{EMAIL}>",
    "e-mail in a set": {EMAIL},
    "signed address": "https://shop.example/a.jpg?X-Amz-Signature=s3cr3t",
    "address with credentials": "postgresql://tryon:s3cr3t@db.internal/tryon",
    "exception": ValueError(f"cannot read {PICTURE} of {EMAIL}"),
    "object": Talkative(),
    "object in a list": [Talkative()],
    "object that cannot be shown": Silent(),
    "cycle": CYCLE,
}
