"""A browser as far as a server can tell: it keeps cookies, follows links and sends forms with their tokens."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from typing import Any

import httpx

from api.dashboard.visitor import SESSION, cookie_name
from domain.authentication import sessions
from domain.tables import Login
from tests.api.conftest import Api

HOST = "tryon.example"
_TOKEN = re.compile(r'name="form_token" value="([^"]+)"')
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]+>", re.DOTALL)


@dataclass
class Browser:
    """One browser on one application."""

    client: httpx.AsyncClient
    account_id: uuid.UUID | None = None
    extra: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, **options: Any) -> httpx.Response:
        """A page below the dashboard."""
        headers = {"Sec-Fetch-Site": "same-origin", **self.extra, **options.pop("headers", {})}
        return await self.client.get(f"/dashboard{path}", headers=headers, **options)

    async def post(
        self,
        path: str,
        fields: Mapping[str, str | Sequence[str]] | None = None,
        *,
        page: str | None = None,
        files: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send the form of a page: of ``page``, or of the one at ``path`` itself."""
        found = _TOKEN.search((await self.get(page or path)).text)
        assert found, f"{page or path} holds no form"
        return await self.client.post(
            f"/dashboard{path}",
            data={"form_token": unescape(found[1]), **(fields or {})},
            files=files,
            headers={"Sec-Fetch-Site": "same-origin", **self.extra, **(headers or {})},
        )

    async def follow(self, answer: httpx.Response) -> httpx.Response:
        """The page that an answer sends on to."""
        assert answer.status_code == 303, answer.text
        return await self.client.get(
            answer.headers["Location"], headers={"Sec-Fetch-Site": "same-origin", **self.extra}
        )


def words(answer: httpx.Response) -> str:
    """What a person reads of a page."""
    return " ".join(unescape(_TAG.sub(" ", answer.text)).split())


def new_browser(api: Api) -> Browser:
    """One that has never been here."""
    transport = httpx.ASGITransport(api.app, client=("127.0.0.1", 50_000))
    return Browser(httpx.AsyncClient(transport=transport, base_url=f"https://{HOST}", timeout=30))


async def signed_in(
    api: Api, account_id: uuid.UUID | None = None, *, verified: bool = True, operator: bool = False
) -> Browser:
    """One where the owner of an account is signed in: of the API's caller, if no other is named."""
    account_id = account_id or api.caller.account_id
    now = datetime.now(UTC)
    with api.parts.database.transaction() as session:
        if session.get(Login, account_id) is None:
            session.add(
                Login(
                    account_id=account_id,
                    password_hash=None,
                    verified_at=now if verified else None,
                    operator=operator,
                    created_at=now,
                )
            )
            session.flush()
        token = sessions.open_session(session, account_id=account_id, address="127.0.0.1", user_agent="tests", now=now)
    browser = new_browser(api)
    browser.account_id = account_id
    browser.client.cookies.set(cookie_name(SESSION, api.parts.settings.dashboard), token, domain=HOST, path="/")
    return browser
