"""The chunk codec: pieces, chunks and their sizes; lossless for any cut; h11 as the other witness, both ways."""

from itertools import pairwise

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.http1.body import RawDecoder, decoder
from chaosproxy.http1.chunked import ChunkedDecoder
from chaosproxy.http1.encoder import BodyEncoder
from chaosproxy.http1.lines import Malformed
from chaosproxy.model.messages import Data, Trailers
from chaosproxy.model.vocabulary import Framing

chunks_of_any_size = st.lists(st.binary(min_size=1, max_size=40), max_size=8)


def encoded(chunks, trailers=b""):
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n" + trailers + b"\r\n"


def cut(data, places):
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[a:b] for a, b in pairwise(edges) if a < b]


def decoded(pieces):
    """The events, and what lies behind the body (None: not complete)."""
    coder, events, behind = ChunkedDecoder(), [], None
    for piece in pieces:
        behind = coder.feed(piece, events) if behind is None else behind + piece
    return events, behind


def test_a_read_of_whole_chunks_is_one_data_each():
    events, behind = decoded([encoded([b"one", b"two", b"three"])])
    assert events == [Data(b"one"), Data(b"two"), Data(b"three")]
    assert behind == b""


def test_a_chunk_in_pieces_tells_its_size_once_and_where_it_ends():
    events, behind = decoded([b"a\r\n123", b"45", b"67890", b"\r\n0\r\n\r\nrest"])
    assert events == [Data(b"123", whole=False, size=10), Data(b"45", whole=False), Data(b"67890")]
    assert behind == b"rest"


def test_a_chunk_may_announce_as_much_as_63_bits_count_and_no_byte_more():
    for end in (b"\r\n", b";x\r\n"):
        assert decoded([b"7fffffffffffffff" + end + b"he"])[0] == [Data(b"he", whole=False, size=2**63 - 1)]
        with pytest.raises(Malformed, match="2\\^63"):
            decoded([b"8000000000000000" + end + b"he"])


def test_a_chunk_without_its_line_end_is_not_waited_for():
    events, _ = decoded([b"5\r\nhello"])
    assert events == [Data(b"hello")]


def test_a_header_alone_yields_nothing_and_loses_no_size():
    coder, events = ChunkedDecoder(), []
    assert coder.feed(b"5", events) is None
    assert coder.feed(b"\r\n", events) is None
    assert events == []
    coder.feed(b"he", events)
    assert events == [Data(b"he", whole=False, size=5)]


def test_a_large_chunk_keeps_the_pieces_of_its_reads():
    size = 300_000
    events, behind = decoded([b"%x\r\n" % size + b"a" * 100_000, b"b" * 100_000, b"c" * 100_000 + b"\r\n0\r\n\r\n"])
    assert [(len(event.payload), event.size, event.whole) for event in events] == [
        (100_000, size, False),
        (100_000, None, False),
        (100_000, None, True),
    ]
    assert behind == b""


def test_forbidden_trailers_are_dropped_the_rest_kept_in_order_and_case():
    events, _ = decoded([encoded([b"x"], b"Grpc-Status: 0\r\nContent-Length: 5\r\nHOST: a\r\ngrpc-message:\r\n")])
    assert events[-1] == Trailers(((b"Grpc-Status", b"0"), (b"grpc-message", b"")))
    events, behind = decoded([encoded([b"x"], b"Transfer-Encoding: chunked\r\n")])
    assert events == [Data(b"x")]
    assert behind == b""


@given(chunks_of_any_size, st.lists(st.integers(0, 10_000), max_size=10), st.binary(max_size=5))
@settings(max_examples=200)
def test_any_cut_gives_the_same_body_and_the_peers_chunks_again(chunks, places, rest):
    wire = encoded(chunks, b"A: b\r\n")
    events, behind = decoded(cut(wire + rest, places))
    assert behind == rest
    assert events.pop() == Trailers(((b"A", b"b"),))
    assert b"".join(event.payload for event in events) == b"".join(chunks)
    assert all(event.payload for event in events)
    encoder = BodyEncoder(Framing.CHUNKED)
    written = b"".join([encoder.data(event) for event in events]) + encoder.end(((b"A", b"b"),))
    assert written == wire
    assert encoder.complete


@given(chunks_of_any_size, st.lists(st.integers(0, 10_000), max_size=6))
@settings(max_examples=200)
def test_h11_reads_what_we_write(chunks, places):
    body = b"".join(chunks)
    pieces = cut(body, places)
    encoder = BodyEncoder(Framing.CHUNKED)
    wire = b"".join([encoder.data(Data(piece)) for piece in pieces]) + encoder.end(((b"a", b"b"),))
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n" + wire)
    assert isinstance(connection.next_event(), h11.Request)
    read = []
    while isinstance(event := connection.next_event(), h11.Data):
        read.append((bytes(event.data), event.chunk_start, event.chunk_end))
    assert read == [(piece, True, True) for piece in pieces]
    assert isinstance(event, h11.EndOfMessage)
    assert list(event.headers) == [(b"a", b"b")]
    assert connection.trailing_data == (b"", False)


