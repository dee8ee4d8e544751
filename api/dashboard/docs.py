"""The docs, as pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from api.dashboard.keys import TOO_MANY
from api.dashboard.rendering import page
from api.dashboard.visitor import Visitor
from api.errors import PageRefused
from api.parts import ApiParts, Parts
from api.routes import PAGES
from domain.access import keys
from domain.access.keys import KeyTerms
from domain.authentication.sessions import SignedIn
from domain.errors import CATALOGUE

router = APIRouter()

PLACEHOLDER = "$VTO_API_KEY"
"""What stands in place of a key: no key can be shown twice."""

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)

_NO_SLUG = re.compile(r"[^\w\- ]")

NO_NAMES: Mapping[str, str] = MappingProxyType({})

Where = Callable[[str], str | None]
"""From a link's address to the one of the page it means; ``None`` for what this reader cannot see."""

FOLDER = Path(__file__).parents[2] / "docs"
"""Beside the packages, in a checkout and in an image; an installation of the packages alone comes without."""

FOR_SNIPPETS = KeyTerms(name="Quickstart")

EXAMPLE_URL = "http://127.0.0.1:8000"
"""Where the texts say that the service is."""


@router.get("/docs")
async def quickstart(request: Request, parts: Parts, visitor: Visitor) -> HTMLResponse:
    """How to make the first call."""
    return _page(request, parts, visitor, "docs/quickstart.html", key=PLACEHOLDER, filled_in=False)


@router.post("/docs")
async def quickstart_with_key(request: Request, parts: Parts, visitor: Visitor) -> HTMLResponse:
    """The same with a new test key of the account in every snippet; it is shown this once, like any key."""
    account_id = visitor.account_id
    try:
        _, key = await parts.database.write(
            keys.create_own_key, parts.digester, account_id=account_id, mode=keys.TEST, terms=FOR_SNIPPETS
        )
    except keys.TooManyKeysError:
        raise PageRefused(409, TOO_MANY) from None
    return _page(request, parts, visitor, "docs/quickstart.html", key=key, filled_in=True)


@router.get("/docs/limits")
async def limits(request: Request, parts: Parts, visitor: Visitor) -> HTMLResponse:
    """What there is to spend, how often one may call, and what the answers are beyond."""
    shown = {"book": parts.plans, "settings": parts.settings, "catalogue": CATALOGUE}
    return _page(request, parts, visitor, "docs/limits.html", **shown)


@router.get("/docs/{name}")
async def text(request: Request, parts: Parts, visitor: Visitor, name: str) -> HTMLResponse:
    """One of the texts."""
    base_url = parts.settings.dashboard.base_url(parts.settings.api)
    found = read_text(name, operator=visitor.operator, base_url=base_url)
    if found is None:
        missing = name in TEXTS and not FOLDER.is_dir()
        sentence = "This installation has no docs." if missing else "There is no such page in the docs."
        raise PageRefused(404, sentence)
    return _page(request, parts, visitor, "docs/text.html", text=found)


def _page(request: Request, parts: ApiParts, visitor: SignedIn, template: str, **context: Any) -> HTMLResponse:
    return page(
        request,
        template,
        texts=TEXTS if FOLDER.is_dir() else {},
        others=operator_texts() if visitor.operator else {},
        base_url=parts.settings.dashboard.base_url(parts.settings.api),
        result_ttl=parts.settings.jobs.result_ttl_seconds,
        **context,
    )


@dataclass(frozen=True)
class Rendered:
    """A text as a page.

    Attributes:
        title: Its first heading, which is not in the body.
        sections: Anchor and words of each heading below.
        body: HTML.
    """

    title: str
    sections: tuple[tuple[str, str], ...]
    body: Markup


def render(text: str, *, where: Where, names: Mapping[str, str] = NO_NAMES, leave_out: Iterable[str] = ()) -> Rendered:
    """Render a text.

    Args:
        text: Markdown with tables; raw HTML in it is shown as text, and comments are left out.
        where: Where links lead.
        names: What links say that say the name of a file.
        leave_out: Sections to be left out, by the words of their headings of the second level.
    """
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Pages).enable("table")
    tokens, title = _without(parser.parse(_COMMENT.sub("", text)), frozenset(leave_out)), ""
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        title, tokens = tokens[1].content, tokens[3:]
    sections = _name_headings(tokens)
    for token in tokens:
        if token.children:
            token.children = list(_follow_links(token.children, where, names))
    html = Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704  # raw HTML is off, texts are escaped
    return Rendered(title, tuple(sections), html)


