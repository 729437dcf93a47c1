"""Answers before any stream begins: what is on the wire, and who does what with them."""

import json
from email.utils import parsedate_to_datetime

import pytest
import trio

from chaosproxy.testing.peers import Origin, RawClient
from chaosproxy.testing.proxied import linked
from tests.incidents.asking import Answer, Asked, ask, asking
from tests.virtual.shipped import GET, stream, told

CAP = 60.0


def patient(answer: Answer) -> float | None:
    """Waits as long as it is told, however long that is; what is no number of seconds it does not understand."""
    if answer.status != 429:
        return None
    return max(float(answer.retry_after), 0.0) if answer.retry_after.lstrip("-").isdigit() else 0.5


def capped(answer: Answer) -> float | None:
    """Has a cap, and asks again at once where it is exceeded."""
    wait = patient(answer)
    return wait if wait is None or wait <= CAP else 0.5


def sound(answer: Answer) -> float | None:
    """Waits as long as it is told up to its cap, and gives up at once beyond it."""
    wait = patient(answer)
    return wait if wait is None or wait <= CAP else None


async def limited(scenario: str, client) -> Asked:
    async with linked(scenario, Origin(stream(3, 0.02)).serve) as proxied:
        return await asking(proxied, client)


async def test_a_second(autojump_clock):
    for client in (patient, capped, sound):
        asked = await limited("rate-limited", client)
        assert [answer.status for answer in asked.answers] == [429, 200]
        assert (asked.answers[0].retry_after, asked.waits) == ("1", [1.0])


async def test_more_than_a_cap(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_RETRY_AFTER", "61")
    assert (await limited("rate-limited", patient)).waits == [61.0]
    assert (await limited("rate-limited", capped)).waits == [0.5], "sixty times too early"
    assert len((await limited("rate-limited", sound)).answers) == 1


async def test_days(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_RETRY_AFTER", "198300")
    assert (await limited("rate-limited", patient)).waits == [198300.0], "asleep for two days"
    assert len((await limited("rate-limited", sound)).answers) == 1


async def test_nothing_to_wait_for(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_RETRY_AFTER", "0")
    assert (await limited("rate-limited", sound)).waits == [0.0]


async def test_less_than_nothing(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_RETRY_AFTER", "-1")
    asked = await limited("rate-limited", sound)
    assert (asked.answers[0].retry_after, asked.waits) == ("-1", [0.0])
    with pytest.raises(ValueError, match="non-negative"):
        await trio.sleep(float(asked.answers[0].retry_after))


async def test_a_date(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_RETRY_AFTER", "Wed, 21 Oct 2099 07:28:00 GMT")
    asked = await limited("rate-limited", patient)
    assert parsedate_to_datetime(asked.answers[0].retry_after).year == 2099
    assert asked.waits == [0.5], "a client that knows seconds only asks some decades too early"


async def test_who_commits_too_early(autojump_clock):
    async def gateway(commits_first: bool) -> int:
        """A gateway in front of ours: the status that its own client sees."""
        async with linked("rate-limited", Origin(stream(3, 0.02)).serve) as proxied:
            if commits_first:
                return 200  # and whatever the upstream says comes behind it
            async with RawClient(proxied.connect()) as upstream:
                await upstream.send(GET)
                await upstream.read_until(b"\r\n\r\n")
                return int(upstream.received.split()[1])

    assert [await gateway(commits_first=early) for early in (True, False)] == [200, 429]


async def test_a_401_where_a_stream_was_asked_for(autojump_clock):
    seen = await told("unauthorized", stream(3, 0.02), within=60)
    assert (seen.status, seen.head, seen.pieces[-1][0]) == (401, 0, 0)
    assert b"\r\ncontent-length: %d" % len(seen.body) in seen.raw.lower()
    assert json.loads(seen.body)["error"]["type"] == "invalid_request_error"
    assert seen.origin.requests == []


async def test_a_gateway_that_collects_gives_up(autojump_clock, monkeypatch):
    short = await told("integration-limit", stream(8, 1))
    assert (short.status, short.events, short.head) == (200, [(8, 9)], 8)
    long = await told("integration-limit", stream(60, 1), within=100)
    assert (long.status, long.head, json.loads(long.body)) == (504, 29, {"message": "Endpoint request timed out"})
    (request,) = long.origin.requests
    assert request.left is None, "the backend has streamed to its end, for nobody"
    monkeypatch.setenv("CHAOS_ABORT", "propagate")
    assert (await told("integration-limit", stream(60, 1), within=100)).hung_up[1] == 29


async def test_a_stream_that_is_left_open_keeps_its_place(autojump_clock):
    async def third(*, closes: bool) -> Answer:
        """A gateway's third stream, where the clients of the first two have left after their first event."""
        async with (
            linked("too-many-streams", Origin(stream(60, 1)).serve) as proxied,
            RawClient(proxied.connect()) as first,
            RawClient(proxied.connect()) as second,
        ):
            for client in (first, second):
                await client.send(GET)
                await client.read_until(b"data: 1\n\n")
            if closes:
                first.transport.close()
                await trio.sleep(0.001)
            return await ask(proxied, idle=5)

    refused, served = await third(closes=False), await third(closes=True)
    assert (refused.status, refused.retry_after) == (429, "1")
    assert (served.status, served.whole) == (200, True)


async def test_streams_that_do_not_overlap_see_no_limit(autojump_clock):
    async with linked("too-many-streams", Origin(stream(3, 0.02)).serve) as proxied:
        assert [(await ask(proxied, idle=5)).status for _ in range(5)] == [200] * 5


async def test_who_was_refused_together_comes_back_together(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_LIMIT", "2/2s")

    async def herd(spread: float) -> list[int]:
        """How often each of six tasks that begin at one moment has asked; each waits `spread` longer than the last."""
        asked = [0] * 6

        async def task(number: int) -> None:
            def again(answer: Answer) -> float | None:
                wait = patient(answer)
                return wait if wait is None else wait + spread * number

            asked[number] = len((await asking(proxied, again)).answers)

        async with (
            linked("too-many-requests", Origin(stream(3, 0.02)).serve) as proxied,
            trio.open_nursery() as nursery,
        ):
            for number in range(6):
                nursery.start_soon(task, number)
        return sorted(asked)

    assert await herd(spread=0) == [1, 1, 2, 3, 4, 5]
    assert await herd(spread=1) == [1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("path", "code"), [("/v1/chat/completions", "invalid_request_error"), ("/v1/messages", "authentication_error")]
)
async def test_who_has_the_key_is_let_in(autojump_clock, monkeypatch, path, code):
    def request(key: bytes) -> bytes:
        return b"GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n" % (path.encode(), key)

    monkeypatch.setenv("CHAOS_TOKEN", "right")
    wrong = await told("unauthorized", stream(3, 0.02), within=60, request=request(b"wrong"))
    assert (wrong.status, json.loads(wrong.body)["error"]["type"]) == (401, code)
    right = await told("unauthorized", stream(3, 0.02), within=60, request=request(b"right"))
    assert (right.status, right.count, right.whole) == (200, 4, True)
