"""The document as pages: Swagger UI, which sends calls too, and Redoc. They load nothing from any other host.

What they lack for people who use a screen reader or a keyboard is put in where it can be from the outside.
"""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from fastapi.responses import HTMLResponse

STATIC = "/static-offline-docs"
"""Where fastapi-offline serves their scripts and styles."""

POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""For the browser: nothing is loaded from another host, whatever their scripts ask for."""

STYLE = """<style>
  a[href^="https://redocly.com/redoc"] { display: none }
  .swagger-ui .info .title small pre.version, .swagger-ui .info .title small { background: #42505c; color: #fff }
  .swagger-ui .info .title small.version-stamp { background: #3c6306 }
  .swagger-ui .opblock .opblock-summary-method { color: #000; text-shadow: none }
  .swagger-ui .info .url, .swagger-ui .info a { color: #1f5fb0 }
  .swagger-ui .btn.authorize { color: #1b6e46; border-color: #1b6e46 }
  .swagger-ui .btn.authorize svg { fill: #1b6e46 }
  .swagger-ui .json-schema-2020-12-expand-deep-button { color: #505050 }
</style>"""

LABELS = """<script>
  new MutationObserver(() => {
    for (const field of document.querySelectorAll("select:not([aria-label]), input:not([aria-label])")) {
      const row = field.closest("tr, label, .content-type-wrapper, .examples-select, .scheme-container");
      field.ariaLabel = field.id === "servers" ? "Server" : row?.innerText.trim().split("\\n")[0] || "Media type";
    }
    for (const heading of document.querySelectorAll("h3.opblock-tag")) heading.ariaLevel = 2;
    for (const heading of document.querySelectorAll(".swagger-ui h4")) heading.ariaLevel = 3;
  }).observe(document.body, { childList: true, subtree: true });
</script>"""


def add_reference_pages(app: FastAPI) -> None:
    """Serve ``/docs`` and ``/redoc``."""

    @app.get("/docs", include_in_schema=False)
    def swagger_ui() -> HTMLResponse:
        return _page(
            get_swagger_ui_html(
                openapi_url="openapi.json",
                title=app.title,
                swagger_js_url=f"{STATIC}/swagger-ui-bundle.js",
                swagger_css_url=f"{STATIC}/swagger-ui.css",
                swagger_favicon_url=f"{STATIC}/favicon.png",
            )
        )

    @app.get("/redoc", include_in_schema=False)
    def redoc() -> HTMLResponse:
        return _page(
            get_redoc_html(
                openapi_url="openapi.json",
                title=app.title,
                redoc_js_url=f"{STATIC}/redoc.standalone.js",
                redoc_favicon_url=f"{STATIC}/favicon.png",
                with_google_fonts=False,
            )
        )


def _page(made: HTMLResponse) -> HTMLResponse:
    text = bytes(made.body).decode()
    for old, new in (
        ("<html>", '<html lang="en">'),
        ("</head>", f"{STYLE}</head>"),
        ('<div id="swagger-ui">\n    </div>', f'<main id="swagger-ui"></main>{LABELS}'),
    ):
        text = text.replace(old, new)
    return HTMLResponse(text, headers={"Content-Security-Policy": POLICY})
