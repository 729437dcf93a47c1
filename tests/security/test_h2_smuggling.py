"""Requests over HTTP/2 that would be two over HTTP/1.1: never a second one at the origin."""

import pytest
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


@pytest.mark.parametrize("sort", SORTS, ids=lambda sort: sort.name)
async def test_one_request_is_never_two(sort, shown, autojump_clock):
    tried, statuses = 0, set()
    for upstream in UPSTREAMS:
        async with bench(upstream) as tested:
            for name, sent in sort.requests.items():
                status, honest = await told(tested, sent)
                assert honest, (upstream, name)
                (asked, _), records, tested.records = tested.origin.take(), tested.records, []
                assert asked.pop() == HONEST, (upstream, name)
                allowed = _allowed(sort, sent)
                assert asked in allowed, (upstream, name)
                assert len(records) == 2, (upstream, name)
                if len(allowed) == 1:  # else it may have been answered before it broke its promise
                    assert records[0].end.cause == ("malformed" if sort.refused else None), (upstream, name)
                    statuses.add("RST_STREAM" if status is None else str(status))
                assert records[-1].request.path == "/honest"
                tried += 1
    shown(
        "framing",
        sort.name,
        tried=tried,
        must="that stream is refused, and no request is made of it that it is not; its siblings are served"
        if sort.refused
        else "one request of the origin, to the byte",
        happens=", ".join(sorted(statuses)),
    )
