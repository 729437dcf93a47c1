"""Malformed and borderline requests: one verdict for each, whatever the cut, and nothing of a refused one travels on."""

import h11
import pytest

from chaosproxy.http1.session import Http1Session
from chaosproxy.model.messages import Abort, Data, End, Trailers
from chaosproxy.model.vocabulary import Peer, Role

HOST = b"Host: a.test\r\n"
NEXT = b"GET /next HTTP/1.1\r\nHost: a.test\r\n\r\n"


def get(fields=b"", line=b"GET / HTTP/1.1"):
    return line + b"\r\n" + HOST + fields + b"\r\n"


def post(fields, body=b""):
    return get(fields, b"POST / HTTP/1.1") + body


def chunked(body):
    return post(b"Transfer-Encoding: chunked\r\n", body)


def length(value):
    return post(b"Content-Length: " + value + b"\r\n", b"hello")


def coding(value):
    return post(b"Transfer-Encoding: " + value + b"\r\n", b"0\r\n\r\n")


def host(value):
    return b"GET / HTTP/1.1\r\nHost: " + value + b"\r\n\r\n"


REFUSED = {
    400: {
        "length and chunked": post(b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\nX"),
        "chunked and length": post(b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", b"0\r\n\r\nX"),
        "two lengths": post(b"Content-Length: 5\r\nContent-Length: 6\r\n", b"hello!"),
        "length list": length(b"5, 6"),
        "equal lengths": post(b"Content-Length: 5\r\ncontent-length: 5\r\n", b"hello"),
        "equal length list": length(b"5, 5"),
        **{
            f"length {value!r}": length(value)
            for value in (
                b"+5",
                b"-5",
                b"1_0",
                b"0x5",
                b"5.0",
                b"5;x",
                b"",
                b"\x0b5",
                b"\xa05",
                b"5 5",
                b"5\0",
                b"\xb2",
                b"5,",
            )
        },
        "length 2^64+5": length(b"18446744073709551621"),
        "length 2^63": length(b"9223372036854775808"),
        "length of 20 digits": length(b"00000000000000000005"),
        **{
            f"coding {value!r}": coding(value)
            for value in (b"\x0bchunked", b"\x0cchunked", b"chunked\0", b"chunked\x0b")
        },
        "coding twice": post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
        "coding and identity": post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", b"0\r\n\r\n"),
        "chunked in 1.0": get(b"Transfer-Encoding: chunked\r\n", b"POST / HTTP/1.0") + b"0\r\n\r\n",
        "space before colon": post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n"),
        "space before colon of length": post(b"Content-Length : 5\r\n", b"hello"),
        "fold": get(b"X: a\r\n b\r\n"),
        "fold with tab": get(b"X: a\r\n\tb\r\n"),
        "fold makes the coding": post(b"Transfer-Encoding:\r\n chunked\r\n", b"0\r\n\r\n"),
        "fold behind Host": b"POST / HTTP/1.1\r\nHost: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "fold as first field": b"GET / HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n",
        "CR in a line": post(b"X: y\rTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
        "LF ends a line": post(b"X: y\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
        "LF everywhere": b"GET / HTTP/1.1\nHost: a.test\n\n",
        "LF ends the head": b"GET / HTTP/1.1\r\nHost: a.test\r\n\n",
        "CR CR LF": b"GET / HTTP/1.1\r\nHost: a.test\r\r\n\r\n",
        "LF in an extension": chunked(b"5;\nAAAAA\r\n0\r\n\r\n"),
        "CR in an extension": chunked(b"5;a\rb\r\nAAAAA\r\n0\r\n\r\n"),
        "NUL in an extension": chunked(b"5;a\0b\r\nAAAAA\r\n0\r\n\r\n"),
        "size ended by LF": chunked(b"5\nAAAAA\r\n0\r\n\r\n"),
        "size ended by CR": chunked(b"5\rAAAAA\r\n0\r\n\r\n"),
        "data ended by LF": chunked(b"5\r\nAAAAA\n0\r\n\r\n"),
        "data ended by CR": chunked(b"5\r\nAAAAA\r0\r\n\r\n"),
        "bytes for the CRLF of a chunk": chunked(b"5\r\nAAAAAXX0\r\n\r\n"),
        "spill": chunked(b"5\r\nAAAAAAA\r\n0\r\n\r\n"),
        **{
            f"chunk size {value!r}": chunked(value + b"\r\nAAAAA\r\n0\r\n\r\n")
            for value in (
                b"0x5",
                b"+5",
                b"-5",
                b"0_5",
                b"5X",
                b"5.0",
                b";",
                b"",
                b" 5",
                b"5 ",
                b"5\t",
                b"00000000000000000005",
            )
        },
        **{
            f"chunk size {value!r}": chunked(value + b"\r\nAAAAA\r\n0\r\n\r\n")
            for value in (b"f" * 16, b"8000000000000000", b"10000000000000005")
        },
        "2^63 and an extension": chunked(b"ffffffffffffffff;x\r\nAAAAA\r\n0\r\n\r\n"),
        "no CRLF behind the last chunk": chunked(b"0\r\nXX" + NEXT),
        "trailer without colon": chunked(b"0\r\nabc\r\n\r\n"),
        "trailer with a bare LF": chunked(b"0\r\nA: b\n\r\n"),
        "folded trailer": chunked(b"0\r\nA: b\r\n c\r\n\r\n"),
        "trailer name": chunked(b"0\r\nA b: c\r\n\r\n"),
        "NUL in a trailer": chunked(b"0\r\nA: b\0\r\n\r\n"),
        "no Host": b"GET / HTTP/1.1\r\nX: y\r\n\r\n",
        "two Hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        **{f"host {value!r}": host(value) for value in (b"a@b", b"a b", b"a, b", b"a/b?c", b"a#", b"a:b", b"a:99999")},
        "NUL in a value": get(b"X: a\0b\r\n"),
        "CR in a value": get(b"X: a\rb\r\n"),
        **{
            f"name {name!r}": get(name + b": x\r\n")
            for name in (b"a\0", b"\xe9", b"a(", b"", b"a b", b"a\t", b"a\x0b", b'"a"', b"a\xa0")
        },
        "no colon": get(b"Content-Length\r\n"),
        **{
            f"line {line!r}": get(b"", line)
            for line in (
                *(b"GET  / HTTP/1.1", b"GET\t/ HTTP/1.1", b"GET / HTTP/1.1 ", b"GET /a b HTTP/1.1", b"GET /  HTTP/1.1"),
                *(
                    b"GET / HTTP/1.10",
                    b"GET / HTTP/01.1",
                    b"GET / http/1.1",
                    b"GET / HTTP/0.9",
                    b"GET /",
                    b"GET / HTTP/1",
                ),
                *(
                    b"G(T / HTTP/1.1",
                    b"GET /\0 HTTP/1.1",
                    b"GET /\xe9 HTTP/1.1",
                    b"GET /a#b HTTP/1.1",
                    b" GET / HTTP/1.1",
                ),
                *(
                    b"GET a HTTP/1.1",
                    b"GET * HTTP/1.1",
                    b"CONNECT / HTTP/1.1",
                    b"CONNECT a HTTP/1.1",
                    b"\xa0GET / HTTP/1.1",
                ),
                *(
                    b"GET /\x7f HTTP/1.1",
                    b"GET / HTTP/1.1\x0b",
                    b"GET / HTTP/1,1",
                    b"GET / XTTP/1.1",
                    b"/ GET HTTP/1.1",
                ),
            )
        },
        "three empty lines": b"\r\n\r\n\r\n" + get(),
        "empty line of LF": b"\n" + get(),
        "CONNECT with a body": b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 5\r\n\r\nhello",
        "a TLS hello": b"\x16\x03\x01\x02\x00\x01",
    },
    501: {
        f"coding {value!r}": coding(value)
        for value in (
            *(
                b"gzip, chunked",
                b"chunked, gzip",
                b"identity",
                b"xchunked",
                b"chunked, chunked",
                b",chunked",
                b"chunked,",
            ),
            *(b'"chunked"', b"chunked;x=1", b"", b"cow", b"\x85chunked", b"chunked chunked"),
        )
    },
    505: {f"line {line!r}": get(b"", line) for line in (b"GET / HTTP/2.0", b"GET / HTTP/3.1", b"PRI * HTTP/2.0")},
}
ACCEPTED = {
    "plain": get(),
    "chunked upper case": post(b"TRANSFER-ENCODING: CHUNKED\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
    "underscored coding is a field": get(b"Transfer_Encoding: chunked\r\n"),
    "length": length(b"5"),
    "length with leading zero": length(b"05"),
    "length 0": post(b"Content-Length: 0\r\n"),
    "GET with a body": get(b"Content-Length: 5\r\n") + b"hello",
    "DELETE chunked": get(b"Transfer-Encoding: chunked\r\n", b"DELETE / HTTP/1.1") + b"1\r\na\r\n0\r\n\r\n",
    "controls in a value": get(b"X: \x1b[2J\x01\x7f\xe9\r\n"),
    "minor version 2": get(b"", b"GET / HTTP/1.2"),
    "HTTP/1.0": b"GET / HTTP/1.0\r\n\r\n",
    "one empty line before": b"\r\n" + get(),
    "two empty lines before": b"\r\n\r\n" + get(),
    "extension": chunked(b"5;a=b\r\nhello\r\n0;last\r\n\r\n"),
    "blank before an extension": chunked(b"5 \t; ext\r\nhello\r\n0\r\n\r\n"),
    "quoted extension": chunked(b'5;a="b;c"\r\nhello\r\n0\r\n\r\n'),
    "16 digits": chunked(b"0000000000000005\r\nhello\r\n0000\r\n\r\n"),
    "trailers": chunked(b"5\r\nhello\r\n0\r\nX-Sum:  1 \r\nY:\r\n\r\n"),
    "protected names listed": post(b"Connection: Content-Length, Host, TE\r\nContent-Length: 5\r\n", b"hello"),
    "hop-by-hop": get(b"Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nX: 1\r\n"),
    "expect": post(b"Expect: y 100-continue\r\nContent-Length: 5\r\n", b"hello"),
    "empty Host": host(b""),
    "odd target": get(b"", b"GET //evil/..%2f%00\\ HTTP/1.1"),
    "absolute": get(b"", b"GET http://b.test/x HTTP/1.1"),
    "asterisk": get(b"", b"OPTIONS * HTTP/1.1"),
}
BAD = [pytest.param(status, data, id=name) for status, group in REFUSED.items() for name, data in group.items()]
GOOD = [pytest.param(data, id=name) for name, data in ACCEPTED.items()]


def forwarded(found):
    """The bytes an upstream gets if everything found is passed on, one connection for all."""
    sent = b""
    for message in found.values():
        if message.head is None:
            continue
        client = Http1Session(Role.CLIENT)
        stream = client.open()
        events = [message.head]
        if message.body:
            events.append(Data(message.body))
        if message.trailers:
            events.append(Trailers(message.trailers))
        if isinstance(message.terminal, End):
            events.append(End())
        client.send(stream, events)
        sent += b"".join(client.outgoing())
    return sent


def seen_by_h11(sent):
    """How many complete requests the other witness makes of the bytes, and whether it stops in the midst of one."""
    requests = 0
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(sent)
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            return requests, connection.their_state is not h11.IDLE
        if event is h11.PAUSED:
            return requests, False
        if isinstance(event, h11.EndOfMessage):
            requests += 1
            connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
            connection.send(h11.EndOfMessage())
            if connection.our_state is not h11.DONE:  # HTTP/1.0: one a connection
                return requests, False
            connection.start_next_cycle()


@pytest.mark.parametrize(("status", "data"), BAD)
def test_refused_whatever_the_cut_and_nothing_behind_it_is_read(h1, status, data):
    verdicts = set()
    for pieces in h1.every_cut(data):
        found, session = h1.served([*pieces, NEXT])
        assert len(found) == 1
        abort = found[1].terminal
        assert isinstance(abort, Abort)
        assert (abort.cause, abort.origin, abort.status) == ("malformed", Peer.CLIENT, status)
        assert session.resume() == []
        verdicts.add((abort.detail, found[1].head, found[1].body))
        assert b"/next" not in forwarded(found)
    assert len(verdicts) == 1


@pytest.mark.parametrize("data", GOOD)
def test_accepted_whatever_the_cut_and_the_upstream_sees_the_same_requests(h1, data):
    whole, _ = h1.served([data])
    count = len(whole)
    assert count == 1
    assert whole[1].terminal == End()
    for pieces in h1.every_cut(data):
        found, _ = h1.served(pieces)
        assert found == whole
    assert seen_by_h11(forwarded(whole)) == (1, False)


def test_what_is_refused_behind_good_data_has_not_ended_for_the_upstream(h1):
    found, _ = h1.served([chunked(b"5\r\nhello\r\nXX\r\n")])
    assert found[1].body == b"hello"
    assert forwarded(found).endswith(b"5\r\nhello\r\n")
    assert seen_by_h11(forwarded(found)) == (0, True)


def test_the_first_of_a_pipeline_is_served_then_the_bad_one_refused(h1):
    data = get() + get(b"X : y\r\n") + NEXT
    for pieces in h1.every_cut(data):
        found, _ = h1.served(pieces)
        assert [type(message.terminal) for message in found.values()] == [End, Abort]
        assert found[2].terminal.status == 400


@pytest.mark.parametrize(
    ("status", "data"),
    [
        (431, get(b"X: " + b"a" * 70_000 + b"\r\n")),
        (431, get(b"".join(b"X%d: %b\r\n" % (i, b"a" * 1000) for i in range(66)))),
        (431, get(b"X: y\r\n" * 200)),
        (414, get(b"", b"GET /" + b"a" * 16_384 + b" HTTP/1.1")),
        (400, chunked((b"1;" + b"x" * 1000 + b"\r\na\r\n") * 17 + b"0\r\n\r\n")),
        (431, chunked(b"0\r\n" + b"X: y\r\n" * 201 + b"\r\n")),
    ],
    ids=["one field", "many bytes", "201 fields", "line", "extensions", "trailers"],
)
def test_limits_do_not_depend_on_the_cut(h1, status, data):
    details = set()
    for size in (len(data), 4096, 1000, 777, 1):
        found, _ = h1.served([data[i : i + size] for i in range(0, len(data), size)])
        assert found[1].terminal.status == status
        details.add(found[1].terminal.detail)
    assert len(details) == 1


@pytest.mark.parametrize(
    "data",
    [
        get(b"X: y\r\n" * 199),
        get(b"X: " + b"a" * 60_000 + b"\r\n"),
        get(b"", b"GET /" + b"a" * 16_000 + b" HTTP/1.1"),
        chunked((b"1;" + b"x" * 1000 + b"\r\na\r\n") * 16 + b"0\r\n\r\n"),
    ],
)
def test_just_below_the_limits(h1, data):
    for size in (len(data), 4096):
        found, _ = h1.served([data[i : i + size] for i in range(0, len(data), size)])
        assert found[1].terminal == End()


def test_an_endless_line_is_refused_long_before_it_ends(h1):
    found, session = h1.served([b"GET /", *[b"a" * 1000] * 17])
    assert found[1].terminal.status == 414
    assert session.receive(b"a" * 1000) == []
