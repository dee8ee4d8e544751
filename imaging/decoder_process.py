"""``python -m imaging.decoder_process``: decodes for another process, which may kill this one at any moment.

Requests and answers go over one socket: a length, a line of JSON, and the descriptor of a file in memory with the
payload. Through the socket itself, megabytes would go in dozens of pieces that each wait for a busy processor. The
process ends when the other side closes the socket. It keeps nothing between pictures, and has no secrets.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import struct
import sys
import tempfile
from dataclasses import asdict
from typing import Any

from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from imaging.opening import inspect_image

LENGTH = struct.Struct(">I")

Header = dict[str, Any]


def send(link: socket.socket, header: Header, payload: Any = b"") -> None:
    """Send a message: a header that can be written as JSON, and bytes or a contiguous array."""
    line = json.dumps(header).encode()
    # A file that no other process finds.
    with os.fdopen(os.memfd_create("picture"), "wb") if sys.platform == "linux" else tempfile.TemporaryFile() as file:
        file.write(payload)
        file.flush()
        socket.send_fds(link, [LENGTH.pack(len(line))], [file.fileno()])
    link.sendall(line)


def receive(link: socket.socket) -> tuple[Header, bytearray]:
    """Receive a message: its header and its payload.

    Raises:
        EOFError: The other side has gone.
    """
    length, descriptors, _, _ = socket.recv_fds(link, LENGTH.size, 1)
    if not descriptors:
        raise EOFError
    with os.fdopen(descriptors[0], "rb", buffering=0) as file:
        if len(length) < LENGTH.size:
            raise EOFError
        line = link.recv(LENGTH.unpack(length)[0], socket.MSG_WAITALL)
        if len(line) < LENGTH.unpack(length)[0]:
            raise EOFError
        payload = bytearray(file.seek(0, os.SEEK_END))
        file.seek(0)
        left = memoryview(payload)
        while left:
            left = left[file.readinto(left) :]
    return json.loads(line), payload


def _answer(link: socket.socket, request: Header, data: bytearray) -> None:
    try:
        if request["task"] == "read_manifest":
            from imaging.provenance import OwnCertificates, read_manifest

            send(link, {"told": asdict(read_manifest(bytes(data), OwnCertificates(**request["own"])))})
            return
        limits = ImageLimits(**request["limits"])
        if request["task"] == "inspect":
            send(link, {"media_type": inspect_image(bytes(data), limits)})
            return
        # NumPy and colour profiles cost 15 MB and a quarter of a second; looking into a picture needs neither.
        from imaging.decode import decode_image, decode_logo

        decode = {"decode": decode_image, "decode_logo": decode_logo}[request["task"]]
        pixels = decode(bytes(data), limits, request["max_side"])
        send(link, {"shape": pixels.shape}, pixels)
    except ImageError as error:
        send(link, {"code": error.code, "detail": error.detail})
    except MemoryError:
        send(link, {"code": ImageErrorCode.TOO_COMPLEX, "detail": "decoding it takes too much memory"})


def _allow(cpu_seconds: int) -> None:
    """Allow this many more seconds of CPU time; the kernel ends the process after them."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = int(used.ru_utime + used.ru_stime) + 1 + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main(descriptor: int, cpu_seconds: int, memory_bytes: int) -> None:
    """Answer requests on the socket of this descriptor until the other side closes it.

    Every picture gets so much CPU time, and the process so much address space.
    """
    # A signal to the whole process group is meant for the other side, which may still want this picture.
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(ValueError):  # where the system has none
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with socket.socket(fileno=descriptor) as link, contextlib.suppress(EOFError, ConnectionError):
        while True:
            request, data = receive(link)
            _allow(cpu_seconds)
            _answer(link, request, data)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
