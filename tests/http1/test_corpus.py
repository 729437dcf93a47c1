"""Malformed and borderline requests: one verdict for each, whatever the cut, and nothing of a refused one travels on."""

import h11
import pytest

from chaosproxy.http1.session import Http1Session
from chaosproxy.model.messages import Abort, Data, End, Trailers
from chaosproxy.model.vocabulary import Peer, Role
from tests.security.corpus import NEXT, REFUSED, chunked, get
from tests.security.served import SERVED

BAD = [pytest.param(one.status, data, id=name) for one in REFUSED for name, data in one.requests.items()]
GOOD = [pytest.param(data, id=name) for one in SERVED for name, data in one.requests.items()]


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
