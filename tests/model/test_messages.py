"""Cutting and joining pieces of body, and taking lengths out of heads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.model.messages import Data, RequestHead, ResponseHead, in_chunks, join, without_length
from chaosproxy.model.vocabulary import Framing


@st.composite
def pieces_of_body(draw):
    payload = draw(st.binary(min_size=2, max_size=30))
    ends = tuple(sorted(draw(st.sets(st.integers(1, len(payload))))))
    return Data(payload, ends, whole=draw(st.booleans()), size=draw(st.none() | st.just(99)))


@given(pieces_of_body(), st.data())
def test_the_halves_of_a_cut_have_all_its_bytes_and_record_ends(data, draws):
    left, right = data.split(draws.draw(st.integers(1, len(data.payload) - 1)))
    assert left.payload
    assert right.payload
    assert left.payload + right.payload == data.payload
    assert (*left.ends, *(len(left.payload) + end for end in right.ends)) == data.ends
    assert join([left, right]) == Data(data.payload, data.ends, whole=data.whole)


def test_a_record_that_ends_at_the_cut_ends_on_its_left():
    left, right = Data(b"abcd", (2, 4)).split(2)
    assert (left.ends, right.ends) == ((2,), (2,))


def test_only_the_right_half_of_a_cut_ends_the_chunk():
    left, right = Data(b"abcd", whole=True).split(1)
    assert (left.whole, right.whole) == (False, True)
    assert not Data(b"abcd", whole=False).split(1)[1].whole


def test_no_announced_size_survives_a_cut():
    left, right = Data(b"abcd", whole=False, size=100).split(1)
    assert left.size is right.size is None


@given(st.lists(pieces_of_body(), min_size=2, max_size=4))
def test_joined_pieces_keep_bytes_record_ends_and_the_end_of_the_chunk(pieces):
    joined = join(pieces)
    assert joined.payload == b"".join(piece.payload for piece in pieces)
    assert len(joined.ends) == sum(len(piece.ends) for piece in pieces)
    assert [joined.payload[:end] for end in joined.ends] == [
        b"".join(piece.payload for piece in pieces[:at]) + piece.payload[:end]
        for at, piece in enumerate(pieces)
        for end in piece.ends
    ]
    assert joined.whole == pieces[-1].whole


def test_one_piece_is_joined_to_itself():
    data = Data(b"abcd", (4,), whole=False, size=100)
    assert join([data]) is data


def test_a_length_that_may_no_longer_be_true_is_taken_out():
    head = ResponseHead(200, ((b"Content-Length", b"5"), (b"X-One", b"1")), framing=Framing.LENGTH)
    assert without_length(head) == ResponseHead(200, ((b"X-One", b"1"),), framing=Framing.CHUNKED)


def test_the_length_of_an_upload_is_taken_out_too_but_not_that_of_nothing():
    upload = RequestHead(b"POST", b"/", ((b"content-length", b"5"),), framing=Framing.LENGTH)
    assert without_length(upload) == RequestHead(b"POST", b"/", framing=Framing.CHUNKED)
    empty = RequestHead(b"POST", b"/", ((b"content-length", b"0"),), framing=Framing.LENGTH, final=True)
    assert without_length(empty) is empty


def test_over_http_2_the_length_goes_too_for_there_it_would_be_counted():
    head = ResponseHead(200, ((b"content-length", b"5"), (b"x-one", b"1")), framing=Framing.STREAM)
    assert without_length(head) == ResponseHead(200, ((b"x-one", b"1"),), framing=Framing.STREAM)
    unknown = ResponseHead(200, ((b"x-one", b"1"),), framing=Framing.STREAM)
    assert without_length(unknown) is unknown


@pytest.mark.parametrize("framing", [Framing.CHUNKED, Framing.CLOSE, Framing.NONE])
def test_a_head_without_a_length_stays_as_it_is(framing):
    head = ResponseHead(200, ((b"Content-Length", b"5"),), framing=framing)
    assert without_length(head) is head


def test_heads_cannot_be_changed():
    with pytest.raises(AttributeError):
        ResponseHead(200).status = 500


@pytest.mark.parametrize(
    ("framing", "headers", "final", "chunks"),
    [
        (Framing.CHUNKED, (), False, True),
        (Framing.LENGTH, (), False, False),
        (Framing.CLOSE, (), False, False),
        (Framing.STREAM, (), False, True),
        (Framing.STREAM, (), True, False),
        (Framing.STREAM, ((b"content-length", b"3"),), False, False),
    ],
)
def test_what_http_1_carries_in_chunks(framing, headers, final, chunks):
    assert in_chunks(ResponseHead(200, headers, framing=framing, final=final)) is chunks
