"""Requests over HTTP/2 that would be two over HTTP/1.1: never a second one at the origin."""

import trio
from trio.testing import wait_all_tasks_blocked

from chaosproxy.testing.h2_peers import h2_client
from tests.security.h2_requests import SORTS, Sent, Sort
from tests.security.oracle import UPSTREAMS, Bench, bench
from tests.security.strict import Asked

HONEST = Asked(b"GET", b"/honest", b"")


async def told(tested: Bench, sent: Sent) -> tuple[int | None, bool]:
    """The status that `sent` was answered with, and whether an honest request behind it was served."""
    async with h2_client(tested.proxied.connect()) as client:
        await client.headers(1, list(sent.fields), end=not sent.data and not sent.trailers)
        for at, payload in enumerate(sent.data):
            await client.data(1, payload, end=at + 1 == len(sent.data) and not sent.trailers)
        if sent.trailers and client.streams[1].reset is None:
            await client.headers(1, list(sent.trailers), end=True)
        await client.until(lambda: client.streams[1].over)
        await client.request(3, HONEST.target.decode())
        await client.until(lambda: client.streams[3].over)
        await trio.sleep(0.1)
        status = client.streams[1].status if client.streams[1].reset is None else None
        honest = (client.streams[3].status, client.streams[3].body) == (200, b"GET /honest")
    await wait_all_tasks_blocked()
    return status, honest


def _allowed(sort: Sort, sent: Sent) -> list[list[Asked]]:
    """What the origin may be asked: of what breaks its promise all that was promised may have come before."""
    fields, data = dict(sent.fields), b"".join(sent.data)
    length = fields.get(b"content-length", b"")
    if not sort.refused:
        return [[Asked(fields[b":method"], b"/", data)]]
    promised = length.isdigit() and int(length) < len(data)
    return [[], [Asked(b"POST", b"/", data[: int(length)])]] if promised else [[]]


async def _tried(sorts: list[Sort]) -> tuple[int, set[str]]:
    """How many there were, and what they were answered with."""
    tried, statuses = 0, set()
    for upstream in UPSTREAMS:
        async with bench(upstream) as tested:
            for sort, name in [(one, name) for one in sorts for name in one.requests]:
                status, honest = await told(tested, sort.requests[name])
                assert honest, (upstream, sort.name, name)
                (asked, _), records, tested.records = tested.origin.take(), tested.records, []
                allowed = _allowed(sort, sort.requests[name])
                assert asked.pop() == HONEST, (upstream, sort.name, name)
                assert asked in allowed, (upstream, sort.name, name)
                assert len(records) == 2, (upstream, sort.name, name)
                if len(allowed) == 1:  # else it may have been answered before it broke its promise
                    assert records[0].end.cause == ("malformed" if sort.refused else None), (upstream, sort.name, name)
                    statuses.add("RST_STREAM" if status is None else str(status))
                tried += 1
    return tried, statuses


async def test_what_would_be_two_requests_is_refused(shown, autojump_clock):
    sorts = [sort for sort in SORTS if sort.refused]
    tried, statuses = await _tried(sorts)
    shown(
        "framing",
        f"requests over HTTP/2: {'; '.join(sort.name for sort in sorts)}",
        tried=tried,
        must="that stream is refused; of it the origin is asked nothing, or what its length announced; others are served",
        happens=", ".join(sorted(statuses)),
    )


async def test_what_only_looks_like_two_is_one(shown, autojump_clock):
    sorts = [sort for sort in SORTS if not sort.refused]
    tried, statuses = await _tried(sorts)
    shown(
        "framing",
        f"requests over HTTP/2: {'; '.join(sort.name for sort in sorts)}",
        tried=tried,
        must="one request of the origin, to the byte",
        happens=", ".join(sorted(statuses)),
    )
