"""Decoding that can be stopped, shared out fairly between accounts.

Strangers' pictures are decoded in separate processes. One that takes too long, in CPU time or by the clock, is killed;
the next picture gets a new one. Work on our own pixels runs in threads, under the same shares.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import socket
import subprocess
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import ParamSpec, TypeVar

import numpy as np
import psutil
from numpy.typing import NDArray

from imaging.decoder_process import Header, receive, send
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import LOGO_LIMITS, PHOTO_LIMITS, ImageLimits
from imaging.provenance import OwnCertificates, Told

CPU_SECONDS, PIXELS_PER_CPU_SECOND = 5, 10_000_000
"""CPU time of one picture: 10 s at 50 megapixels. The slowest that `imaging.opening` lets through, 49 megapixels of
WebP or of a JPEG with 20 scans, took 3.2 s on a shared core."""

WALL_SECONDS_PER_CPU_SECOND = 2.0
"""On a busy machine; 20 s at 50 megapixels, which is less than any step of a job may take."""

MEMORY_BYTES, MEMORY_BYTES_PER_PIXEL = 2**30, 32
"""Address space. A progressive JPEG costs 6 bytes a pixel for its coefficients, and its pixels lie there up to six
times while colours are converted."""

IDLE_SECONDS = 300.0
"""How long an idle process is kept. One that has decoded holds 48 MB; starting another takes 0.1 s."""

DYING_SECONDS = 5.0
"""How long to wait for a process that has closed its end of the socket: it is ending."""

PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
"""The variables that decoders get; others of this process hold secrets."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class FairShares:
    """Places that are given first to the holder with the fewest; no holder gets more than half of them.

    Args:
        places: How many. If there is one, holders take turns.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._share = max(1, places // 2)
        self._held: Counter[Hashable] = Counter()
        self._waiting: list[tuple[Hashable, asyncio.Future[None]]] = []

    async def take(self, holder: Hashable) -> None:
        """Wait for a place."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((holder, turn))
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # given at the same moment
                self.give_back(holder)
            raise

    def give_back(self, holder: Hashable) -> None:
        """Give a place to the next in turn."""
        self._free += 1
        self._held[holder] -= 1
        if not self._held[holder]:
            del self._held[holder]
        self._hand_out()

    def _hand_out(self) -> None:
        while self._free:
            self._waiting = [each for each in self._waiting if not each[1].done()]  # the others were cancelled
            eligible = [each for each in self._waiting if self._held[each[0]] < self._share]
            if not eligible:
                return
            holder, turn = min(eligible, key=lambda each: self._held[each[0]])
            self._free -= 1
            self._held[holder] += 1
            turn.set_result(None)
            # In a stable order, what else this holder waits for comes after the others.
            self._waiting = sorted(self._waiting, key=lambda each: each[0] == holder)


