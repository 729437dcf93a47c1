"""What RFC 9113 and RFC 7541 ask of a server, rule by rule: which frames cost the connection, which a stream, which nothing.

The list follows the sections of the RFCs; each row feeds frames behind a greeting and names the verdict.
"""

import pytest

from chaosproxy.http2.frames import ACK, END_HEADERS, END_STREAM, HAS_PRIORITY, PADDED, PREFACE, frame
from chaosproxy.model import codes
from chaosproxy.model.messages import Abort, End, RequestHead, ResponseHead
from chaosproxy.session import Closing

DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
GET = ((b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a"), (b":path", b"/"))
POST = ((b":method", b"POST"), *GET[1:])
P, S, F, W, C = (
    codes.PROTOCOL_ERROR,
    codes.STREAM_CLOSED,
    codes.FRAME_SIZE_ERROR,
    codes.FLOW_CONTROL_ERROR,
    codes.COMPRESSION_ERROR,
)


def four(number):
    return number.to_bytes(4, "big")


def setting(code, value):
    return frame(SETTINGS, 0, 0, code.to_bytes(2, "big") + four(value))


def opened(wire):
    return wire.headers(1, POST)


def half_closed(wire):
    return wire.headers(1, GET, end=True)


CONNECTION = [
    ("4.2 DATA too long", lambda w: opened(w) + frame(DATA, 0, 1, b"x" * 16385), F),
    ("4.2 HEADERS too long", lambda w: frame(HEADERS, END_HEADERS, 1, b"x" * 16385), F),
    ("4.3 broken block", lambda w: frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xff\xff\xff\xff\xff\xff"), C),
    ("4.3 PRIORITY inside a block", lambda w: w.headers(1, GET, flags=0) + frame(PRIORITY, 0, 1, b"\0" * 5), P),
    ("4.3 HEADERS of another inside a block", lambda w: w.headers(1, GET, flags=0) + w.headers(3, GET), P),
    ("5.1 idle DATA", lambda w: frame(DATA, 0, 1, b"x"), P),
    ("5.1 idle RST_STREAM", lambda w: frame(RST, 0, 1, four(8)), P),
    ("5.1 idle WINDOW_UPDATE", lambda w: frame(WINDOW, 0, 1, four(1)), P),
    ("5.1 idle CONTINUATION", lambda w: frame(CONTINUATION, END_HEADERS, 1, b""), P),
    ("5.1 half-closed CONTINUATION", lambda w: half_closed(w) + frame(CONTINUATION, END_HEADERS, 1, b""), P),
    ("5.1.1 even id", lambda w: w.headers(2, GET, end=True), P),
    ("5.1.1 id going down", lambda w: w.headers(5, GET, end=True) + w.headers(3, GET, end=True), P),
    ("5.4.1 bad PING", lambda w: frame(PING, 0, 0, b"123456"), F),
    ("5.5 unknown frame inside a block", lambda w: w.headers(1, GET, flags=0) + frame(0x16, 0, 0, b""), P),
    ("6.1 DATA on 0", lambda w: frame(DATA, 0, 0, b"x"), P),
    ("6.1 padding", lambda w: opened(w) + frame(DATA, PADDED, 1, b"\x06abcde"), P),
    ("6.1 no room for a pad length", lambda w: opened(w) + frame(DATA, PADDED, 1, b""), F),
    ("6.2 HEADERS on 0", lambda w: frame(HEADERS, END_HEADERS, 0, b"\x82"), P),
    ("6.2 padding", lambda w: frame(HEADERS, END_HEADERS | PADDED, 1, b"\x09\x82"), P),
    ("6.2 no room for a priority", lambda w: frame(HEADERS, END_HEADERS | HAS_PRIORITY, 1, b"\0\0\0\0"), F),
    ("6.3 PRIORITY on 0", lambda w: frame(PRIORITY, 0, 0, b"\0" * 5), P),
    ("6.4 RST_STREAM on 0", lambda w: frame(RST, 0, 0, four(8)), P),
    ("6.4 RST_STREAM of 3 bytes", lambda w: opened(w) + frame(RST, 0, 1, b"\0\0\0"), F),
    ("6.5 SETTINGS ACK with payload", lambda w: frame(SETTINGS, ACK, 0, b"\0"), F),
    ("6.5 SETTINGS on a stream", lambda w: frame(SETTINGS, 0, 1, b"\0" * 6), P),
    ("6.5 SETTINGS of 3 bytes", lambda w: frame(SETTINGS, 0, 0, b"\0" * 3), F),
    ("6.5.2 ENABLE_PUSH 2", lambda w: setting(2, 2), P),
    ("6.5.2 INITIAL_WINDOW_SIZE 2^31", lambda w: setting(4, 2**31), W),
    ("6.5.2 MAX_FRAME_SIZE too low", lambda w: setting(5, 16383), P),
    ("6.5.2 MAX_FRAME_SIZE too high", lambda w: setting(5, 2**24), P),
    ("6.6 PUSH_PROMISE from a client", lambda w: frame(PUSH, END_HEADERS, 1, four(2) + b"\x82"), P),
    ("6.7 PING on a stream", lambda w: frame(PING, 0, 1, b"12345678"), P),
    ("6.8 GOAWAY on a stream", lambda w: frame(GOAWAY, 0, 1, b"\0" * 8), P),
    ("6.8 GOAWAY of 7 bytes", lambda w: frame(GOAWAY, 0, 0, b"\0" * 7), F),
    ("6.9 WINDOW_UPDATE 0", lambda w: frame(WINDOW, 0, 0, four(0)), P),
    ("6.9 WINDOW_UPDATE of 3 bytes", lambda w: frame(WINDOW, 0, 0, b"\0\0\0"), F),
    ("6.9.1 connection window", lambda w: frame(WINDOW, 0, 0, four(2**31 - 1)), W),
    (
        "6.9.2 stream window by setting",
        lambda w: opened(w) + frame(WINDOW, 0, 1, four(2**30)) + setting(4, 2**31 - 1),
        W,
    ),
    ("6.10 other frame between", lambda w: w.headers(1, GET, flags=0) + frame(DATA, 0, 1, b"x"), P),
    (
        "6.10 CONTINUATION of another",
        lambda w: w.headers(1, GET, flags=0) + frame(CONTINUATION, END_HEADERS, 3, b""),
        P,
    ),
    ("6.10 CONTINUATION on 0", lambda w: w.headers(1, GET, flags=0) + frame(CONTINUATION, END_HEADERS, 0, b""), P),
    ("6.10 CONTINUATION after END_HEADERS", lambda w: opened(w) + frame(CONTINUATION, END_HEADERS, 1, b""), P),
    (
        "6.10 CONTINUATION after the last",
        lambda w: w.headers(1, GET, flags=0) + frame(CONTINUATION, END_HEADERS, 1, b"") * 2,
        P,
    ),
    (
        "6.10 CONTINUATION after DATA",
        lambda w: opened(w) + frame(DATA, 0, 1, b"x") + frame(CONTINUATION, END_HEADERS, 1, b""),
        P,
    ),
    ("hpack 2.3.3 bad index", lambda w: frame(HEADERS, END_HEADERS, 1, b"\xff\x70"), C),
    ("hpack 2.3.3 bad name index", lambda w: frame(HEADERS, END_HEADERS, 1, b"\x7f\x70\x01a"), C),
    ("hpack 4.2 size update at the end", lambda w: frame(HEADERS, END_HEADERS, 1, b"\x82\x20"), C),
    ("hpack 4.2 three size updates", lambda w: frame(HEADERS, END_HEADERS, 1, b"\x20\x20\x20\x82"), C),
    ("hpack 5.2 padding over 7 bits", lambda w: frame(HEADERS, END_HEADERS, 1, b"\x40\x01x\x82\x1f\xff"), C),
    ("hpack 5.2 zero padding", lambda w: frame(HEADERS, END_HEADERS, 1, b"\x40\x01x\x81\x18"), C),
    ("hpack 5.2 EOS", lambda w: frame(HEADERS, END_HEADERS, 1, b"\x40\x01x\x84\xff\xff\xff\xff"), C),
    ("hpack 6.1 index 0", lambda w: frame(HEADERS, END_HEADERS, 1, b"\x80"), C),
    ("hpack 6.3 size update above the limit", lambda w: frame(HEADERS, END_HEADERS, 1, b"\x3f\xe2\x1f\x82"), C),
]


@pytest.mark.parametrize(("name", "bad", "code"), CONNECTION, ids=[row[0] for row in CONNECTION])
def test_what_costs_the_connection(server, name, bad, code):
    server.feed(bad(server))
    written = server.written()
    assert [frame.body[0] for frame in written if frame.kind == "GOAWAY"] == [code]
    assert written[-1].kind == "GOAWAY"
    assert server.session.closing is Closing.FIN
    assert server.feed(server.headers(9, GET, end=True)) == []  # it looks at nothing further


@pytest.mark.parametrize(
    "first", [frame(PING, 0, 0, b"12345678"), frame(SETTINGS, ACK, 0), frame(HEADERS, 4, 1, b"\x82")]
)
def test_settings_come_first(make_server, first, bytewise):
    wire = make_server()
    fresh = type(wire)(wire.session.role, bytewise)
    fresh.feed(PREFACE, first)
    assert fresh.written()[-1].body[0] == P


@pytest.mark.parametrize("junk", [b"GET / HTTP/1.1\r\n\r\n", PREFACE[:-1] + b"x", b"\0" * 24])
def test_a_wrong_preface_ends_the_connection(make_server, junk, bytewise):
    fresh = type(make_server())(make_server().session.role, bytewise)
    fresh.feed(junk)
    assert (fresh.written()[-1].kind, fresh.session.closing) == ("GOAWAY", Closing.FIN)


def test_our_settings_are_the_first_frame(server, client):
    assert server.greeting[0].kind == client.greeting[0].kind == "SETTINGS"


STREAM = [
    ("5.1 half-closed DATA", lambda w: half_closed(w) + w.data(1, b"x"), S),
    ("5.1 half-closed HEADERS", lambda w: half_closed(w) + w.headers(1, POST, end=True), S),
    ("5.1 after RST_STREAM DATA", lambda w: opened(w) + frame(RST, 0, 1, four(8)) + w.data(1, b"x"), S),
    ("5.1 after RST_STREAM HEADERS", lambda w: opened(w) + frame(RST, 0, 1, four(8)) + w.headers(1, POST, end=True), S),
    ("6.3 PRIORITY of 4 bytes", lambda w: opened(w) + frame(PRIORITY, 0, 1, b"\0" * 4), F),
    ("6.9 WINDOW_UPDATE 0", lambda w: opened(w) + frame(WINDOW, 0, 1, four(0)), P),
    ("6.9.1 stream window", lambda w: opened(w) + frame(WINDOW, 0, 1, four(2**31 - 1)), W),
    ("8.1 second head", lambda w: opened(w) + w.headers(1, POST), P),
]
MALFORMED = {
    "8.2.1 upper-case name": (*GET, (b"X-A", b"1")),
    "8.3 unknown pseudo": (*GET, (b":x", b"1")),
    "8.3 response pseudo": (*GET, (b":status", b"200")),
    "8.3 pseudo behind a field": (*GET[:3], (b"x", b"1"), GET[3]),
    "8.2.2 connection": (*GET, (b"connection", b"keep-alive")),
    "8.2.2 te": (*GET, (b"te", b"trailers, deflate")),
    "8.3.1 empty path": (*GET[:3], (b":path", b"")),
    "8.3.1 no method": GET[1:],
    "8.3.1 no scheme": (GET[0], *GET[2:]),
    "8.3.1 no path": GET[:3],
    "8.3.1 no authority": (*GET[:2], GET[3]),
    "8.3.1 empty authority": (*GET[:2], (b":authority", b""), GET[3]),
    **{f"8.3.1 twice {pair[0].decode()}": (*GET, pair) for pair in GET},
    "8.2.2 transfer-encoding": (*GET, (b"transfer-encoding", b"chunked")),
    "8.2.2 upgrade": (*GET, (b"upgrade", b"h2c")),
    "8.2.2 keep-alive": (*GET, (b"keep-alive", b"1")),
    "8.2.2 proxy-connection": (*GET, (b"proxy-connection", b"x")),
    "8.3.1 host is not authority": (*GET, (b"host", b"b")),
    "two hosts": (*GET, (b"host", b"a"), (b"host", b"a")),
    "8.5 CONNECT with a path": ((b":method", b"CONNECT"), *GET[1:]),
    "8.5 CONNECT without authority": ((b":method", b"CONNECT"),),
    "8441 protocol without CONNECT": (*GET, (b":protocol", b"websocket")),
    "method with blanks": ((b":method", b"GET / HTTP/1.1"), *GET[1:]),
    "empty method": ((b":method", b""), *GET[1:]),
    "path with a blank": (*GET[:3], (b":path", b"/a b")),
    "path with a fragment": (*GET[:3], (b":path", b"/a#b")),
    "path beyond ASCII": (*GET[:3], (b":path", b"/\xe9")),
    "path without a slash": (*GET[:3], (b":path", b"x")),
    "scheme with a slash": (GET[0], (b":scheme", b"http://x/?"), *GET[2:]),
    **{f"authority {name}": (*GET[:2], (b":authority", name.encode()), GET[3]) for name in ("u@a", "a b", "a/b")},
    **{f"value {value!r}": (*GET, (b"x", value)) for value in (b"a\rb", b"a\nb", b"a\0b")},
    **{f"name {name!r}": (*GET, (name, b"1")) for name in (b"", b"a b", b"a\r\nb", b"a\0", b"\xe9", b"a:b")},
    **{
        f"content-length {value!r}": (*POST, (b"content-length", value))
        for value in (b"+0", b"-1", b"1_0", b"", b"5, 5", b"0x5", b"9223372036854775808")
    },
    "content-length twice": (*POST, (b"content-length", b"5"), (b"content-length", b"5")),
    "content-length with CONNECT": ((b":method", b"CONNECT"), (b":authority", b"a:1"), (b"content-length", b"0")),
}
STREAM += [(name, lambda w, fields=fields: w.headers(1, fields), P) for name, fields in MALFORMED.items()]
STREAM += [
    ("8.1.1 length and no DATA", lambda w: w.headers(1, (*POST, (b"content-length", b"5")), end=True), P),
    (
        "8.1.1 less than the length",
        lambda w: w.headers(1, (*POST, (b"content-length", b"5"))) + w.data(1, b"abc") + w.data(1, b"d", end=True),
        P,
    ),
    (
        "8.1.1 more than the length",
        lambda w: w.headers(1, (*POST, (b"content-length", b"5"))) + w.data(1, b"abc") + w.data(1, b"def"),
        P,
    ),
    (
        "8.1.1 trailers short of the length",
        lambda w: w.headers(1, (*POST, (b"content-length", b"5"))) + w.headers(1, ((b"x", b"y"),), end=True),
        P,
    ),
    ("8.1 pseudo in trailers", lambda w: opened(w) + w.headers(1, ((b":method", b"x"),), end=True), P),
]


@pytest.mark.parametrize(("name", "bad", "code"), STREAM, ids=[row[0] for row in STREAM])
def test_what_costs_a_stream_leaves_its_siblings(server, name, bad, code):
    server.feed(bad(server))
    assert [(frame.stream, frame.body) for frame in server.written() if frame.kind == "RST_STREAM"] == [(1, code)]
    assert server.session.closing is None
    # the compression state is in step: a field that the bad block put into the table is found there again
    signals = server.feed(server.headers(3, (*GET, (b"x", b"shared")), end=True))
    assert [type(event).__name__ for stream, event in signals if stream == 3] == ["RequestHead", "End"]
    assert signals[0][1].headers == ((b"x", b"shared"),)


@pytest.mark.parametrize("fields", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_head_is_a_lone_abort(server, fields):
    [(stream, abort)] = server.feed(server.headers(1, fields))
    assert (stream, type(abort), abort.cause, abort.code, abort.status) == (1, Abort, "malformed", P, 400)


NOTHING = [
    ("4.1 unknown kind", lambda w: frame(0x16, 0xFF, 0, b"x" * 8)),
    ("4.1 reserved bit", lambda w: frame(PING, ACK, 0, b"12345678")[:5] + b"\x80\0\0\0" + b"12345678"),
    ("5.3.2 PRIORITY on itself", lambda w: frame(PRIORITY, 0, 1, four(1) + b"\x10")),
    ("6.5.2 unknown setting", lambda w: setting(0x99, 1)),
    ("6.7 PING ACK", lambda w: frame(PING, ACK, 0, b"12345678")),
    ("6.8 GOAWAY with an unknown code", lambda w: frame(GOAWAY, 0, 0, four(0) + four(0xFF))),
]


@pytest.mark.parametrize(("name", "odd"), NOTHING, ids=[row[0] for row in NOTHING])
def test_what_costs_nothing(server, name, odd):
    server.feed(odd(server))
    answers = [written for written in server.written() if written.kind != "SETTINGS"]
    assert answers == []
    signals = server.feed(frame(PING, 0, 0, b"abcdefgh"), server.headers(1, GET, end=True))
    assert isinstance(signals[0][1], RequestHead)
    assert [(written.kind, written.body) for written in server.written()] == [("PING", b"abcdefgh")]


@pytest.mark.parametrize(
    "payload",
    [
        lambda block: (HAS_PRIORITY, four(1) + b"\x10" + block),
        lambda block: (PADDED, b"\x02" + block + b"\0\0"),
        lambda block: (PADDED | HAS_PRIORITY, b"\x02" + four(7) + b"\x10" + block + b"\0\0"),
        lambda block: (0x40, block),
    ],
    ids=["depends on itself", "padded", "both", "unknown flag"],
)
def test_what_may_stand_around_a_block(server, payload):
    flags, block = payload(server.encoder.encode(GET))
    signals = server.feed(frame(HEADERS, END_HEADERS | END_STREAM | flags, 1, block))
    assert [type(event) for _, event in signals][:1] == [RequestHead]


def test_a_block_in_many_frames(server):
    block = server.encoder.encode(GET)
    pieces = [frame(CONTINUATION, 0, 1, block[at : at + 1]) for at in range(1, len(block) - 1)]
    head = frame(HEADERS, END_STREAM, 1, block[:1])
    signals = server.feed(head, *pieces, frame(CONTINUATION, END_HEADERS, 1, block[-1:]))
    assert [type(event).__name__ for _, event in signals] == ["RequestHead", "End"]


def test_the_last_of_two_equal_settings_wins_and_both_are_acknowledged_once(server):
    server.feed(frame(SETTINGS, 0, 0, b"\0\4" + four(100) + b"\0\4" + four(1)), server.headers(1, GET, end=True))
    assert server.session.allowance(1) == 1
    assert [written.kind for written in server.written()] == ["SETTINGS"]


def test_streams_above_the_limit_are_refused_alone(make_server):
    server = make_server(max_streams=2)
    signals = server.feed(*[server.headers(stream, POST) for stream in (1, 3, 5)])
    assert [stream for stream, _ in signals] == [1, 3]
    assert [(w.stream, w.body) for w in server.written()] == [(5, codes.REFUSED_STREAM)]
    signals = server.feed(server.data(1, b"x"), frame(RST, 0, 1, four(8)), server.headers(7, GET, end=True))
    assert signals[-2][0] == 7


def test_a_closed_stream_may_not_speak_again(server):
    server.feed(server.headers(1, GET, end=True))
    server.session.send(1, [ResponseHead(200), End()])
    server.written()
    server.feed(server.headers(1, GET, end=True))
    assert server.written()[-1].body == (S, 1)