@given(chunks_of_any_size, st.lists(st.integers(0, 10_000), max_size=6))
@settings(max_examples=200)
def test_we_read_what_h11_writes(chunks, places):
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("host", "a"), ("transfer-encoding", "chunked")]))
    wire = b"".join([connection.send(h11.Data(data=chunk)) for chunk in chunks])
    wire += connection.send(h11.EndOfMessage(headers=[("a", "b")]))
    events, behind = decoded(cut(wire, places))
    assert behind == b""
    assert events.pop() == Trailers(((b"a", b"b"),))
    assert b"".join(event.payload for event in events) == b"".join(chunks)


def verdict(pieces):
    """(body, complete or reason): what must not depend on the cut."""
    coder, events = ChunkedDecoder(), []
    result = "open"
    for piece in pieces:
        try:
            behind = coder.feed(piece, events)
        except Malformed as error:
            result = error.detail
            break
        if behind is not None:
            result = "complete"
            break
    body = b"".join(event.payload for event in events if isinstance(event, Data))
    return body, result


@given(
    st.lists(
        st.sampled_from(
            [b"5", b"0", b"a", b"f" * 15, b"\r\n", b"\r", b"\n", b";", b" ", b"\t", b"hello", b"X", b":", b"\0"]
        ),
        max_size=14,
    )
)
@settings(max_examples=200)
def test_the_verdict_on_rubbish_does_not_depend_on_the_cut(parts):
    data = b"".join(parts)
    whole = verdict([data])
    assert verdict([data[i : i + 1] for i in range(len(data))]) == whole
    for at in range(1, len(data)):
        assert verdict([data[:at], data[at:]]) == whole


def test_the_encoder_opens_a_chunk_for_pieces_and_closes_it_behind_the_last():
    encoder = BodyEncoder(Framing.CHUNKED)
    assert encoder.data(Data(b"123", whole=False, size=10)) == b"a\r\n123"
    assert encoder.data(Data(b"45", whole=False)) == b"45"
    assert encoder.data(Data(b"67890")) == b"67890\r\n"
    assert encoder.data(Data(b"x")) == b"1\r\nx\r\n"
    assert encoder.end(()) == b"0\r\n\r\n"


def test_a_piece_without_an_announced_size_is_a_chunk_of_its_own():
    left, right = Data(b"hello", whole=False, size=10).split(2)
    encoder = BodyEncoder(Framing.CHUNKED)
    assert encoder.data(left) + encoder.data(right) == b"2\r\nhe\r\n3\r\nllo\r\n"


def test_more_than_was_announced_loses_nothing_and_less_is_never_mended():
    encoder = BodyEncoder(Framing.CHUNKED)
    assert encoder.data(Data(b"ab", whole=False, size=3)) + encoder.data(Data(b"cdef")) == b"3\r\nabc\r\n3\r\ndef\r\n"
    assert encoder.data(Data(b"ab", whole=False, size=3)) == b"3\r\nab"
    assert encoder.end(()) == b""
    assert not encoder.complete


def test_length_and_raw_bodies_are_one_data_a_read():
    coder, events = decoder(Framing.LENGTH, 5), []
    assert coder.feed(b"he", events) is None
    assert coder.feed(b"llo!", events) == b"!"
    assert events == [Data(b"he"), Data(b"llo")]
    for framing in (Framing.CLOSE, Framing.TUNNEL):
        raw = decoder(framing, 0)
        assert isinstance(raw, RawDecoder)
        events = []
        assert raw.feed(b"anything", events) is None
        assert events == [Data(b"anything")]


@pytest.mark.parametrize(
    ("length", "sent", "complete"),
    [(5, b"hello", True), (5, b"hell", False), (4, b"hello", False), (None, b"hello", False)],
)
def test_a_promised_length_is_kept_or_it_is_not(length, sent, complete):
    encoder = BodyEncoder(Framing.LENGTH, length)
    assert encoder.data(Data(sent)) == sent
    encoder.end(())
    assert encoder.complete is complete


@pytest.mark.parametrize("framing", [Framing.CLOSE, Framing.TUNNEL])
def test_what_ends_with_its_connection_is_complete_when_its_end_was_said(framing):
    encoder = BodyEncoder(framing)
    assert encoder.data(Data(b"a")) == b"a"
    assert encoder.complete is False
    assert encoder.end(()) == b""
    assert encoder.complete is True
