"""What a client does wrong on HTTP/2, through the whole proxy: who pays for it, and that nobody else notices."""

import trio

from chaosproxy.model import codes
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin
from chaosproxy.testing.proxied import linked
from tests.security.h2_frames import GET, GREETING, POST, moved
from tests.security.h2_list import ACCEPTED, FALL, RESET, TAKEN
from tests.security.h2_worlds import PERIOD, Odd, quiet, watched
from tests.virtual.shipped import event, stream

FEW = 4
SHORT = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]
CLOSES = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", Ending.FIN]


async def test_a_broken_frame_costs_the_connection_and_nobody_else(autojump_clock, shown):
    count = 2 * len(FALL)
    served = Origin(stream(count, PERIOD))
    fell: list[int] = []
    async with linked(None, served.serve) as proxied, watched(proxied.connect()) as honest:
        for name, (frames, code) in FALL.items():
            odd = Odd(proxied.connect())
            await odd.say(GREETING + frames(odd.said))
            await odd.listen()
            assert (odd.ending, odd.heard.goaways) == (Ending.FIN, [code]), name
            fell += odd.heard.goaways
            odd.leave()
            await trio.sleep(PERIOD)
        await quiet(proxied, 1, 1)
        await honest.over(count)
    assert "internal" not in {record.end.cause for record in proxied.exchanges}
    names = ", ".join(sorted({codes.code_name(code) for code in fell}))
    shown(
        "http2",
        "a client's broken frames, beside a client on another connection",
        tried=len(FALL),
        must="GOAWAY with the code of RFC 9113, FIN; the other client has each event at its moment",
        happens=f"GOAWAY ({names}), FIN; each event at its moment",
    )


async def test_a_broken_message_costs_its_stream_and_no_sibling(autojump_clock, shown):
    """A sibling on the same connection has been asked for before, and runs on."""
    served = Origin(stream(FEW, PERIOD))
    seen: list[int] = []
    async with linked(None, served.serve) as proxied:
        for name, (frames, code) in RESET.items():
            odd = Odd(proxied.connect())
            await odd.say(GREETING + odd.said.headers(1, GET, end=True))
            await odd.listen(lambda odd=odd: 1 in odd.heard.statuses)
            began = trio.current_time()
            await odd.say(moved(frames(odd.said), 2))
            await odd.listen(lambda odd=odd: 1 in odd.heard.ended)
            assert odd.heard.resets == [(3, code)], name
            assert (odd.heard.goaways, odd.ending) == ([], None), name
            assert round(trio.current_time() - began, 6) == round(FEW * PERIOD, 6), name
            assert odd.heard.bodies[1] == b"".join([*map(event, range(1, FEW + 1)), b"data: [DONE]\n\n"]), name
            seen.append(code)
            odd.leave()
        await quiet(proxied, 0, 0)
    assert {record.end.cause for record in proxied.exchanges} <= {None, "malformed", "client:stream:CANCEL"}
    names = ", ".join(sorted({codes.code_name(code) for code in seen}))
    shown(
        "http2",
        "a client's broken messages, beside a sibling on the same connection",
        tried=len(RESET),
        must="RST_STREAM of that stream alone; the sibling has every byte at its moment",
        happens=f"RST_STREAM ({names}) of that stream alone; every byte at its moment",
    )


async def test_what_must_be_taken_is(autojump_clock, shown):
    served = Origin(CLOSES, at_head=True)  # which knows of no trailers
    statuses: list[bytes] = []
    async with linked(None, served.serve) as proxied:
        for name, frames in ACCEPTED.items():
            odd = Odd(proxied.connect())
            await odd.say(GREETING + frames(odd.said))
            await odd.listen(lambda odd=odd: 1 in odd.heard.ended)
            assert (odd.heard.resets, odd.heard.goaways, odd.heard.statuses) == ([], [], {1: b"200"}), name
            statuses.append(odd.heard.statuses[1])
            odd.leave()
        for name, frames in TAKEN.items():
            odd = Odd(proxied.connect())
            await odd.say(GREETING + frames(odd.said) + odd.said.headers(9, GET, end=True))
            await odd.listen(lambda odd=odd: 9 in odd.heard.ended)
            assert (odd.heard.resets, odd.heard.goaways, odd.heard.statuses) == ([], [], {9: b"200"}), name
            statuses.append(odd.heard.statuses[9])
            odd.leave()
    shown(
        "http2",
        "what is unusual and allowed: padding, priorities, settings, windows, blocks in pieces, every form of compression",
        tried=len(statuses),
        must="the request is answered",
        happens=", ".join(sorted({status.decode() for status in statuses})),
    )


KEPT = {
    "te: trailers": ((b"te", b"trailers"),),
    "cookies in pieces": ((b"cookie", b"a=1"), (b"x", b"y"), (b"cookie", b"b=2")),
    "bytes beyond ASCII": ((b"x", b"\xe9\xff"),),
    "blanks at the ends": ((b"x", b" y\t"),),
    "a comma in a value": ((b"x", b"a, b"), (b"x", b"c")),
    "Host as :authority": ((b"host", b"a"),),
}
TO_H1 = {
    "te: trailers": b"te: trailers\r\n",
    "cookies in pieces": b"cookie: a=1; b=2\r\n",
    "bytes beyond ASCII": b"x: \xe9\xff\r\n",
    "blanks at the ends": b"x: y\r\n",
    "a comma in a value": b"x: a, b\r\nx: c\r\n",
    "Host as :authority": b"host: a\r\n",
}


async def test_fields_arrive_as_they_were_said(autojump_clock, shown):
    served = Origin(SHORT)
    async with linked(None, served.serve) as proxied:
        for number, (name, fields) in enumerate(KEPT.items(), 1):
            odd = Odd(proxied.connect())
            await odd.say(GREETING + odd.said.headers(1, (*GET, *fields), end=True))
            await odd.listen(lambda odd=odd: 1 in odd.heard.ended)
            head = (await served.request(number)).head.lower()
            assert TO_H1[name] in head, name
            assert head.count(b"host:") == 1, name
            assert head.count(b"cookie:") <= 1, name
            odd.leave()

    heads = []

    async def answer(peer, number: int) -> None:
        heads.append(peer.streams[number].heads[0])
        await peer.headers(number, [(b":status", b"200")], end=True)

    async with (
        linked(None, lambda link: serve_h2(link, answer), upstream="h2c://o") as proxied,
        h2_client(proxied.connect()) as client,
    ):
        for number, fields in enumerate(KEPT.values()):
            await client.headers(2 * number + 1, [*POST, *fields], end=True)
            await client.until(lambda number=number: client.streams[2 * number + 1].ended)
    for (name, fields), head in zip(KEPT.items(), heads, strict=True):
        regular = [field for field in head if not field[0].startswith(b":")]
        said = [(field, value.strip()) for field, value in fields if field != b"host"]
        assert regular == said, name
    shown(
        "http2",
        "cookies in pieces, `te: trailers`, bytes beyond ASCII, blanks, Host beside :authority, to both versions",
        tried=2 * len(KEPT),
        must="one Cookie and one Host on HTTP/1, everything in its place on HTTP/2 (RFC 9113 section 8.2.3)",
        happens="one Cookie, one Host; everything in its place",
    )
