"""HTTP/1.1 sessions of both roles, fed any bytes.

What is asked of every input: signals and nothing else; the same whatever the cut; what was taken as a request is what h11
reads there too, message after message; and a message that was read and written again is read the same.
Must not know: sockets, who draws the bytes.
"""

import re
from dataclasses import dataclass, field, replace

import h11

from chaosproxy.http1.session import Http1Session
from chaosproxy.model.grammar import Grammar
from chaosproxy.model.headers import without
from chaosproxy.model.messages import Abort, Data, End, Event, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Role
from chaosproxy.session import Arrived, Closed, Gone, Granted, Session, Stopped
from tests.fuzz.draw import Draw, bytewise, cut
from tests.fuzz.targets import Target

OK = [ResponseHead(200, ((b"Content-Length", b"0"),), final=True), End()]
BYTEWISE = 256
"""Bytes up to which an input is also fed one by one."""
ONLY_H11 = re.compile(rb"[0-9A-Fa-f][ \t]+;|[\x0b\x0c]")
"""What h11 refuses and RFC 9112 does not: a blank in front of a chunk's extension (section 7.1.1), and two controls in a
value, which may be kept (RFC 9110 section 5.5)."""


IN_TRAILERS = re.compile(rb"\n(transfer-encoding|content-length)[ \t]*:", re.IGNORECASE)
"""What h11 refuses behind a body, where we drop it (RFC 9110 section 6.5.1)."""


@dataclass
class Message:
    """One way of one exchange, however it was cut."""

    head: RequestHead | ResponseHead | None = None
    interims: list[Event] = field(default_factory=list)
    body: bytes = b""
    trailers: tuple = ()
    end: Event | None = None
    grammar: Grammar = field(default_factory=Grammar, compare=False)

    def take(self, event: Event) -> None:
        self.grammar.check(event)
        match event:
            case RequestHead() | ResponseHead():
                self.head = event
            case Data(payload):
                self.body += payload
            case Trailers(headers):
                self.trailers = headers
            case End() | Abort():
                self.end = event
            case _:
                self.interims.append(event)

    @property
    def whole(self) -> bool:
        return isinstance(self.end, End)

    @property
    def events(self) -> list[Event]:
        found = [*self.interims, *([self.head] if self.head else []), *([Data(self.body)] if self.body else [])]
        return [*found, *([Trailers(self.trailers)] if self.trailers else []), *([self.end] if self.end else [])]


def take(signals: list[object], into: dict[int, Message]) -> list[object]:
    """The signals that are no events. That nothing further comes may be said late; `closing` says it too."""
    others = []
    for signal in signals:
        assert isinstance(signal, Arrived | Granted | Stopped | Gone | Closed), signal
        if isinstance(signal, Arrived):
            assert signal.events
            for event in signal.events:
                into.setdefault(signal.stream, Message()).take(event)
        elif not isinstance(signal, Granted | Closed):
            others.append(signal)
    return others


Told = tuple[dict[int, Message], list[object], object, bytes]


def serve(pieces: list[bytes], *, fin: bool) -> Told:
    """A server is fed, and answers each request that is complete: what it told, how it closes, what it wrote."""
    session, found, others = Http1Session(Role.SERVER), dict[int, Message](), []
    answered, written = 0, b""

    def settle(signals: list[object]) -> None:
        nonlocal answered, written
        while True:
            others.extend(take(signals, found))
            written += b"".join(session.outgoing())
            following = found.get(answered + 1)
            if following is None or not following.whole:
                return
            answered += 1
            session.send(answered, OK)
            signals = session.resume()

    for piece in pieces:
        settle(session.receive(piece))
    if fin:
        settle(session.receive(b""))
        settle(session.lost("rst"))
    assert session.closing is None or session.hungry
    return found, others, session.closing, written


def server(data: bytes) -> None:
    draw = Draw(data)
    fin, places = draw.flag(), draw.places()
    raw = draw.rest()
    told = serve([raw] if raw else [], fin=fin)
    assert serve(cut(raw, places), fin=fin) == told
    if len(raw) <= BYTEWISE:
        assert serve(bytewise(raw), fin=fin) == told
    _as_h11_reads(raw, told[0])
    for message in told[0].values():
        if message.head is not None:
            _written_and_read(message)


def _as_h11_reads(raw: bytes, found: dict[int, Message]) -> None:
    """An independent reader finds the same requests in the same places."""
    rest = raw
    for number in sorted(found):
        message = found[number]
        head = message.head
        if not message.whole or head is None or head.upgrade or head.method == b"CONNECT":
            return
        rest = rest.removeprefix(b"\r\n").removeprefix(b"\r\n")  # RFC 9112 section 2.2
        reader = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 40)
        reader.receive_data(rest)
        try:
            request = reader.next_event()
            assert isinstance(request, h11.Request), request
            body = b""
            while isinstance(event := reader.next_event(), h11.Data):
                body += event.data
        except h11.RemoteProtocolError as error:
            if not (ONLY_H11.search(rest) or IN_TRAILERS.search(rest.partition(b"\r\n\r\n")[2])):
                raise AssertionError("h11 refuses what was taken") from error
            return
        assert isinstance(event, h11.EndOfMessage), event
        assert (request.method, request.target, body) == (head.method, head.target, message.body)
        rest = reader.trailing_data[0]


