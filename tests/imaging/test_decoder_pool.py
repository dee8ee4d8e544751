from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator

import numpy as np
import psutil
import pytest

from imaging import decoder_pool
from imaging.decode import decode_image, decode_logo
from imaging.decoder_pool import DecoderPool, FairShares
from imaging.errors import ImageError
from imaging.limits import ImageLimits
from imaging.opening import inspect_image
from tests.imaging import bombs
from tests.imaging.pictures import exif_with_orientation, quarters, saved

SLOW = bombs.jpeg_of_scans(4_000, 2_000, 2_000)
"""Sixteen thousand million steps: minutes, with a bound on work that lets it through."""

NO_BOUND = ImageLimits(max_pixels=10**12)


@pytest.fixture
async def pool() -> AsyncIterator[DecoderPool]:
    pool = DecoderPool(2)
    yield pool
    await pool.close()


others: set[psutil.Process] = set()
"""Processes that earlier tests left for whoever collects garbage."""


@pytest.fixture(autouse=True)
def see_others() -> None:
    others.clear()
    others.update(psutil.Process().children())


def children() -> set[psutil.Process]:
    return set(psutil.Process().children()) - others


async def code_of(decoding: object, *, retryable: bool = False) -> str:
    with pytest.raises(ImageError) as caught:
        await decoding  # type: ignore[misc]
    assert caught.value.retryable is retryable
    return caught.value.code


async def test_a_process_tells_what_a_call_would(pool: DecoderPool) -> None:
    photo = saved(quarters(), "JPEG", exif=exif_with_orientation(6))
    logo = saved(quarters(), "PNG")
    assert await pool.inspect("a", photo) == inspect_image(photo)
    assert np.array_equal(await pool.decode("a", photo), decode_image(photo))
    assert np.array_equal(await pool.decode("a", photo, max_side=100), decode_image(photo, max_side=100))
    assert np.array_equal(await pool.decode_logo("a", logo), decode_logo(logo))
    assert (await pool.decode("a", photo)).flags.writeable
    assert len(children()) == 1, "a process is used again"


async def test_a_refusal_is_the_same_too(pool: DecoderPool) -> None:
    with pytest.raises(ImageError) as caught:
        await pool.inspect("a", saved(quarters(255, 300), "JPEG"))
    assert caught.value.code == "image_too_small"
    assert caught.value.detail.startswith("255 x 300")
    assert await code_of(pool.decode("a", b"no picture")) == "image_not_readable"


async def test_a_decode_over_its_time_on_the_processor_is_killed_and_the_next_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decoder_pool, "CPU_SECONDS", 1)
    monkeypatch.setattr(decoder_pool, "WALL_SECONDS_PER_CPU_SECOND", 60.0)
    pool = DecoderPool(1, most_pixels=1)
    assert await code_of(pool.inspect("a", SLOW, NO_BOUND)) == "image_too_complex"
    assert not children()
    assert await pool.inspect("a", saved(quarters(), "JPEG")) == "image/jpeg"
    await pool.close()


@pytest.mark.parametrize(("spent", "retryable"), [(0.0, True), (5.0, False)], ids=["the machine", "the picture"])
async def test_a_decode_that_takes_too_long_by_the_clock_is_killed_and_the_next_works(
    monkeypatch: pytest.MonkeyPatch, spent: float, retryable: bool
) -> None:
    pool = DecoderPool(1, most_pixels=1)
    await pool.inspect("a", saved(quarters(), "JPEG"))
    monkeypatch.setattr(decoder_pool, "WALL_SECONDS_PER_CPU_SECOND", 0.1)
    (process,) = children()
    process.suspend()  # as on a machine that has no time for it
    monkeypatch.setattr(decoder_pool._Process, "processor_seconds", spent)
    assert await code_of(pool.inspect("a", saved(quarters(), "JPEG")), retryable=retryable) == "image_too_complex"
    assert not process.is_running()
    monkeypatch.undo()
    assert await pool.inspect("a", saved(quarters(), "JPEG")) == "image/jpeg"
    await pool.close()


async def test_what_a_picture_costs_is_counted_for_itself(pool: DecoderPool) -> None:
    await pool.inspect("a", saved(quarters(), "JPEG"))
    (process,) = pool._idle
    before = process._spent()
    assert before > 0
    await pool.inspect("a", saved(quarters(), "JPEG"))
    assert process.processor_seconds == process._spent() - before


async def test_a_decode_that_nobody_waits_for_any_more_is_killed(pool: DecoderPool) -> None:
    decoding = asyncio.create_task(pool.inspect("a", SLOW, NO_BOUND))
    async with asyncio.timeout(30):
        while not children():
            await asyncio.sleep(0.01)
    decoding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await decoding
    async with asyncio.timeout(5):  # a process that was just being started is seen a moment longer
        while children():
            await asyncio.sleep(0.01)
    assert await pool.inspect("a", saved(quarters(), "JPEG")) == "image/jpeg"


async def test_a_process_that_died_idle_is_replaced(pool: DecoderPool) -> None:
    await pool.inspect("a", saved(quarters(), "JPEG"))
    dead = children()
    for child in dead:
        child.kill()
    async with asyncio.timeout(30):
        while any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in dead):
            await asyncio.sleep(0.01)
    assert await pool.inspect("a", saved(quarters(), "JPEG")) == "image/jpeg"


