"""What the tests of HTTP/1.1 share: cutting bytes into reads, and playing a server session against its client."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from chaosproxy.http1.session import Http1Session
from chaosproxy.model.messages import Abort, Data, End, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Role
from chaosproxy.session import Arrived

OK = ResponseHead(200, ((b"Content-Length", b"0"),), final=True)


@dataclass
class Message:
    """What one way of one exchange brought, independent of the cut."""

    head: object = None
    interims: list = field(default_factory=list)
    body: bytes = b""
    trailers: tuple = ()
    terminal: object = None

    def take(self, event):
        assert self.terminal is None, "an event behind the terminal"
        match event:
            case RequestHead() | ResponseHead():
                assert self.head is None
                self.head = event
            case Data(payload):
                assert payload
                self.body += payload
            case Trailers(headers):
                self.trailers = headers
            case End() | Abort():
                self.terminal = event
            case _:
                self.interims.append(event)


def messages(signals, into=None):
    """The messages in `signals` by stream number."""
    found = {} if into is None else into
    for signal in signals:
        if isinstance(signal, Arrived):
            assert signal.events
            for event in signal.events:
                found.setdefault(signal.stream, Message()).take(event)
    return found


def every_cut(data):
    """Whole, byte by byte, and at every single place."""
    yield [data]
    yield [data[i : i + 1] for i in range(len(data))]
    for at in range(1, len(data)):
        yield [data[:at], data[at:]]


def served(pieces):
    """A server session fed `pieces`, every complete request answered at once: the requests, and the session."""
    session = Http1Session(Role.SERVER)
    found = {}
    answered = 0

    def settle(signals):
        nonlocal answered
        while True:
            messages(signals, found)
            following = answered + 1
            if following not in found or found[following].terminal is None:
                return
            answered = following
            session.send(following, [OK, End()])
            signals = session.resume()

    for piece in pieces:
        settle(session.receive(piece))
    return found, session


def answered(pieces, method=b"GET", *, upgrade=b""):
    """A client session that has asked once and is fed `pieces` in answer: the answer, all signals, the session."""
    session = Http1Session(Role.CLIENT)
    stream = session.open()
    target = b"a:1" if method == b"CONNECT" else b"/"
    head = RequestHead(method, target, ((b"Host", b"a"),), final=True, upgrade=upgrade)
    session.send(stream, [head] if upgrade or method == b"CONNECT" else [head, End()])
    session.outgoing()
    signals = []
    for piece in pieces:
        signals += session.receive(piece)
    return messages(signals).get(stream, Message()), signals, session


@pytest.fixture(scope="session")
def h1():
    return SimpleNamespace(messages=messages, every_cut=every_cut, served=served, answered=answered, OK=OK)
