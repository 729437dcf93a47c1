"""Any bytes, any cut: signals, never an exception; one verdict; and through the proxy's two roles the message unchanged."""

from itertools import pairwise

import h11
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.http1.session import Http1Session
from chaosproxy.model.messages import Data, End, RequestHead
from chaosproxy.model.vocabulary import Role

PARTS = [
    *(b"GET", b"POST", b" ", b"/", b" HTTP/1.1", b"HTTP/1.1 200 OK", b"\r\n", b"\r", b"\n", b"Host: a", b"\r\n\r\n"),
    *(b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Connection: close", b"5\r\nhello\r\n", b"0\r\n\r\n", b":"),
    *(
        b"hello",
        b"\0",
        b"\xff",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b";x",
        b"ffff",
    ),
    *(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", b"HTTP/1.1 200 OK\r\n", b"Upgrade: x\r\n"),
    *(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n", b"CONNECT a:1"),
]
rubbish = st.lists(st.sampled_from(PARTS) | st.binary(max_size=4), max_size=12).map(b"".join)
cuts = st.lists(st.integers(0, 400), max_size=6)


def cut(data, places):
    edges = sorted({0, len(data), *(place for place in places if place < len(data))})
    return [data[a:b] for a, b in pairwise(edges)]


@given(rubbish, cuts)
@settings(max_examples=200)
def test_a_server_has_one_verdict_on_anything(h1, data, places):
    from_whole, session = play_server(h1, [data] if data else [])
    from_pieces, other = play_server(h1, cut(data, places))
    assert from_pieces == from_whole
    assert session.closing == other.closing
    play_server(h1, cut(data, places), fin=True)


@given(rubbish, cuts)
@settings(max_examples=200)
def test_a_client_has_one_verdict_on_anything(h1, data, places):
    from_whole, session = play_client(h1, [data] if data else [])
    from_pieces, other = play_client(h1, cut(data, places))
    assert from_pieces == from_whole
    assert (session.closing, session.reusable) == (other.closing, other.reusable)


def comparable(found):
    return {number: (m.head, m.interims, m.body, m.trailers, m.terminal) for number, m in found.items()}


def play_server(h1, pieces, *, fin=False):
    found, session = h1.served(pieces)
    if fin:
        session.receive(b"")
        session.lost("rst")
    return comparable(found), session


def play_client(h1, pieces):
    answer, _, session = h1.answered([*pieces, b""])
    return comparable({1: answer}), session


field_names = st.sampled_from([b"X-A", b"x-a", b"Accept", b"A", b"Set-Cookie"])
field_values = st.binary(min_size=1, max_size=12).filter(
    lambda v: v.strip(b" \t") == v and not set(v) & set(b"\0\r\n\x0b\x0c")
)
fields = st.lists(st.tuples(field_names, field_values), max_size=5).map(tuple)
bodies = st.lists(st.binary(min_size=1, max_size=60), max_size=5)


@given(fields, bodies, st.booleans(), cuts)
@settings(max_examples=200)
def test_a_message_of_h11_goes_through_both_roles_unchanged(headers, chunks, chunked, places):
    body = b"".join(chunks)
    framing = (b"Transfer-Encoding", b"chunked") if chunked else (b"Content-Length", b"%d" % len(body))
    sender = h11.Connection(h11.CLIENT)
    head = h11.Request(method="POST", target="/x", headers=[(b"Host", b"a"), *headers, framing])
    wire = b"".join(
        [sender.send(head), *(sender.send(h11.Data(data=chunk)) for chunk in chunks), sender.send(h11.EndOfMessage())]
    )
    server, client = Http1Session(Role.SERVER), Http1Session(Role.CLIENT)
    stream, written = client.open(), []
    for piece in cut(wire, places):
        for arrived in server.receive(piece):
            client.send(stream, arrived.events)
        written += client.outgoing()
    assert b"".join(written) == wire
    receiver = h11.Connection(h11.SERVER)
    receiver.receive_data(b"".join(written))
    request = receiver.next_event()
    assert request.headers.raw_items() == [(b"Host", b"a"), *headers, framing]
    read = b""
    while isinstance(event := receiver.next_event(), h11.Data):
        read += bytes(event.data)
    assert read == body
    assert isinstance(event, h11.EndOfMessage)


@given(fields, bodies, st.sampled_from(["chunked", "length", "close"]), cuts)
@settings(max_examples=200)
def test_an_answer_goes_through_both_roles_unchanged(headers, chunks, framing, places):
    body = b"".join(chunks)
    last = {
        "chunked": [(b"transfer-encoding", b"chunked")],
        "length": [(b"content-length", b"%d" % len(body))],
        "close": [],
    }
    lines = b"".join(b"%b: %b\r\n" % pair for pair in [*headers, *last[framing]])
    coded = (
        b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
        if framing == "chunked"
        else body
    )
    wire = b"HTTP/1.1 299 Fine\r\n" + lines + b"\r\n" + coded
    server, client = Http1Session(Role.SERVER), Http1Session(Role.CLIENT)
    server.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    client.send(client.open(), [RequestHead(b"GET", b"/", ((b"Host", b"a"),), final=True), End()])
    written, ended = [], False
    for piece in [*cut(wire, places), *([b""] if framing == "close" else [])]:
        for signal in client.receive(piece):
            events = getattr(signal, "events", [])
            assert not any(isinstance(event, Data) and not event.payload for event in events)
            ended = ended or End() in events
            if events:
                server.send(1, events)
        written += server.outgoing()
    assert b"".join(written) == wire
    assert ended
    assert (server.closing is None) == client.reusable == (framing != "close")