async def test_a_process_without_work_ends_after_a_while(monkeypatch: pytest.MonkeyPatch, pool: DecoderPool) -> None:
    monkeypatch.setattr(decoder_pool, "IDLE_SECONDS", 0.5)
    await pool.inspect("a", saved(quarters(), "JPEG"))
    assert len(children()) == 1
    async with asyncio.timeout(30):
        while children():
            await asyncio.sleep(0.05)
    assert await pool.inspect("a", saved(quarters(), "JPEG")) == "image/jpeg"


@pytest.mark.parametrize(
    ("by", "retryable"), [(signal.SIGSEGV, False), (signal.SIGKILL, True)], ids=["a picture", "the kernel"]
)
async def test_a_process_that_is_brought_down_is_replaced(
    pool: DecoderPool, by: signal.Signals, retryable: bool
) -> None:
    decoding = asyncio.create_task(pool.inspect("a", SLOW, NO_BOUND))
    async with asyncio.timeout(30):
        while not children():
            await asyncio.sleep(0.01)
    os.kill(children().pop().pid, by)
    assert await code_of(decoding, retryable=retryable) == "image_not_readable"
    assert await pool.inspect("a", saved(quarters(), "JPEG")) == "image/jpeg"


async def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, pool: DecoderPool) -> None:
    large = bombs.jpeg_of_scans(10, 5_000, 5_000)  # 75 MB of coefficients
    assert await pool.inspect("a", large) == "image/jpeg"
    monkeypatch.setattr(decoder_pool, "MEMORY_BYTES", 80 * 2**20)
    narrow = DecoderPool(1, most_pixels=1)
    assert await narrow.inspect("a", saved(quarters(), "JPEG")) == "image/jpeg"
    assert await code_of(narrow.inspect("a", large)) in {"image_too_complex", "image_not_readable"}
    assert await narrow.inspect("a", saved(quarters(), "JPEG")) == "image/jpeg"
    await narrow.close()


async def test_the_process_knows_no_secret_and_ends_with_the_pool(
    monkeypatch: pytest.MonkeyPatch, pool: DecoderPool
) -> None:
    monkeypatch.setenv("TRYON_SECURITY_KEY_PEPPER", "a secret")
    await asyncio.gather(*(pool.inspect(holder, saved(quarters(), "JPEG")) for holder in "ab"))
    found = children()
    assert found
    assert not any("a secret" in child.environ().values() for child in found)
    await pool.close()
    assert not any(child.is_running() for child in found)


async def test_one_who_stops_the_whole_group_stops_no_decode(pool: DecoderPool) -> None:
    await pool.inspect("a", saved(quarters(), "JPEG"))
    for child in children():
        child.terminate()
    await asyncio.sleep(0.1)
    assert await pool.inspect("a", saved(quarters(), "JPEG")) == "image/jpeg"


async def test_nobody_holds_every_place() -> None:
    shares = FairShares(4)
    greedy = [asyncio.create_task(shares.take("greedy")) for _ in range(6)]
    await asyncio.sleep(0)
    assert sum(each.done() for each in greedy) == 2
    async with asyncio.timeout(1):
        await shares.take("other")
    for each in greedy:
        each.cancel()


async def test_whoever_holds_fewest_is_next_and_turns_go_round() -> None:
    shares, given = FairShares(1), []
    await shares.take("first")

    async def ask(holder: str) -> None:
        await shares.take(holder)
        given.append(holder)
        shares.give_back(holder)

    asking = [asyncio.create_task(ask(holder)) for holder in ("a", "a", "a", "b", "c")]
    await asyncio.sleep(0)
    shares.give_back("first")
    await asyncio.gather(*asking)
    assert given == ["a", "b", "c", "a", "a"]


async def test_a_place_that_was_waited_for_in_vain_goes_to_the_next() -> None:
    shares = FairShares(1)
    await shares.take("a")
    gone, staying = asyncio.create_task(shares.take("b")), asyncio.create_task(shares.take("c"))
    await asyncio.sleep(0)
    gone.cancel()
    shares.give_back("a")
    async with asyncio.timeout(1):
        await staying
    shares.give_back("c")
    async with asyncio.timeout(1):
        await shares.take("d")


async def test_a_thread_keeps_its_place_until_it_has_ended(pool: DecoderPool) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(30)

    working = asyncio.create_task(pool.in_thread("a", work))
    await asyncio.to_thread(begun.wait, 30)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    waiting = asyncio.create_task(pool.in_thread("a", lambda: 7))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    assert await pool.in_thread("b", lambda: 8) == 8
    go_on.set()
    assert await waiting == 7


async def test_another_account_is_served_beside_slow_pictures(pool: DecoderPool) -> None:
    slow = [asyncio.create_task(pool.inspect("attacker", SLOW, NO_BOUND)) for _ in range(5)]
    await asyncio.sleep(0.1)
    for _ in range(3):
        assert await pool.inspect("neighbour", saved(quarters(), "JPEG")) == "image/jpeg"
    assert not any(each.done() for each in slow)
    for each in slow:
        each.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
    assert await pool.inspect("attacker", saved(quarters(), "JPEG")) == "image/jpeg"
