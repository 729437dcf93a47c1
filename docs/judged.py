"""The verdicts on the page of expectations: each is that of a real proxy, in virtual time, between this upstream and a client.

The upstream sends its head after 250 ms, then four events a second apart, and its end with the last.
"""

import contextlib
from collections.abc import Awaitable, Callable

import trio
from trio.testing import MockClock

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdicts
from chaosproxy.report.verdicts import verdicts
from chaosproxy.testing.peers import Origin, Pause, RawClient, Step
from chaosproxy.testing.proxied import Linked, linked

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_LAST = b"0\r\n\r\n"
_ASKED = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
_STILL = b'{"answering": 0, "generating": 1, "running": 1, "kv_blocks_used": 2}'
_ACCOUNT = [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(_STILL), _STILL)]


def _stream() -> list[Step]:
    steps: list[Step] = [Pause(0.25), _HEAD]
    for number in range(1, 5):
        data = b'data: {"choices":[{"delta":{"content":"%d"}}]}\n\n' % number
        steps += [Pause(1), b"%x\r\n%b\r\n" % (len(data), data)]
    return [*steps, _LAST]


async def _asks(proxied: Linked, leaves: float = 600.0) -> None:
    async with RawClient(proxied.connect()) as client:
        await client.send(_ASKED)
        with trio.move_on_after(leaves), contextlib.suppress(EOFError, ConnectionError):
            while not client.received.endswith((_LAST, b"ength: 0\r\n\r\n")):
                if not await client.read():
                    break


async def _reads(proxied: Linked) -> None:
    await _asks(proxied)


async def _leaves(proxied: Linked) -> None:
    await _asks(proxied, 2.0)


async def _repeats(proxied: Linked) -> None:
    await _asks(proxied)
    await trio.sleep(0.5)
    await _asks(proxied)


CLIENTS: dict[str, Callable[[Linked], Awaitable[None]]] = {
    "a client that reads to the end": _reads,
    "a client that leaves after 2 s": _leaves,
    "a client that asks again after 500 ms": _repeats,
}


def judged(scenario: str, client: str) -> str:
    """What `run --assert` says."""
    found, records = trio.run(_judged, scenario, client, clock=MockClock(autojump_threshold=0))
    return verdicts(found.each, records)


async def _judged(scenario: str, client: str) -> tuple[Verdicts, list[ExchangeRecord]]:
    scripts = [_stream(), _ACCOUNT if "abort_chain" in scenario else _stream()]
    async with linked(scenario, Origin(*scripts).serve) as proxied:
        await CLIENTS[client](proxied)
        await trio.sleep(600)
        return proxied.proxy.planner.judge(proxied.exchanges), proxied.exchanges
