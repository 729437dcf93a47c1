"""The other end of a session under test: raw frames in, what it writes read back, and every test at two cuts."""

from dataclasses import dataclass

import pytest
from hpack import Decoder, Encoder
from hyperframe.frame import Frame

from chaosproxy.http2.frames import ACK, END_HEADERS, END_STREAM, PREFACE, frame
from chaosproxy.http2.session import Http2Session
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.vocabulary import Framing, Role
from chaosproxy.session import Arrived, Granted

NAMES = (
    "DATA",
    "HEADERS",
    "PRIORITY",
    "RST_STREAM",
    "SETTINGS",
    "PUSH_PROMISE",
    "PING",
    "GOAWAY",
    "WINDOW_UPDATE",
    "CONTINUATION",
)
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
GET = ((b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a"), (b":path", b"/"))
POST = ((b":method", b"POST"), *GET[1:])
OK = ((b":status", b"200"),)


@dataclass
class Written:
    """One frame that the session wrote."""

    kind: str
    stream: int
    ends: bool
    body: object
    """Header fields, payload bytes, or the number that the frame carries."""


class Wire:
    """A session and its raw peer. `feed` gives the flat list of (stream, event) and other signals."""

    def __init__(self, role, bytewise, **options):
        self.session = Http2Session(role, **options)
        self.bytewise = bytewise
        self.encoder, self.decoder = Encoder(), Decoder()
        self.greeting = self.written()

    def feed(self, *parts):
        data = b"".join(parts)
        signals = []
        for piece in (data[at : at + 1] for at in range(len(data))) if self.bytewise else [data]:
            signals += self.session.receive(piece)
        return flat(signals)

    def written(self):
        data = b"".join(self.session.outgoing()).removeprefix(PREFACE)
        found = []
        while data:
            parsed, size = Frame.parse_frame_header(memoryview(data[:9]))
            parsed.parse_body(memoryview(data[9 : 9 + size]))
            payload, data = data[9 : 9 + size], data[9 + size :]
            kind = NAMES[parsed.type]
            body = payload
            if kind == "HEADERS":
                body = [(bytes(name), bytes(value)) for name, value in self.decoder.decode(parsed.data, raw=True)]
            elif kind in ("RST_STREAM", "WINDOW_UPDATE"):
                body = int.from_bytes(payload, "big")
            elif kind == "GOAWAY":
                body = (parsed.error_code, parsed.last_stream_id)
            found.append(Written(kind, parsed.stream_id, "END_STREAM" in parsed.flags, body))
        return found

    def headers(self, stream, fields, *, end=False, flags=END_HEADERS):
        return frame(HEADERS, flags | (END_STREAM if end else 0), stream, self.encoder.encode(fields))

    def data(self, stream, payload, *, end=False):
        return frame(DATA, END_STREAM if end else 0, stream, payload)


def flat(signals):
    """Signals with the events of each Arrived one by one; Granted left out, it may always come."""
    found = []
    for signal in signals:
        if isinstance(signal, Arrived):
            found += [(signal.stream, event) for event in signal.events]
        elif not isinstance(signal, Granted):
            found.append(signal)
    return found


@pytest.fixture(params=[False, True], ids=["whole", "bytes"])
def bytewise(request):
    return request.param


@pytest.fixture
def make_server(bytewise):
    """A server role session whose client has greeted."""

    def make(**options):
        wire = Wire(Role.SERVER, bytewise, **options)
        wire.feed(PREFACE, frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0))
        wire.written()
        return wire

    return make


@pytest.fixture
def make_client(bytewise):
    """A client role session whose upstream has greeted."""

    def make(**options):
        wire = Wire(Role.CLIENT, bytewise, **options)
        wire.feed(frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0))
        wire.written()
        return wire

    return make


@pytest.fixture
def server(make_server):
    return make_server()


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def asked(client):
    """A client role session that has asked `GET /` on stream 1."""
    client.session.send(client.session.open(), [RequestHead(b"GET", b"/", authority=b"a", final=True)])
    client.written()
    return client


@pytest.fixture
def uploading(client):
    """A client role session that is sending the body of a POST on stream 1."""
    head = RequestHead(b"POST", b"/", authority=b"a", framing=Framing.STREAM)
    client.session.send(client.session.open(), [head])
    client.written()
    return client
