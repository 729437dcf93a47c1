"""A valid exchange through any pair of protocols: what the client said is what the origin is told, and the other way.

Client, the two sessions that a proxy has, and origin; events of one are given to the next as they are. Must not know: the
proxy, who draws the bytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chaosproxy.http1.session import Http1Session
from chaosproxy.http2.session import Http2Session
from chaosproxy.model.messages import Data, End, Event, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Role
from chaosproxy.session import Arrived, Session
from tests.fuzz.draw import Draw, cut
from tests.fuzz.targets import Target

Pairs = tuple[tuple[bytes, bytes], ...]
PROTOCOLS = ("h1", "h2")
METHODS = (b"GET", b"POST", b"PUT", b"HEAD", b"DELETE", b"OPTIONS", b"PATCH", b"x-own")
PATHS = (b"/", b"/a?b=c&d", b"/%2f..%00//\\", b"/" + b"x" * 300, b"/a:b@c[d]")
NAMES = (
    b"X-A",
    b"x-a",
    b"Accept",
    b"set-cookie",
    b"Cookie",
    b"authorization",
    b"x-!#$%&'*+-.^_`|~",
    b"content-type",
    b"via",
)
STATUSES = (200, 201, 204, 206, 301, 304, 404, 429, 500, 599)
ADDED = frozenset({b"host", b"transfer-encoding", b"content-length", b"te"})
"""What one protocol says where the other has another word for it."""


@dataclass(frozen=True)
class Said:
    """One way of an exchange, with nothing in it that is the protocol's."""

    start: tuple[object, ...]
    fields: Pairs
    body: bytes
    trailers: Pairs
    interims: tuple[object, ...] = ()
    whole: bool = False


def _fields(draw: Draw, names: Sequence[bytes] = NAMES) -> Pairs:
    return tuple((draw.pick(names), _value(draw)) for _ in range(draw.below(5)))


def _value(draw: Draw) -> bytes:
    raw = draw.take(draw.below(12))
    return bytes(byte for byte in raw if byte not in b"\0\r\n\x0b\x0c").strip(b" \t")


def _body(draw: Draw) -> tuple[list[Event], Pairs]:
    """Events behind a head, and its length, where it has one."""
    pieces = [piece for piece in (draw.some() for _ in range(draw.below(4))) if piece]
    body = b"".join(pieces)
    behind = _fields(draw, (b"x-t", b"grpc-status"))
    chunked = bool(behind) or draw.flag()
    length: Pairs = () if chunked else ((b"content-length", b"%d" % len(body)),)
    return [*map(Data, pieces), *([Trailers(behind)] if behind else []), End()], length


def exchange(draw: Draw) -> tuple[list[Event], list[Event]]:
    """A request and its answer."""
    method = draw.pick(METHODS)
    fields = _fields(draw)
    events, length = _body(draw) if draw.flag() else ([End()], ())
    final = len(events) == 1
    framing = Framing.NONE if final else Framing.LENGTH if length else Framing.STREAM
    head = RequestHead(method, draw.pick(PATHS), fields + length * (not final), b"http", b"a.test:80", framing, final)
    status = draw.pick(STATUSES)
    bodiless = method == b"HEAD" or status in (204, 304)
    told, length = ([End()], ()) if bodiless else _body(draw)
    interims = [Interim(draw.pick((100, 102, 103)), _fields(draw)) for _ in range(draw.below(3))]
    done = len(told) == 1
    framing = Framing.NONE if done else Framing.LENGTH if length else Framing.STREAM
    answer = ResponseHead(status, _fields(draw) + length * (not done), b"", framing, done)
    return [head, *events], [*interims, answer, *told]


def session(protocol: str, role: Role) -> Session:
    return Http1Session(role) if protocol == "h1" else Http2Session(role)


def carried(source: Session, target: Session, places: Sequence[int]) -> Iterator[tuple[int, list[Event]]]:
    """What `source` has to write, read by `target`."""
    for piece in cut(b"".join(source.outgoing()), places):
        for signal in target.receive(piece):
            if isinstance(signal, Arrived):
                yield signal.stream, signal.events


def through(front: str, back: str, request: list[Event], answer: list[Event], places: list[int]) -> tuple[Said, Said]:
    """What the origin is told, and what the client is."""
    client, server = session(front, Role.CLIENT), session(front, Role.SERVER)
    upstream, origin = session(back, Role.CLIENT), session(back, Role.SERVER)
    for one, other in ((client, server), (server, client), (upstream, origin), (origin, upstream)):
        list(carried(one, other, places))
    asked, wanted = client.open(), upstream.open()
    client.send(asked, request)
    heard, got, number = list[Event](), list[Event](), 0
    for _, events in carried(client, server, places):
        upstream.send(wanted, events)
        for number, found in carried(upstream, origin, places):  # noqa: B007 - what the origin calls it is wanted below
            heard += found
    origin.send(number, answer)
    for _, events in carried(origin, upstream, places):
        server.send(1, events)
        for _, found in carried(server, client, places):
            got += found
    return said(heard), said(got)


def said(events: Sequence[Event]) -> Said:
    start: tuple[object, ...] = ()
    fields: Pairs = ()
    body, trailers, interims, whole = b"", (), [], False
    for event in events:
        match event:
            case RequestHead():
                hosts = [value for name, value in event.headers if name.lower() == b"host"]
                start = (event.method, event.target, *(hosts or [event.authority]))
                fields = event.headers
            case ResponseHead():
                start, fields = (event.status,), event.headers
            case Interim(status, headers):
                interims.append((status, plain(headers)))
            case Data(payload):
                body += payload
            case Trailers(headers):
                trailers = headers
            case End():
                whole = True
            case _:
                raise AssertionError(event)
    return Said(start, plain(fields), body, plain(trailers), tuple(interims), whole)


def plain(fields: Pairs) -> Pairs:
    """Names in lower case, cookies in one field (RFC 9113 section 8.2.3), in their order."""
    cookies = b"; ".join(value for name, value in fields if name.lower() == b"cookie").strip(b" ")
    kept = [(name.lower(), value) for name, value in fields if name.lower() not in {*ADDED, b"cookie"}]
    return (*kept, *([(b"cookie", cookies)] if any(name.lower() == b"cookie" for name, _ in fields) else []))


def run(data: bytes) -> None:
    draw = Draw(data)
    front, back = draw.pick(PROTOCOLS), draw.pick(PROTOCOLS)
    places = draw.places()
    request, answer = exchange(draw)
    heard, got = through(front, back, request, answer, places)
    assert heard == said(request), (front, back)
    assert got == said(answer), (front, back)


TARGETS = {
    "pair": Target(
        "an exchange through each pair of HTTP/1.1 and HTTP/2",
        "the origin is told what the client said, the client what the origin said, and no field more",
        run,
        lambda: [
            bytes([front, back, 1, 0, 9, 1, 2, 0, 1, 65, 4, 2, 66, 67, 1, 2, 1, 97, 1, 98, 1, 0, 0, 3, 99, 100, 101])
            for front in (0, 1)
            for back in (0, 1)
        ],
    )
}
