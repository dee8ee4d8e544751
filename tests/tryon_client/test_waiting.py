"""How a job is waited for: as few polls as will do, and never too fast."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.tryon_client.conftest import FakeTime
from tests.tryon_client.replies import ACCEPTED, COMPLETED, FAILED, JOB, PICTURE, processing, refusal
from tests.tryon_client.scripted_server import DROP, Received, Reply, ScriptedServer, running_server
from tryon_client import JobFailed, RateLimited, ServiceUnavailable, TryOnClient, WaitTimeout
from tryon_client.answers import read_job
from tryon_client.calls import Call
from tryon_client.operations import Operation, Operations, Pace, Turn


async def test_the_server_is_asked_to_hold_the_poll(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(COMPLETED)
    assert (await client.wait(JOB)).image == PICTURE
    assert server.received[0].headers["Prefer"] == "wait=25"
    assert time.slept == []


async def test_a_server_that_does_not_hold_is_polled_at_its_own_interval(
    client: Any, server: ScriptedServer, time: FakeTime
) -> None:
    server.reply(processing(Retry_After="3"), processing(), processing(Retry_After="5"), COMPLETED)
    await client.wait(JOB)
    assert time.slept == [3, 2, 5]


async def test_a_poll_that_was_held_is_repeated_at_once(server: ScriptedServer, time: FakeTime) -> None:
    def hold(request: Received) -> Reply:
        time.now += 25
        if len(server.received) < 3:
            return processing(Preference_Applied=request.headers["Prefer"], Retry_After="2")
        return COMPLETED

    server.answer = hold
    with TryOnClient(server.url, "key", sleep=time.sleep, clock=time.clock) as client:
        client.wait(JOB)
    assert (len(server.received), time.slept) == (3, [])


async def test_a_poll_that_was_let_go_early_is_not(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(processing(Preference_Applied="wait=25"), COMPLETED)
    await client.wait(JOB)
    assert time.slept == [2]


async def test_and_gets_the_pause_that_the_server_asks_for(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(processing(Preference_Applied="wait=25", Retry_After="9"), COMPLETED)
    await client.wait(JOB)
    assert sum(time.slept) == 9


async def test_patience_ends(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(*[processing()] * 5)
    with pytest.raises(WaitTimeout) as caught:
        await client.wait(JOB, timeout=10)
    assert (caught.value.job_id, caught.value.seconds) == (JOB, 10)
    assert time.slept == [2] * 4
    assert [sent.headers["Prefer"] for sent in server.received] == [f"wait={left}" for left in (10, 8, 6, 4, 2)]


async def test_without_patience_there_is_one_plain_poll(client: Any, server: ScriptedServer) -> None:
    server.reply(processing())
    with pytest.raises(WaitTimeout):
        await client.wait(JOB, timeout=0)
    assert server.received[0].headers["Prefer"] is None


async def test_a_poll_that_fails_is_repeated(client: Any, server: ScriptedServer) -> None:
    server.reply(DROP, refusal(502), COMPLETED)
    assert (await client.wait(JOB)).image == PICTURE


async def test_an_outage_is_outlasted_while_there_is_patience(client: Any, server: ScriptedServer) -> None:
    """The job was accepted, and is billed whether or not anybody asks for its picture."""
    server.reply(*[refusal(503)] * 3, refusal(503, Retry_After="120"), *[DROP] * 3, COMPLETED)
    assert (await client.wait(JOB)).image == PICTURE


async def test_an_error_while_waiting_names_the_job(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(ACCEPTED, refusal(503, Retry_After="700"))
    with pytest.raises(ServiceUnavailable) as caught:
        await client.run_and_wait(jpeg, product_id="prod_1")
    assert caught.value.job_id == JOB


async def test_an_error_while_starting_names_none(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(*[refusal(503)] * 4)
    with pytest.raises(ServiceUnavailable) as caught:
        await client.run_and_wait(jpeg, product_id="prod_1")
    assert caught.value.job_id is None


async def test_a_failed_job_ends_the_wait(client: Any, server: ScriptedServer) -> None:
    server.reply(processing(), FAILED)
    with pytest.raises(JobFailed) as caught:
        await client.wait(JOB)
    assert (caught.value.code, caught.value.sentence) == ("person_not_found", FAILED.body["error"])


async def test_a_start_waits_for_its_turn_as_long_as_the_caller_is_patient(
    client: Any, server: ScriptedServer, time: FakeTime, jpeg: bytes
) -> None:
    accepted = Reply(202, ACCEPTED.body, {"RateLimit": '"requests";r=19;t=300'})
    server.reply(refusal(429, "rate_limited", Retry_After="296"), accepted, COMPLETED)
    assert (await client.run_and_wait(jpeg, product_id="prod_1")).image == PICTURE
    assert sum(time.slept) == 296


async def test_and_no_longer(client: Any, server: ScriptedServer, time: FakeTime, jpeg: bytes) -> None:
    server.reply(refusal(429, "rate_limited", Retry_After="296"))
    with pytest.raises(RateLimited):
        await client.run_and_wait(jpeg, product_id="prod_1", timeout=60)
    assert time.slept == []


async def test_a_long_rate_limit_is_waited_out_if_there_is_time(
    client: Any, server: ScriptedServer, time: FakeTime
) -> None:
    server.reply(refusal(429, "rate_limited", Retry_After="200"), COMPLETED)
    await client.wait(JOB, timeout=300)
    assert time.slept == [200]


async def test_and_is_said_if_there_is_not(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(refusal(429, "rate_limited", Retry_After="200"))
    with pytest.raises(RateLimited):
        await client.wait(JOB, timeout=100)
    assert time.slept == []


async def test_retries_do_not_outlast_the_patience(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(refusal(503, Retry_After="30"))
    with pytest.raises(ServiceUnavailable):
        await client.wait(JOB, timeout=20)
    assert time.slept == []


@pytest.mark.parametrize(
    ("limit", "pause"),
    [
        ('"requests";r=13;t=41', 2),
        ('"requests";r=5;t=102', 17),
        ('"requests";r=5;t=5', 2),
        ('"requests";r=0;t=41', 41),
        ('"other";r=100;t=1, "requests";r=2;t=60', 20),
        ('"a, b;r=1;t=900";r=2;t=60', 20),
        ('"requests";r=x;t=60', 2),
        ("nonsense", 2),
    ],
)
async def test_the_last_requests_are_spread_over_the_time(
    client: Any, server: ScriptedServer, time: FakeTime, limit: str, pause: float
) -> None:
    server.reply(processing(RateLimit=limit), COMPLETED)
    await client.wait(JOB)
    assert sum(time.slept) == pause


async def test_the_first_poll_is_not_put_off_while_there_are_requests(
    client: Any, server: ScriptedServer, time: FakeTime, jpeg: bytes
) -> None:
    server.reply(Reply(202, ACCEPTED.body, {"RateLimit": '"requests";r=1;t=200'}), COMPLETED)
    await client.run_and_wait(jpeg, product_id="prod_1")
    assert time.slept == []


async def test_and_waits_where_there_are_none(client: Any, server: ScriptedServer, time: FakeTime, jpeg: bytes) -> None:
    server.reply(Reply(202, ACCEPTED.body, {"RateLimit": '"requests";r=0;t=40'}), COMPLETED)
    await client.run_and_wait(jpeg, product_id="prod_1")
    assert sum(time.slept) == 40


def test_a_held_poll_is_not_repeated_faster_than_the_rate_limit_allows(server: ScriptedServer, time: FakeTime) -> None:
    def hold(request: Received) -> Reply:
        time.now += 25
        if len(server.received) < 2:
            limit = '"requests";r=0;t=41'
            return processing(Preference_Applied=request.headers["Prefer"], Retry_After="2", RateLimit=limit)
        return COMPLETED

    server.answer = hold
    with TryOnClient(server.url, "key", sleep=time.sleep, clock=time.clock) as client:
        client.wait(JOB)
    assert sum(time.slept) == 41


def test_the_last_poll_is_held_to_the_end_of_the_patience(server: ScriptedServer, time: FakeTime) -> None:
    def hold(request: Received) -> Reply:
        time.now += int(request.headers["Prefer"].removeprefix("wait="))
        return processing(Preference_Applied=request.headers["Prefer"], RateLimit='"requests";r=2;t=200')

    server.answer = hold
    client = TryOnClient(server.url, "key", sleep=time.sleep, clock=time.clock)
    with client, pytest.raises(WaitTimeout):
        client.wait(JOB, timeout=80)
    assert (sum(time.slept), time.now, len(server.received)) == (30, 1080, 2)


async def test_where_nothing_is_held_the_spacing_gives_way_to_the_patience(
    client: Any, server: ScriptedServer, time: FakeTime
) -> None:
    server.reply(*[processing(RateLimit='"requests";r=2;t=200')] * 4)
    with pytest.raises(WaitTimeout):
        await client.wait(JOB, timeout=16)
    assert sum(time.slept) == 14


async def test_waiting_in_vain_for_the_rate_limit_is_not_tried(
    client: Any, server: ScriptedServer, time: FakeTime
) -> None:
    server.reply(processing(RateLimit='"requests";r=0;t=200'))
    with pytest.raises(WaitTimeout):
        await client.wait(JOB, timeout=60)
    assert time.slept == []


def test_waits_of_one_client_share_what_is_left(time: FakeTime) -> None:
    pace = Pace()
    pace.note(httpx.Headers({"RateLimit": '"requests";r=3;t=80'}), pace.take_anyway(time.now), time.now)
    began, sent = time.now, list[float]()
    while len(sent) < 3:
        turn = pace.take(time.now, spread_until=time.now + 500)
        if isinstance(turn, Turn):
            sent.append(time.now - began)
        else:
            time.sleep(turn)
    assert sent == [20, 40, 60]


@dataclass
class LimitedService:
    """A service of its own time: a job takes some seconds, polls are held, and each key has a request rate."""

    quota: int
    window: int
    job_seconds: float
    now: float = 0.0
    counted: list[float] = field(default_factory=list)
    refused: int = 0
    ends: dict[str, float] = field(default_factory=dict)

    def answer(self, call: Call[Any]) -> tuple[float, httpx.Response]:
        """What a request that comes now is answered, and when."""
        self.counted = [at for at in self.counted if at > self.now - self.window]
        if len(self.counted) >= self.quota:
            self.refused += 1
            return self.now, self._respond(429, {"error": "Too many."}, {"X-Error-Code": "rate_limited"})
        self.counted.append(self.now)
        if call.method == "POST":
            job = f"job-{len(self.ends)}"
            self.ends[job] = self.now + self.job_seconds
            return self.now, self._respond(202, {"jobId": job, "status": "processing"})
        end = self.ends[call.path.rpartition("/")[2]]
        hold = call.held_seconds
        held = {"Preference-Applied": f"wait={hold}"} if hold else {}
        if end <= self.now + hold:
            return max(end, self.now), self._respond(200, COMPLETED.body, held)
        return self.now + hold, self._respond(200, {"status": "processing"}, {"Retry-After": "2", **held})

    def _respond(self, status: int, body: Any, headers: dict[str, str] | None = None) -> httpx.Response:
        seconds = math.ceil(self.counted[0] + self.window - self.now) if self.counted else 0
        limits = {
            "RateLimit-Policy": f'"requests";q={self.quota};w={self.window}',
            "RateLimit": f'"requests";r={self.quota - len(self.counted)};t={seconds}',
            "Retry-After": str(seconds),
        }
        return httpx.Response(status, json=body, headers={**limits, **(headers or {})})

    def run(self, operations: list[Operation[Any]]) -> dict[int, float]:
        """Run them all at the same time; returns when each was done."""
        done: dict[int, float] = {}
        due: list[tuple[float, int, httpx.Response | None]] = [
            (self.now, each, None) for each in range(len(operations))
        ]
        while due:
            self.now, each, answer = heapq.heappop(due)
            try:
                step = operations[each].send(answer)
            except StopIteration:
                done[each] = self.now
                continue
            if isinstance(step, float | int):
                heapq.heappush(due, (self.now + step, each, None))
            else:
                at, response = self.answer(step)
                heapq.heappush(due, (at, each, response))
        return done


@pytest.mark.parametrize(("quota", "window"), [(20, 300), (7, 30), (1, 20), (500, 60)])
@pytest.mark.parametrize("job_seconds", [0, 12, 70])
def test_many_jobs_at_once_never_meet_the_limit(quota: int, window: int, job_seconds: float) -> None:
    service = LimitedService(quota, window, job_seconds)
    operations = Operations(0, lambda: service.now)
    # The first answer tells the limit; before it, the client keeps to that of the API.
    jobs = [operations.run_and_wait(Call("POST", "/", read_job, paced=True), 1e6) for _ in range(15)]
    done = service.run(jobs[:1]) | service.run(jobs[1:])
    assert service.refused == 0
    assert len(done) == 14


def test_a_crowd_that_comes_first_keeps_to_the_limit_of_the_api() -> None:
    service = LimitedService(20, 300, job_seconds=8)
    operations = Operations(0, lambda: service.now)
    done = service.run([operations.run_and_wait(Call("POST", "/", read_job, paced=True), 3000) for _ in range(30)])
    assert service.refused == 0
    assert sorted(done.values())[:10] == [8] * 10, "a started job is not kept waiting by those that start later"
    assert max(done.values()) < 700


def test_two_clients_of_one_key_wait_for_each_other() -> None:
    service = LimitedService(20, 300, job_seconds=8)
    clients = [Operations(0, lambda: service.now) for _ in range(2)]
    jobs = [client.run_and_wait(Call("POST", "/", read_job, paced=True), 3000) for client in clients for _ in range(12)]
    assert len(service.run(jobs)) == 24, "a limit that somebody else has used up is waited out"


async def test_other_policies_do_not_slow_the_polls(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(Reply(204, None, {"RateLimit": '"management";r=0;t=60'}), COMPLETED)
    await client.delete("another")
    await client.wait(JOB)
    assert time.slept == []


def test_a_client_never_runs_itself_into_the_limit(time: FakeTime) -> None:
    """Three jobs in a row under the service's own limit, with a server that does not hold polls."""
    counted: list[float] = []
    polls: dict[str, int] = {}

    def service(request: Received) -> Reply:
        counted[:] = [at for at in counted if at > time.now - 300]
        if len(counted) == 20:
            return refusal(429, "rate_limited", Retry_After=str(int(counted[0] + 301 - time.now)))
        counted.append(time.now)
        left = {"RateLimit": f'"requests";r={20 - len(counted)};t={int(counted[0] + 301 - time.now)}'}
        polls[request.path] = polls.get(request.path, 0) + 1
        if polls[request.path] < 15:
            return Reply(200, {"status": "processing"}, {"Retry-After": "2", **left})
        return Reply(200, COMPLETED.body, left)

    with (
        running_server(service) as server,
        TryOnClient(server.url, "key", sleep=time.sleep, clock=time.clock, max_retries=0) as client,
    ):
        for job in "abc":
            client.wait(job, timeout=3600)
        assert len(server.received) == 45
