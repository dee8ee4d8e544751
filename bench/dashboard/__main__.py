"""``python -m bench.dashboard``: how quickly a busy account's pages come, and how large they are."""

from __future__ import annotations

import argparse
import re
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import psutil
from fastapi.routing import APIRoute

from api.dashboard.pages import router
from api.dashboard.visitor import SESSION, cookie_name
from api.routes import PAGES, each_route
from bench.dashboard.account import BusyAccount, write_account
from bench.figures import Figure, table, write_json
from bench.service.usual import running
from domain.access.keys import KeyDigester
from domain.authentication import sessions
from domain.money.plans import load_plans
from domain.products import public_id
from runtime.database import Database
from runtime.settings import Settings

OUT = Path("out/bench-dashboard.json")
REQUESTS, WARMING = 30, 3
GOAL_MS, GOAL_BYTES = 100, 150_000
HTML = "text/html"

_VARIABLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Page:
    """What an address answers with.

    Attributes:
        address: With names in the place of what is variable.
        size: Bytes of the answer, without pictures and what browsers keep.
        cpu_ms: Processor time that the API spent on it, which says more than the clock on a machine that is busy.
    """

    address: str
    status: int
    media_type: str
    size: int
    cpu_ms: float = 0.0

    @property
    def measured(self) -> bool:
        """Whether it is a page; others are only listed."""
        return self.status == 200 and self.media_type == HTML


def main() -> None:
    """Measure in a stack of its own, print a table, write JSON; fail where a page is too slow or too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--products", type=int, default=1_000)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as bench:
        busy, token = write(bench.settings, jobs=wanted.jobs, products=wanted.products)
        cookie = f"{cookie_name(SESSION, bench.settings.dashboard)}={token}"
        headers = {"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}
        with httpx.Client(base_url=bench.client.base_url, headers=headers, timeout=60, trust_env=False) as browser:
            pages, figures = measure(browser, psutil.Process(bench.record.children["api"].pid), busy)
    listed = [asdict(page) for page in pages]
    print(table(figures))
    for page in pages:
        if not page.measured:
            print(f"not measured: {page.address} answers {page.status} {page.media_type}")
    write_json(OUT, figures, {"jobs": wanted.jobs, "products": wanted.products, "pages": listed})
    print(f"written to {OUT}")
    missed = [figure.name for figure in figures if figure.p95 > GOAL_MS]
    missed += [page.address for page in pages if page.measured and page.size > GOAL_BYTES]
    if missed:
        raise SystemExit(f"too slow or too large: {', '.join(missed)}")


def write(settings: Settings, *, jobs: int, products: int) -> tuple[BusyAccount, str]:
    """Add the account to the database of a stack, and sign its owner in; returns the session's token."""
    now, digester = datetime.now(UTC), KeyDigester(*settings.security.peppers())
    with closing(Database(settings.database)) as database, database.transaction() as session:
        busy = write_account(session, load_plans(), digester, now=now, jobs=jobs, products=products)
        token = sessions.open_session(
            session, account_id=busy.account_id, address="127.0.0.1", user_agent="bench", now=now
        )
    return busy, token


def measure(browser: httpx.Client, api: psutil.Process, busy: BusyAccount) -> tuple[list[Page], list[Figure]]:
    """Open every page again and again."""
    pages, figures = [], []
    for address, path in addresses(busy):
        answer = browser.get(path)
        media_type = answer.headers.get("Content-Type", "").partition(";")[0]
        page = Page(address, answer.status_code, media_type, len(answer.content))
        if page.measured:
            for _ in range(WARMING):
                browser.get(path)
            before = cpu_seconds(api)
            times = [milliseconds(browser, path) for _ in range(REQUESTS)]
            page = replace(page, cpu_ms=round(1000 * (cpu_seconds(api) - before) / REQUESTS, 1))
            name = f"{address} ({page.size / 1000:.0f} KB, {page.cpu_ms:.0f} ms of CPU)"
            figures.append(Figure.of(name, "ms", times, f"p95 <= {GOAL_MS} ms, <= {GOAL_BYTES // 1000} KB"))
        pages.append(page)
    return pages, figures


def milliseconds(browser: httpx.Client, path: str) -> float:
    """Until the whole page is there."""
    began = time.perf_counter()
    browser.get(path)
    return 1000 * (time.perf_counter() - began)


def cpu_seconds(process: psutil.Process) -> float:
    """What it has spent so far, in all of its threads."""
    spent = process.cpu_times()
    return spent.user + spent.system


def addresses(busy: BusyAccount) -> Iterator[tuple[str, str]]:
    """Every address that can be looked at, with names in the place of what is variable, and as it is asked for.

    Raises:
        KeyError: A page needs something that this account has none of.
    """
    known = {
        "jobId": str(busy.completed_job_id),
        "productId": public_id(busy.product_id),
        "keyId": str(busy.key_id),
        "accountId": str(busy.account_id),
        "paymentId": str(busy.payment_id),
        "importId": str(uuid.uuid4()),  # the account has none: listed, not measured
        "webhookId": str(uuid.uuid4()),  # nor of these two
        "comparisonId": str(uuid.uuid4()),
        "side": "front",
        "ending": "jpg",
        "name": "api",
    }
    for path, route in each_route(router.routes):
        if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
            yield path, _VARIABLE.sub(lambda name: known[name[1]], path)
    today = datetime.now(UTC).date()
    for query in (
        "/jobs?status=failed",
        "/jobs?error=cancelled",
        "/jobs?mode=test&kind=combo&status=processing",
        f"/jobs?from={today - timedelta(days=80)}&to={today - timedelta(days=70)}",
        "/products?q=linen",
        "/billing/top-up?generations=50",
        "/billing/plan?plan=growth",
    ):
        yield PAGES + query, PAGES + query
    yield f"{PAGES}/jobs/{{jobId}} (failed)", f"{PAGES}/jobs/{busy.failed_job_id}"


if __name__ == "__main__":
    main()