def _written_and_read(message: Message) -> None:
    """What goes to an upstream is read there as what came."""
    head = message.head
    assert isinstance(head, RequestHead)
    client, upstream = Http1Session(Role.CLIENT), Http1Session(Role.SERVER)
    switching = head.upgrade or head.method == b"CONNECT"
    client.send(client.open(), [head] if switching else message.events)
    found = dict[int, Message]()
    take(upstream.receive(b"".join(client.outgoing())), found)
    again = found[1]
    assert isinstance(again.head, RequestHead), again
    assert replace(again.head, version=head.version) == head
    if message.whole and not switching:
        assert (again.body, again.trailers, again.end) == (message.body, message.trailers, message.end)
        assert len(found) == 1


QUESTIONS = (
    RequestHead(b"GET", b"/", ((b"Host", b"a"),), final=True),
    RequestHead(b"HEAD", b"/", ((b"Host", b"a"),), final=True),
    RequestHead(b"POST", b"/", ((b"Host", b"a"), (b"Transfer-Encoding", b"chunked")), framing=Framing.CHUNKED),
    RequestHead(b"CONNECT", b"a:1", ((b"Host", b"a:1"),), final=True),
    RequestHead(b"GET", b"/", ((b"Host", b"a"), (b"Upgrade", b"x"), (b"Connection", b"Upgrade")), upgrade=b"x"),
)


def ask(question: RequestHead, pieces: list[bytes], *, fin: bool, again: bool) -> Told:
    """A client that has asked, perhaps once more when that is possible, is fed: as `serve`."""
    session, found, others = Http1Session(Role.CLIENT), dict[int, Message](), []
    written = _asked(session, question)
    for piece in pieces:
        others += take(session.receive(piece), found)
        written += b"".join(session.outgoing())
    if again and session.reusable:
        written += _asked(session, question)
        others += take(session.receive(b"HTTP/1.1 204 No Content\r\n\r\n"), found)
    if fin:
        others += take(session.receive(b""), found)
        others += take(session.lost("rst"), found)
        assert not session.reusable
    return found, [*others, session.reusable], session.closing, written


def _asked(session: Session, question: RequestHead) -> bytes:
    switching = question.upgrade or question.method == b"CONNECT" or not question.final
    session.send(session.open(), [question] if switching else [question, End()])
    return b"".join(session.outgoing())


def client(data: bytes) -> None:
    draw = Draw(data)
    question, options = draw.pick(QUESTIONS), {"fin": draw.flag(), "again": draw.flag()}
    places, raw = draw.places(), draw.rest()
    told = ask(question, [raw] if raw else [], **options)
    assert ask(question, cut(raw, places), **options) == told
    if len(raw) <= BYTEWISE:
        assert ask(question, bytewise(raw), **options) == told
    answer = told[0].get(1)
    if answer is not None and isinstance(answer.head, ResponseHead) and answer.whole:
        _passed_on(question, answer)


def _passed_on(question: RequestHead, answer: Message) -> None:
    """What goes to a client is read there as what came."""
    head = answer.head
    assert isinstance(head, ResponseHead)
    if head.framing is Framing.TUNNEL:
        return
    server, found = Http1Session(Role.SERVER), dict[int, Message]()
    asking = Http1Session(Role.CLIENT)
    server.receive(_asked(asking, replace(question, upgrade=b"", headers=question.headers[:1])))
    server.send(1, answer.events)
    take(asking.receive(b"".join(server.outgoing())), found)
    if head.framing is Framing.CLOSE:
        take(asking.receive(b""), found)
    again = found[1]
    assert _plain(again.head) == _plain(head)
    assert [_plain(one) for one in again.interims] == [_plain(one) for one in answer.interims]
    assert (again.body, again.trailers, again.end) == (answer.body, answer.trailers, answer.end)


def _plain(head: ResponseHead | Interim) -> ResponseHead | Interim:
    """Without a reason, which is added where there is none, and without codings of what has no body."""
    return replace(head, reason=b"", headers=without(head.headers, (b"transfer-encoding",)))


HEADERS = b"Host: a\r\nConnection: keep-alive, X-A\r\nX-A: b\r\nTE: trailers\r\nCookie: a=b\r\n"
REQUESTS = (
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /a?b HTTP/1.1\r\n" + HEADERS + b"\r\nGET / HTTP/1.0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n",
    b"\r\nPUT http://a/b HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nbytes",
    b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nbytes",
    b"OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 5, 5\r\n\r\nhello",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX",
)
ANSWERS = (
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    (
        b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5\r\nhello\r\n0\r\nA: b\r\n\r\n"
    ),
    b"HTTP/1.0 200\r\n\r\nto the end",
    b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\nstray",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: a\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nbytes",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
)
TOKENS = (
    b"\r\n", b"\r", b"\n", b"\r\n\r\n", b" ", b"\t", b":", b";", b",", b"\0", b"0", b"5", b"Host: b\r\n", b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n", b"0\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.0",
    b"Upgrade: x\r\nConnection: Upgrade\r\n", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"ffffffff", b"X: \x0b\x7f\xe9\r\n",
)  # fmt: skip
MUST = "the same whatever the cut, no exception, as h11 reads it, and written again it is read the same"
TARGETS = {
    "h1-server": Target(
        "HTTP/1.1, what a client sends",
        MUST,
        server,
        lambda: [b"\1\2\0\5\0\x20" + one for one in REQUESTS],
        TOKENS,
    ),
    "h1-client": Target(
        "HTTP/1.1, what an upstream sends",
        MUST,
        client,
        lambda: [bytes([asked, 1, 1, 1, 0, 9]) + one for asked in range(len(QUESTIONS)) for one in ANSWERS],
        TOKENS,
    ),
}
