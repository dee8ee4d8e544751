from __future__ import annotations
import asyncio, re
import numpy as np, io
from PIL import Image
from tests.api.conftest import Api
from tests.api.dashboard.browser import HOST, Browser, signed_in, words
from tests.pictures import encoded, padded, photo
from tests.api.dashboard.test_playground import front
J = {"Accept": "application/json"}
HEIC = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 5000
def person(data, name="me.jpg", t="image/jpeg"): return ("customerPhotoBase64", (name, data, t))
G = {"garments[0].category": "upper_body"}
async def test_files(browser: Browser) -> None:
    for label, d in (("9MB", padded(encoded(), 9*1024*1024)), ("HEIC", HEIC), ("12MP", encoded(photo(4000,3000))), ("50MP", encoded(photo(8700,5800))), ("tiny", encoded(photo(60,60))), ("text", b"hello"*100), ("pdf", b"%PDF-1.4"+b"x"*100), ("gif", encoded(photo(), "GIF")), ("trunc", encoded()[:2000])):
        a = await browser.post("/playground/run", G, page="/playground", files=[person(d), front()], headers=J)
        print("PLAY", label, a.status_code, a.text[:250])
        a = await browser.post("/products/new", {"name": "n", "category": "upper_body"}, files={"frontFile": ("a.jpg", d)} ) if label not in ("12MP",) else None
        if a is not None: print("PROD", label, a.status_code, re.findall(r'<p class="error"[^>]*>([^<]+)', a.text), re.findall(r'class="note bad"[^>]*>(.{0,200})', a.text)[:1])
async def test_expired(browser: Browser, stranger: Browser) -> None:
    shown = await browser.get("/playground")
    token = re.search(r'name="form_token" value="([^"]+)"', shown.text)[1]
    browser.client.cookies.clear()
    a = await browser.client.post("/dashboard/playground/run", data={"form_token": token}, headers={"Sec-Fetch-Site": "same-origin", **J})
    print("EXP", a.status_code, a.text)
    a = await browser.client.post("/dashboard/settings/retention", data={"form_token": token}, headers={"Sec-Fetch-Site": "same-origin"})
    print("EXP2", a.status_code, a.headers["location"])
async def test_away(api: Api, browser: Browser, stranger: Browser, monkeypatch) -> None:
    from sqlalchemy.exc import OperationalError
    def no(*a, **k): raise OperationalError("x", {}, Exception("secret-gone"))
    from runtime.object_store import ObjectStoreUnavailableError
    async def nostore(*a, **k): raise ObjectStoreUnavailableError("away")
    from tests.api.dashboard.routes import all_routes
    with monkeypatch.context() as m:
        for n in ("get", "put", "delete", "list_keys", "delete_prefix"): m.setattr(api.store, n, nostore)
        for method, p in all_routes():
            if "{" in p: continue
            a = await (browser.get(p) if method == "GET" else browser.post(p, {}, page="/keys"))  if p != "/log-out" else None
            if a is not None and a.status_code >= 500: print("STORE", method, p, a.status_code, words(a)[-120:])
    with monkeypatch.context() as m:
        for n in ("transaction", "reading", "read", "write"): m.setattr(api.parts.database, n, no)
        for b, w in ((browser, "own"), (stranger, "str")):
            a = await b.get("/log-in"); print("DB", w, a.status_code, words(a)[-150:], a.headers.get_list("set-cookie"))
            a = await b.get("/jobs"); print("DB", w, a.status_code, words(a)[-150:])
            a = await b.client.post("/dashboard/log-in", data={}, headers={"Sec-Fetch-Site": "same-origin"}); print("DBP", w, a.status_code, words(a)[-150:])
