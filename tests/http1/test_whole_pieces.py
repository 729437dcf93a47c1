"""The lane of whole pieces: what it takes is what the ordinary way would have brought, and what it leaves is untouched."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.http1.body import decoder
from chaosproxy.http1.lines import LIMITS
from chaosproxy.http1.session import Http1Session
from chaosproxy.model.messages import Abort, Data, End, RequestHead, ResponseHead
from chaosproxy.model.places import Framing, Manner, Peer, Role
from chaosproxy.session import Arrived

GET = RequestHead(b"GET", b"/", ((b"Host", b"a"),), final=True)


def decoded(reads, *, lane, framing=Framing.CHUNKED, length=0):
    """The pieces of a body, and what lies behind it; with `lane` each read is offered there first."""
    coder, events, behind = decoder(framing, length, LIMITS), [], None
    for read in reads:
        payload = coder.whole(read) if lane and behind is None else None
        if payload is not None:
            events.append(Data(payload))
        elif behind is None:
            behind = coder.feed(read, events)
        else:
            behind += read
    return events, behind


@given(
    st.lists(st.binary(min_size=1, max_size=20), max_size=6), st.sets(st.integers(1, 200), max_size=8), st.booleans()
)
def test_a_chunked_body_is_the_same_on_both_ways(chunks, places, at_chunks):
    encoded = [b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks]
    wire = b"".join(encoded) + b"0\r\n\r\nrest"
    if at_chunks:
        reads = [*encoded, b"0\r\n\r\nrest"]
    else:
        edges = [0, *sorted(place for place in places if place < len(wire)), len(wire)]
        reads = [wire[a:b] for a, b in pairwise(edges)]
    assert decoded(reads, lane=True) == decoded(reads, lane=False)


@given(st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=5), st.integers(0, 9))
def test_a_body_with_a_length_is_the_same_on_both_ways(reads, behind):
    length = max(1, sum(map(len, reads)) - behind)
    ways = [decoded(reads, lane=lane, framing=Framing.LENGTH, length=length) for lane in (True, False)]
    assert ways[0] == ways[1]


@pytest.mark.parametrize(
    ("read", "payload"),
    [
        (b"5\r\nhello\r\n", b"hello"),
        (b"1\r\n\n\r\n", b"\n"),
        (b"00a\r\n0123456789\r\n", b"0123456789"),
        (b"5\r\nhello", None),
        (b"5\r\nhello\r", None),
        (b"5\r\nhello\r\n1\r\na\r\n", None),
        (b"5\r\nhell\r\n", None),
        (b"4\r\nhello\r\n", None),
        (b"5\r\nhello\n\r", None),
        (b"5;a=b\r\nhello\r\n", None),
        (b"0\r\n\r\n", None),
        (b"0\r\n\r\n\r\n", None),
        (b"x", None),
    ],
)
def test_a_read_that_is_one_chunk_is_taken(read, payload):
    assert decoder(Framing.CHUNKED, 0, LIMITS).whole(read) == payload


@pytest.mark.parametrize("before", [b"5\r\nhel", b"5\r\nhello", b"5\r\nhello\r", b"5", b"0\r\n", b"0\r\na: b\r\n"])
def test_within_a_chunk_its_header_or_the_trailers_nothing_is_taken(before):
    coder = decoder(Framing.CHUNKED, 0, LIMITS)
    coder.feed(before, [])
    assert coder.whole(b"1\r\na\r\n") is None


def test_a_length_is_taken_but_for_its_last_piece():
    coder, events = decoder(Framing.LENGTH, 5, LIMITS), []
    assert coder.whole(b"hello") is None
    assert coder.whole(b"hello!") is None
    assert coder.whole(b"hell") == b"hell"
    assert coder.whole(b"o") is None
    assert coder.feed(b"o!", events) == b"!"
    assert events == [Data(b"o")]


def test_what_ends_with_its_connection_is_taken_as_it_comes():
    assert decoder(Framing.CLOSE, 0, LIMITS).whole(b"anything") == b"anything"


def asked():
    """A client's session whose request has gone out."""
    session = Http1Session(Role.CLIENT)
    stream = session.open()
    session.send(stream, [GET, End()])
    session.outgoing()
    return session, stream


def test_a_session_takes_a_piece_of_the_live_body_alone():
    session, stream = asked()
    assert session.whole_piece(b"1\r\na\r\n") is None
    session.receive(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert session.whole_piece(b"1\r\na\r\n") == b"a"
    assert session.receive(b"1\r\nb\r\n0\r\n\r\n") == [Arrived(stream, [Data(b"b"), End()])]
    assert session.whole_piece(b"1\r\na\r\n") is None


def serving():
    """A server's session in the middle of a chunked answer."""
    session = Http1Session(Role.SERVER)
    session.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    session.send(1, [ResponseHead(200, framing=Framing.CHUNKED)])
    return session


def test_a_piece_is_written_as_it_would_have_been_sent():
    session = serving()
    session.outgoing()
    assert session.write_piece(1, Data(b"12", whole=False, size=4)) == b"4\r\n12"
    assert session.write_piece(1, Data(b"34")) == b"34\r\n"
    session.send(1, [Data(b"5"), End()])
    assert session.outgoing() == [b"1\r\n5\r\n0\r\n\r\n"]


def test_a_piece_never_overtakes_what_waits_to_be_written():
    session = serving()
    assert session.write_piece(1, Data(b"a")) is None
    assert session.outgoing() != []
    assert session.write_piece(1, Data(b"a")) == b"1\r\na\r\n"


def test_no_piece_is_written_for_another_stream_nor_behind_the_end():
    session = serving()
    session.outgoing()
    assert session.write_piece(2, Data(b"a")) is None
    session.abort(1, Abort("cut", Peer.PROXY, manner=Manner.SILENCE))
    assert session.write_piece(1, Data(b"a")) is None
