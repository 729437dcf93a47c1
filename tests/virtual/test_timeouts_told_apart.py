"""Which of its time-outs a client has: told from outside by what it leaves after. Virtual time."""

import contextlib

import pytest
import trio

from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient, Step
from chaosproxy.testing.proxied import linked

SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
PATIENCE = 5.0
PLACES = ["request", "head", "last_byte", "last_event", "last_content"]


def chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)


TOKEN = chunk(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
EMPTY = chunk(b'data: {"choices":[{"delta":{}}]}\n\n')
COMMENT = chunk(b": still here\n\n")


def every_second(payload: bytes) -> list[Step]:
    return [step for _ in range(60) for step in (Pause(1), payload)]


BEGUN: list[Step] = [SSE, Pause(1), TOKEN, Pause(1), TOKEN]
UPSTREAMS: dict[str, list[Step]] = {
    "no head": [Ending.OPEN],
    "no body": [SSE, Ending.OPEN],
    "silence": [*BEGUN, Ending.OPEN],
    "comments": [*BEGUN, *every_second(COMMENT)],
    "empty deltas": [*BEGUN, *every_second(EMPTY)],
    "tokens": [*BEGUN, *every_second(TOKEN)],
}


class Watch(RawClient):
    """Leaves when what it waits for has not come for so long."""

    def is_life(self, read: bytes) -> bool:
        return bool(read)

    async def watch(self) -> None:
        await self.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        patience = trio.current_time() + PATIENCE
        with contextlib.suppress(trio.TooSlowError):
            while True:
                with trio.fail_at(patience):
                    read = await self.read()
                if self.is_life(read):
                    patience = trio.current_time() + PATIENCE


class ByteWatch(Watch):
    """As most clients: any byte will do."""


class EventWatch(Watch):
    def is_life(self, read: bytes) -> bool:
        return b"data:" in read or read.startswith(b"HTTP/")


class TokenWatch(Watch):
    def is_life(self, read: bytes) -> bool:
        return b"content" in read


class TotalWatch(Watch):
    def is_life(self, read: bytes) -> bool:
        return False


@pytest.mark.parametrize(
    ("client", "upstream", "fits"),
    [
        (ByteWatch, "no head", {"request"}),
        (TotalWatch, "no head", {"request"}),
        (ByteWatch, "no body", {"request", "head"}),
        (ByteWatch, "silence", {"last_byte", "last_event", "last_content"}),
        (EventWatch, "comments", {"last_event", "last_content"}),
        (TokenWatch, "empty deltas", {"last_content"}),
        (TotalWatch, "tokens", {"request", "head"}),
        (TotalWatch, "silence", {"request", "head"}),
    ],
)
async def test_what_it_leaves_after(client, upstream, fits, autojump_clock):
    limits = {"within": "5s", "at_least": "5s"}
    scenario = {"version": 1, "expect": [{"client_leaves": {**limits, "after": place}} for place in PLACES]}
    async with linked(scenario, Origin(UPSTREAMS[upstream], at_head=True).serve) as proxied:
        async with client(proxied.connect()) as watching:
            await watching.watch()
        await proxied.finished()
        judged = proxied.proxy.planner.judge(proxied.exchanges).each
    assert {place for place, verdict in zip(PLACES, judged, strict=True) if verdict.good} == fits, judged[0]


@pytest.mark.parametrize(
    ("client", "upstream"), [(ByteWatch, "comments"), (EventWatch, "empty deltas"), (TokenWatch, "tokens")]
)
async def test_what_it_takes_for_life_keeps_it(client, upstream, autojump_clock):
    """The same limits, and an upstream that does what the client takes for life: it stays until that has ended."""
    scenario = {"version": 1, "expect": [{"client_leaves": {"within": "30s"}}]}
    async with linked(scenario, Origin([*UPSTREAMS[upstream], Ending.OPEN]).serve) as proxied:
        async with client(proxied.connect()) as watching:
            await watching.watch()
        (verdict,) = (await _judged(proxied)).each
    assert not verdict.good
    assert "it left (fin) 67000 ms after the request" in str(verdict)


async def _judged(proxied):
    await proxied.finished()
    return proxied.proxy.planner.judge(proxied.exchanges)
