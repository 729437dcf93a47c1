"""`if:`: what narrows a fault, when it is decided, and what a fault hears then of what it has missed."""

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, Respond
from chaosproxy.model.messages import End, ResponseHead
from chaosproxy.model.vocabulary import Framing, Moment, Way
from chaosproxy.testing.play import POST, SSE, Upload

TICKS = [(float(number), b"data: %d\n\n" % number) for number in range(1, 9)]
RST = (Ending("rst"),)
LENGTH = ((b"content-length", b"5"),)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (Condition(status=200), True),
        (Condition(status="2??"), True),
        (Condition(status="5??"), False),
        (Condition(content_type="text/event-stream"), True),
        (Condition(content_type="text/*"), True),
        (Condition(content_type="application/*"), False),
        (Condition(content_type=("application/*", "text/event-stream")), True),
        (Condition(content_type=("application/*", "image/*")), False),
        (Condition(without_headers=(("x-cache", "HIT*"),)), False),
        (Condition(without_headers=(("x-cache", "MISS"), ("x-other", "*"))), True),
        (Condition(without_headers=(("x-cache", "MISS"), ("x-cache", "*edge"))), False),
        (Condition(framing="content_length"), True),
        (Condition(framing="chunked"), False),
        (Condition(framing=("chunked", "content_length")), True),
        (Condition(headers=(("X-Cache", "HIT*"),)), True),
        (Condition(headers=(("x-cache", "MISS"),)), False),
        (Condition(headers=(("x-other", "*"),)), False),
        (Condition(client_headers=(("host", "t*"),)), True),
        (Condition(client_headers=(("host", "other"),)), False),
        (Condition(without_client_headers=(("host", "other"), ("accept-encoding", "*"))), True),
        (Condition(without_client_headers=(("host", "t*"),)), False),
        (Condition(method="G*"), True),
        (Condition(method="POST"), False),
        (Condition(method=("POST", "GET")), True),
        (Condition(method=("POST", "PUT")), False),
        (Condition(protocol="http/*"), True),
        (Condition(protocol="h2"), False),
        (Condition(status=200, protocol="h2"), False),
        (Condition(status=200, content_type="*/*", headers=(("x-cache", "*"),), protocol="http/1.1"), True),
    ],
)
def test_if(play, condition, holds):
    headers = ((b"Content-Type", b"text/event-stream; charset=utf-8"), (b"X-Cache", b"HIT from edge"))
    played = play([Cut(at=Trigger(event=2), if_=condition)], [(1.0, ResponseHead(200, headers)), *TICKS, (9.0, End())])
    assert (played.not_fired == []) is holds
    if not holds:
        assert played.not_fired == [("cut", "if")]


@pytest.mark.parametrize(
    ("head", "framing"),
    [
        (ResponseHead(200, framing=Framing.CHUNKED), "chunked"),
        (ResponseHead(200, framing=Framing.CLOSE), "close_delimited"),
        (ResponseHead(200, LENGTH, framing=Framing.LENGTH), "content_length"),
        (ResponseHead(200, framing=Framing.STREAM), "chunked"),
        (ResponseHead(200, LENGTH, framing=Framing.STREAM), "content_length"),
        (ResponseHead(101, framing=Framing.TUNNEL), None),
        (ResponseHead(200, LENGTH, framing=Framing.LENGTH, final=True), None),
    ],
)
def test_how_a_body_is_framed(play, head, framing):
    for asked in ("chunked", "close_delimited", "content_length"):
        cut = Cut(at=Trigger(moment=Moment.HEADERS), if_=Condition(framing=asked))
        played = play([cut], [(1.0, End())], head=head)
        assert (played.not_fired == []) is (asked == framing)


def test_without_a_content_type_no_condition_on_one_holds(play):
    cut = Cut(at=Trigger(bytes=1), if_=Condition(content_type="text/*"))
    assert play([cut], [(1.0, ResponseHead(200)), (2.0, b"x")]).not_fired == [("cut", "if")]


def test_a_request_has_no_status(play):
    cut = Cut(at=Trigger(bytes=1), way=Way.REQUEST, if_=Condition(status=200))
    assert play([cut], [(1.0, Upload(b"x"))], request=POST).not_fired == [("cut", "if")]
    by_type = Cut(at=Trigger(bytes=1), way=Way.REQUEST, if_=Condition(headers=(("host", "test"),)))
    assert play([by_type], [(1.0, Upload(b"x"))], request=POST).end[0] == 1.0


def test_a_fault_that_must_wait_for_the_head_hears_of_the_request_then(play):
    at = Trigger(moment=Moment.REQUEST)
    played = play([Cut(at=at, then=RST, if_=Condition(status=200))], [(3.0, SSE), (4.0, b"x")])
    assert (played.end[0], played.head) == (3.0, None)
    silent = Cut(at=Trigger(moment=Moment.REQUEST_END), then=RST, if_=Condition(status=200))
    assert play([silent], [(3.0, SSE)]).end[0] == 3.0
    unlucky = [Cut(at=at, then=RST, if_=Condition(status=500)), Respond(status=503, if_=Condition(status=500))]
    assert play(unlucky, [(3.0, SSE), (4.0, End())]).not_fired == [("cut", "if"), ("respond", "if")]
