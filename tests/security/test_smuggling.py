"""Requests that somebody could read otherwise, through the whole proxy: what the origin is asked is what was journalled."""

import pytest

from tests.security import corpus
from tests.security.corpus import NEXT, REFUSED, Odd, chunked, get
from tests.security.oracle import LAST, UPSTREAMS, bench, compared, compared_mutated, cuts, differences
from tests.security.served import SERVED, TUNNELS

DRAWN = 3
MUTATED = 300
LENGTHS = (
    *(corpus.TWO_FRAMINGS, corpus.TWO_LENGTHS, corpus.NO_LENGTH, corpus.HUGE_LENGTH),
    *(corpus.OTHER_CODING, corpus.ODD_CODING, corpus.MORE_CODINGS),
)
CHUNKS = (corpus.CHUNK_ENDS, corpus.SIZES, corpus.BAD_TRAILERS)
GROUPS: dict[str, tuple[Odd, ...]] = {
    "requests whose length could be read in two ways": LENGTHS,
    "request heads that somebody would repair": tuple(odd for odd in REFUSED if odd not in LENGTHS + CHUNKS),
    "chunked requests that somebody would repair": CHUNKS,
    "requests that are odd, and served": SERVED,
}
MUST = "one answer, FIN; nothing behind it is asked of the origin; journalled as malformed"


@pytest.mark.parametrize("name", GROUPS)
async def test_the_origin_is_asked_what_is_journalled(name, shown, autojump_clock):
    tried, found, statuses = await compared(GROUPS[name], DRAWN)
    assert found == []
    served = GROUPS[name] is SERVED
    shown(
        "framing",
        name,
        tried=tried,
        must="the origin is asked the same requests as are journalled, and each is answered with its own"
        if served
        else MUST,
        happens=f"{', '.join(map(str, sorted(statuses)))}; no difference over HTTP/1.1 and HTTP/2",
    )


async def test_so_it_is_with_mutations_of_them(shown, autojump_clock):
    found = await compared_mutated(seed=7, count=MUTATED)
    assert found == []
    shown(
        "framing",
        "such requests spliced, with bits flipped and marks put in",
        tried=2 * MUTATED,
        must="the origin is asked whole what is journalled as served, and nothing else",
        happens=f"{len(found)} differences over HTTP/1.1 and HTTP/2",
    )


async def test_what_follows_a_tunnel_that_is_refused_is_a_request(shown, autojump_clock):
    tried = 0
    async with bench("h1") as tested:
        for label, data in TUNNELS.requests.items():
            for pieces in cuts(data, None):
                outcome = await tested.tell(pieces)
                assert differences(TUNNELS, data, outcome) == [], (label, pieces)
                tried += 1
    async with bench("h2") as tested:
        for label, data in TUNNELS.requests.items():
            for pieces in cuts(data, DRAWN):
                outcome = await tested.tell(pieces)
                assert outcome.asked[-1] == LAST, (label, pieces)
                assert len(outcome.records) == len(outcome.answers) == 2, (label, pieces)
                assert [answer.status for answer in outcome.answers] in ([501, 200], [200, 200]), label
                tried += 1
    shown(
        "framing",
        "CONNECT and Upgrade that the origin refuses, with a request behind them",
        tried=tried,
        must="no byte enters a tunnel that there is not; what follows is the next request",
        happens="two requests, two answers, two records",
    )


LIMITS = Odd(
    "limits",
    {
        "one field": get(b"X: " + b"a" * 70_000 + b"\r\n"),
        "many bytes": get(b"".join(b"X%d: %b\r\n" % (i, b"a" * 1000) for i in range(66))),
        "201 fields": get(b"X: y\r\n" * 200),
        "201 trailers": chunked(b"0\r\n" + b"X: y\r\n" * 201 + b"\r\n"),
    },
    431,
)
LONG_LINE = Odd("a long line", {"line": get(b"", b"GET /" + b"a" * 16_384 + b" HTTP/1.1")}, 414)
LONG_EXTENSIONS = Odd("extensions", {"each": chunked((b"1;" + b"x" * 1000 + b"\r\na\r\n") * 17 + b"0\r\n\r\n")})


async def test_what_is_above_a_limit_is_refused_as_well(shown, autojump_clock):
    tried, statuses = 0, set()
    for upstream in UPSTREAMS:
        async with bench(upstream) as tested:
            for odd in (LIMITS, LONG_LINE, LONG_EXTENSIONS):
                for label, data in odd.requests.items():
                    for size in (len(data) + len(NEXT), 4096, 777):
                        whole = data + NEXT
                        outcome = await tested.tell([whole[at : at + size] for at in range(0, len(whole), size)])
                        assert differences(odd, data, outcome) == [], (label, size)
                        statuses.update(answer.status for answer in outcome.answers)
                        tried += 1
    shown(
        "framing",
        "heads, lines, trailers and chunk extensions above their limits",
        tried=tried,
        must=MUST,
        happens=", ".join(map(str, sorted(statuses))),
    )


async def test_what_stands_before_a_refused_request_is_served(shown, autojump_clock):
    first = get(b"", b"GET /first HTTP/1.1")
    tried = 0
    for upstream in UPSTREAMS:
        async with bench(upstream) as tested:
            for odd in REFUSED:
                for label, data in odd.requests.items():
                    outcome = await tested.tell([first + data + NEXT])
                    assert [answer.status for answer in outcome.answers] == [200, odd.status], label
                    assert [asked.target for asked in outcome.asked] == [b"/first"], label
                    assert [record.end.cause for record in outcome.records] == [None, "malformed"], label
                    tried += 1
    shown(
        "framing",
        "a good request, a refused one and a third in one write",
        tried=tried,
        must="the first is served, the second refused, the third not read",
        happens="one request asked of the origin, two answers, two records",
    )
