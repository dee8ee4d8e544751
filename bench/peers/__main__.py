"""``python -m bench.peers``: the peers one after the other on this machine, in one table and in ``out/``."""

from __future__ import annotations

import argparse
import io
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from PIL import Image

from api.dashboard.samples import PORTRAIT, pixels_of
from bench.figures import Figure, write_json
from bench.peers import contestants
from bench.peers.contestants import Peer, Service
from bench.peers.measure import QUICK, Customers, Sizes, resilience, speed, speed_of_waiting
from bench.service.attack import job_done
from bench.service.usual import OWNER
from imaging.data_uri import encode_data_uri_bytes

OUT = Path("out/bench-peers.json")

SERVICE, HTTP, CELERY, LOOP = "this service", "the same over HTTP", "Celery and Valkey", "bare loop"

PEERS: dict[str, Callable[[Path], AbstractContextManager[Peer]]] = {
    SERVICE: contestants.service,
    CELERY: contestants.task_queue,
    LOOP: contestants.bare_loop,
}
"""In the order in which they run."""


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="five jobs of a kind, and nobody is killed")
    parser.add_argument("--jobs", type=int, default=Sizes.struck, help="begun while workers are killed")
    parser.add_argument("--kills", type=int, default=Sizes.kills, help="how many meanwhile")
    parser.add_argument("--only", choices=PEERS, action="append", help="this peer; may be given again")
    parser.add_argument("--table", type=Path, metavar="JSON", help="measure nothing, print the table of an earlier run")
    wanted = parser.parse_args()
    if wanted.table is not None:
        print(table(json.loads(wanted.table.read_text())["figures"]))
        return
    sizes = QUICK if wanted.quick else Sizes(struck=wanted.jobs, kills=wanted.kills)
    began = time.monotonic()
    figures = []
    for name in wanted.only or PEERS:
        figures += measured(name, sizes)
        print(f"{name} is measured, {time.monotonic() - began:.0f} s after the beginning", flush=True)
    print(table([asdict(figure) for figure in figures]))
    write_json(OUT, figures, {"sizes": asdict(sizes), "seconds": round(time.monotonic() - began)})
    print(f"written to {OUT}")


def measured(name: str, sizes: Sizes) -> list[Figure]:
    """Every figure of a peer; the peer's name and a colon stand before what was measured."""
    photo = sample_photo()
    with (
        tempfile.TemporaryDirectory() as folder,
        PEERS[name](Path(folder)) as peer,
        closing(Customers(peer, photo)) as customers,
    ):
        found = {name: speed(peer, customers.job, sizes) + speed_of_waiting(customers.job, sizes)}
        if isinstance(peer, Service):
            found[HTTP] = over_http(peer, photo, sizes)
        if sizes.kills:
            found[name] += resilience(peer, customers, sizes)
    return [replace(figure, name=f"{who}: {figure.name}") for who, figures in found.items() for figure in figures]


def sample_photo() -> bytes:
    """The photo of every job: a portrait of 768 x 1024, as a JPEG."""
    sink = io.BytesIO()
    Image.fromarray(pixels_of(PORTRAIT)).resize((768, 1024)).save(sink, "JPEG", quality=92)
    return sink.getvalue()


def over_http(peer: Service, photo: bytes, sizes: Sizes) -> list[Figure]:
    """The service as its callers meet it: a test key's POST and held poll. Such a job is not billed."""
    body = json.dumps({"customerPhotoBase64": encode_data_uri_bytes(photo).decode(), "productId": "test_completed"})
    with peer.bench.caller(OWNER, test=True) as client:

        def complete_job(_engine_seconds: int) -> float:
            began = time.monotonic()
            job_done(client, body)
            return 1000 * (time.monotonic() - began)

        return speed(peer, complete_job, sizes)


def table(figures: Sequence[dict[str, Any]]) -> str:
    """The figures of a run, as `asdict` or its JSON has them, in Markdown: a row for each, a column for each peer."""
    columns: dict[str, dict[str, str]] = {}
    rows: dict[str, None] = {}
    for figure in figures:
        peer, _, what = figure["name"].partition(": ")
        value = f"{figure['p50']:g}"
        if figure["samples"] > 1:
            value += f" / {figure['p95']:g}"
        columns.setdefault(peer, {})[what] = f"{value} {figure['unit']}".rstrip()
        rows.setdefault(what)
    lines = [f"| Measured | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {what} | {' | '.join(column.get(what, '') for column in columns.values())} |" for what in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
