"""Other users of the machine, and web pages in a browser on it, against everything that ``tryon up`` starts.

Ports are those that the kernel names, not those of a list.
"""

from __future__ import annotations

import asyncio
import base64
import stat
from pathlib import Path

import psutil
import pytest
from temporalio.service import RPCError, RPCStatusCode

from gateway.temporal import TemporalGateway
from runtime.embedded.record import is_private
from runtime.embedded.servers import WEED_OFFSETS
from runtime.object_store import S3ObjectStore
from tests.servers.stranger import EVIL, breaches, listening, requests_for, say, ways
from tests.stack.stack import Stack
from workflows.queues import tryon_workflow_id

NOT_THE_PICTURE = b"a stranger's picture"


@pytest.fixture(scope="module")
def job_id(stack: Stack, portrait: str, sweater: str) -> str:
    """A job that is done, with its picture in the store."""
    job_id = stack.post({"customerPhotoBase64": portrait, "garmentImageUrl": sweater, "category": "upper_body"})
    assert stack.finished(job_id)["status"] == "completed"
    return job_id


def polled(stack: Stack, job_id: str) -> bytes:
    return base64.b64decode(stack.finished(job_id)["resultImageBase64"].partition(",")[2])


def processes(stack: Stack) -> dict[str, psutil.Process]:
    return {name: psutil.Process(identity.pid) for name, identity in stack.record.children.items()}


def test_no_port_gives_or_takes_a_picture_without_a_key(stack: Stack, job_id: str, tmp_path: Path) -> None:
    picture, bucket = polled(stack, job_id), stack.settings.object_store.bucket
    ports = {name: listening(process) for name, process in processes(stack).items()}
    assert len(ports["object-store"]) >= len(WEED_OFFSETS)
    assert all(ports.values()), "each listens somewhere"
    attack, contexts = list(requests_for(f"results/{job_id}.jpg", bucket, None, NOT_THE_PICTURE)), ways(tmp_path)
    assert breaches(ports.pop("object-store"), attack, contexts) == []
    others = [port for each in ports.values() for port in each]
    # Their pages and metrics are for everybody; pictures are not.
    assert not [breach for breach in breaches(others, attack, {"plain": None}) if picture[:64] in breach.answer]
    assert polled(stack, job_id) == picture
    store = S3ObjectStore(stack.settings.object_store)
    assert asyncio.run(store.get(f"results/{job_id}.jpg")) == picture


def test_sockets_in_the_file_system_are_their_owners(stack: Stack) -> None:
    """Linux asks for the right to write of whoever connects to one."""
    for name, process in processes(stack).items():
        for connection in process.net_connections("unix"):
            path = Path(connection.laddr)
            if connection.status == psutil.CONN_NONE and path.is_socket():
                assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, (name, path)


def test_a_web_page_starts_and_ends_no_run(stack: Stack, job_id: str) -> None:
    """A page may post a form to any address without asking; only what it posts has to be text."""
    namespace, run = stack.settings.temporal.namespace, "from-a-page"
    start = '{"workflowType":{"name":"PurgeWorkflow"},"taskQueue":{"name":"tryon-cpu"},"requestId":"1"}'
    posts = {
        f"/api/v1/namespaces/{namespace}/workflows/{run}": start,
        f"/api/v1/namespaces/{namespace}/workflows/{tryon_workflow_id(job_id)}/terminate": "{}",
        f"/api/v1/namespaces/{namespace}/schedules/tryon-purge/patch": '{"patch":{"pause":"by a page"}}',
    }
    ports = listening(processes(stack)["temporal"])
    assert len(ports) >= 3
    for port in ports:
        for path, body in posts.items():
            for host in (f"127.0.0.1:{port}", "evil.example"):
                head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {EVIL}\r\nContent-Type: text/plain\r\n"
                answer = say(port, f"{head}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
                assert not answer.startswith((b"HTTP/1.1 2", b"HTTP/1.0 2")), (port, path, answer)

    async def started() -> bool:
        client = (await TemporalGateway.connect(stack.settings.temporal)).client
        try:
            await client.get_workflow_handle(run).describe()
        except RPCError as error:
            assert error.status == RPCStatusCode.NOT_FOUND  # noqa: PT017  # the other outcome is told by the value
            return False
        return True

    assert not asyncio.run(started())


def open_files(data_dir: Path) -> list[Path]:
    """What would be open to others, were it not for the folder.

    SeaweedFS gives its notes on volumes a mode of its own; they hold numbers.
    """
    found = (path for path in data_dir.rglob("*") if path.suffix != ".vif" and not path.is_symlink())
    return [path for path in found if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077]


def test_everything_in_the_data_folder_is_its_owners(stack: Stack, job_id: str) -> None:
    assert polled(stack, job_id)
    assert stack.tryon("backup", "create", str(stack.data_dir / "backup.tar")).returncode == 0
    assert [path for path in stack.data_dir.rglob("*") if path.name == "temporal.db"]
    assert is_private(stack.data_dir)
    assert open_files(stack.data_dir) == []
    for name, process in processes(stack).items():
        for each in (process, *process.children(recursive=True)):
            status = Path(f"/proc/{each.pid}/status").read_text().splitlines()
            assert "Umask:\t0077" in status, name