class DecoderPool:
    """Processes that decode, started when they are needed and used again.

    Args:
        places: Pictures at the same time; one holder's at most half of them.
        most_pixels: Of any picture; what it may cost goes with that.
    """

    def __init__(self, places: int = 2, most_pixels: int = PHOTO_LIMITS.max_pixels) -> None:
        self._shares = FairShares(places)
        self._cpu_seconds = CPU_SECONDS + math.ceil(most_pixels / PIXELS_PER_CPU_SECOND)
        self._memory_bytes = MEMORY_BYTES + most_pixels * MEMORY_BYTES_PER_PIXEL
        self._threads = ThreadPoolExecutor(places, thread_name_prefix="pictures")
        self._idle: list[_Process] = []
        self._closed = False

    async def close(self) -> None:
        """End the processes; a picture under way is given up."""
        self._closed = True
        for process in self._idle:
            process.leaving.cancel()
            process.end()
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)

    async def inspect(self, holder: Hashable, data: bytes, limits: ImageLimits = PHOTO_LIMITS) -> str:
        """As `imaging.opening.inspect_image`, in a place of the holder's share.

        Raises:
            ImageError: Any of the ``image_…`` codes; ``image_too_complex`` for one that took too long. It is
                ``retryable`` where the machine may be to blame: it had no time, or somebody killed the process.
        """
        header, _ = await self._ask(holder, {"task": "inspect", "limits": asdict(limits)}, data)
        return str(header["media_type"])

    async def decode(
        self, holder: Hashable, data: bytes, limits: ImageLimits = PHOTO_LIMITS, max_side: int | None = None
    ) -> NDArray[np.uint8]:
        """As `imaging.decode.decode_image`, with the share and the errors of `inspect`."""
        return await self._pixels(holder, {"task": "decode", "limits": asdict(limits), "max_side": max_side}, data)

    async def decode_logo(
        self, holder: Hashable, data: bytes, limits: ImageLimits = LOGO_LIMITS, max_side: int | None = 1024
    ) -> NDArray[np.uint8]:
        """As `imaging.decode.decode_logo`, with the share and the errors of `inspect`."""
        return await self._pixels(holder, {"task": "decode_logo", "limits": asdict(limits), "max_side": max_side}, data)

    async def read_manifest(self, holder: Hashable, data: bytes, own: OwnCertificates) -> Told:
        """As `imaging.provenance.read_manifest`, with the share and the errors of `inspect`."""
        header, _ = await self._ask(holder, {"task": "read_manifest", "own": asdict(own)}, data)
        return Told(**header["told"])

    async def in_thread(
        self,
        holder: Hashable,
        work: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Do bounded work in a thread: on our own pixels, or on bytes that are only parsed.

        A thread cannot be stopped, so its place stays taken until it ends, even if the caller no longer waits.
        """
        await self._shares.take(holder)
        doing = asyncio.ensure_future(self._threaded(partial(work, *args, **kwargs)))
        doing.add_done_callback(lambda _: self._shares.give_back(holder))
        return await seen(doing)

    async def _pixels(self, holder: Hashable, request: Header, data: bytes) -> NDArray[np.uint8]:
        header, pixels = await self._ask(holder, request, data)
        return np.frombuffer(pixels, np.uint8).reshape(header["shape"])

    async def _ask(self, holder: Hashable, request: Header, data: bytes) -> tuple[Header, bytearray]:
        await self._shares.take(holder)
        try:
            process = self._idle_process()
            if process is None:
                process = await self._threaded(partial(_Process, self._cpu_seconds, self._memory_bytes))
            asking = asyncio.ensure_future(self._threaded(partial(process.ask, request, data)))
            try:
                async with asyncio.timeout(self._cpu_seconds * WALL_SECONDS_PER_CPU_SECOND):
                    header, payload = await seen(asking)
            except BaseException as error:
                spent = process.processor_seconds
                process.kill()
                await asyncio.wait([asking])
                if isinstance(error, TimeoutError):
                    said = f"decoding it took too long by the clock, and {spent:.1f} s of the processor"
                    had_no_time = spent < self._cpu_seconds / 2  # half is more than the slowest good picture takes
                    raise ImageError(ImageErrorCode.TOO_COMPLEX, said, retryable=had_no_time) from None
                raise
            if self._closed:
                process.end()
            else:
                self._idle.append(process)
                process.leaving = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end_idle, process)
        finally:
            self._shares.give_back(holder)
        if "code" in header:
            raise ImageError(ImageErrorCode(header["code"]), header["detail"])
        return header, payload

    def _end_idle(self, process: _Process) -> None:
        self._idle.remove(process)
        process.end()

    def _idle_process(self) -> _Process | None:
        while self._idle:
            process = self._idle.pop()
            process.leaving.cancel()
            if process.alive:
                return process
            process.end()
        return None

    async def _threaded(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


async def seen(work: asyncio.Future[Result]) -> Result:
    """Wait for work that goes on when the wait is cancelled; its failure is retrieved then, too."""
    work.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(work)


class _Process:
    """One decoder process, for one picture at a time.

    Attributes:
        leaving: Ends it when it has been idle for long; of one that is idle.
        end: Ends it and closes its socket; also called when it is garbage-collected.
    """

    leaving: asyncio.TimerHandle

    def __init__(self, cpu_seconds: int, memory_bytes: int) -> None:
        self._link, theirs = socket.socketpair()
        own = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        modules = os.pathsep.join(filter(None, sys.path))
        with theirs:
            process = subprocess.Popen(  # noqa: S603  # our own command line
                [
                    *(sys.executable, "-P", "-W", "ignore", "-m", "imaging.decoder_process"),
                    *(str(theirs.fileno()), str(cpu_seconds), str(memory_bytes)),
                ],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**own, "PYTHONPATH": modules, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        self._process, self._before = process, 0.0
        self.end = weakref.finalize(self, _end, process, self._link)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Header, data: bytes) -> tuple[Header, bytearray]:
        """Send a picture and wait for the result.

        Raises:
            ImageError: The process died of it.
        """
        self._before = self._spent()
        try:
            send(self._link, request, data)
            return receive(self._link)
        except (EOFError, OSError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(DYING_SECONDS)  # for its exit status
            self.end()
        if self._process.returncode == -signal.SIGXCPU:
            raise ImageError(ImageErrorCode.TOO_COMPLEX, "decoding it took too much time on the processor")
        killed = self._process.returncode == -signal.SIGKILL  # by people, or by a kernel that is short of memory
        said = f"the decoder died of it: {self._process.returncode}"
        raise ImageError(ImageErrorCode.NOT_READABLE, said, retryable=killed)

    @property
    def processor_seconds(self) -> float:
        """What the picture at hand has cost so far."""
        return self._spent() - self._before

    def _spent(self) -> float:
        with contextlib.suppress(psutil.Error):  # it has just died
            times = psutil.Process(self._process.pid).cpu_times()
            return times.user + times.system
        return 0.0

    def kill(self) -> None:
        """Make `ask` return in another thread."""
        self._process.kill()


def _end(process: subprocess.Popen[bytes], link: socket.socket) -> None:
    process.kill()
    process.wait()
    link.close()