class _Pages(RendererHTML):
    """Code with a button that copies it; tables and code that scroll inside their own box."""

    def fence(self, tokens: Sequence[Token], idx: int, *_rest: Any) -> str:
        code = f"code-{idx}"
        return Markup(
            '<div class="snippet"><pre tabindex="0"><code id="{0}">{1}</code></pre>'
            '<button type="button" class="quiet" data-copy="{0}" hidden><span>Copy</span></button></div>\n'
        ).format(code, tokens[idx].content.removesuffix("\n"))

    def table_open(self, *_rest: Any) -> str:
        return '<div class="table" tabindex="0"><table>\n'

    def table_close(self, *_rest: Any) -> str:
        return "</table></div>\n"

    def image(self, *_rest: Any) -> str:
        return ""


def _without(tokens: Iterable[Token], headings: frozenset[str]) -> list[Token]:
    found, kept, inside = list(tokens), [], False
    for index, token in enumerate(found):
        if token.type == "heading_open" and token.tag in ("h1", "h2"):
            inside = found[index + 1].content in headings
        if not inside:
            kept.append(token)
    return kept


def _name_headings(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    """Give each heading its anchor, and say which there are on the second level."""
    sections, taken = [], Counter[str]()
    for token, words in pairwise(tokens):
        if token.type == "heading_open":
            name = _NO_SLUG.sub("", words.content.lower()).replace(" ", "-")  # as links in Markdown name a heading
            anchor = f"{name}-{taken[name]}" if taken[name] else name
            taken[name] += 1
            token.attrSet("id", anchor)
            if token.tag == "h2":
                sections.append((anchor, words.content.replace("`", "")))
    return sections


def _follow_links(tokens: Iterable[Token], where: Where, names: Mapping[str, str]) -> Iterable[Token]:
    """Links lead to pages of the dashboard; one that leads nowhere for this reader is plain text."""
    leads = True
    for token in tokens:
        if token.type == "text":
            token.content = names.get(token.content, token.content)
        if token.type == "link_open":
            address = where(str(token.attrs.get("href", "")))
            leads = address is not None
            token.attrSet("href", address or "")
        if leads or token.type not in ("link_open", "link_close"):
            yield token


TEXTS = {
    "clients": "Calling the service",
    "api": "API reference",
    "errors": "Errors",
    "test-keys": "Test keys",
    "widget": "The widget",
    "publishable-keys": "Keys for web pages",
    "webhooks": "Webhooks",
    "photos": "Photos that work",
    "signed-pictures": "Signed pictures",
    "garments": "Garments",
    "products": "Products",
    "watermark": "Watermark",
    "privacy": "Privacy",
}
"""What lists call the texts for everybody."""

LEFT_OUT = {
    "products": ("Importing a file", "For operators"),
    "watermark": ("Setting it", "What you can rely on"),
    "publishable-keys": ("For operators",),
    "webhooks": ("For operators",),
}
"""Headings of their sections that are about commands and servers, which owners are not shown."""

REPLACED = {
    "quickstart": ("", "Quickstart", "First steps on a machine"),
    "billing": ("/limits", "Limits and billing", "Plans and quotas"),
}
"""Texts for operators in whose place owners have a page of its own: the page's address below the docs, what lists call
the page, and what they call the text."""


def own_address(name: str) -> str | None:
    """Where owners find what a text is about; nothing for a text that is for operators."""
    if name in REPLACED:
        return f"{PAGES}/docs{REPLACED[name][0]}"
    return f"{PAGES}/docs/{name}" if name in TEXTS else None


def label_of(name: str, *, operator: bool) -> str:
    """What a reader calls a text, or the page in its place."""
    if name in REPLACED:
        return REPLACED[name][2 if operator else 1]
    return TEXTS.get(name) or name.replace("-", " ").capitalize()


def operator_texts(folder: Path = FOLDER) -> dict[str, str]:
    """Name and label of each text that operators have beside `TEXTS`."""
    found = sorted(folder.glob("*.md")) if folder.is_dir() else []
    return {path.stem: label_of(path.stem, operator=True) for path in found if path.stem not in TEXTS}


@lru_cache(maxsize=256)
def read_text(name: str, *, operator: bool, base_url: str, folder: Path = FOLDER) -> Rendered | None:
    """The text of this name as a page, with ``base_url`` in place of `EXAMPLE_URL`; operators are shown it as it is.

    Returns:
        ``None`` if there is none, or not for this reader.
    """
    if name not in TEXTS and not (operator and name in operator_texts(folder)):
        return None
    path = folder / f"{name}.md"
    if not path.is_file():
        return None
    others = operator_texts(folder) if operator else {}

    def where(link: str) -> str | None:
        file, hash_sign, anchor = link.partition("#")
        if not file or link.startswith(("http://", "https://")):
            return link
        stem = file.removesuffix(".md")
        if stem == file:
            return None
        address = f"{PAGES}/docs/{stem}" if stem in others else own_address(stem)
        return None if address is None else f"{address}{hash_sign}{anchor}"

    return render(
        path.read_text().replace(EXAMPLE_URL, base_url),
        where=where,
        names={each.name: label_of(each.stem, operator=operator) for each in folder.glob("*.md")},
        leave_out=() if operator else LEFT_OUT.get(name, ()),
    )
