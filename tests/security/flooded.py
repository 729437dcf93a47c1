"""A session under attack, by a client or by an upstream, until it has had enough."""

from collections.abc import Callable, Iterable

from chaosproxy.http2.frames import ACK, PREFACE, frame
from chaosproxy.http2.session import Http2Session
from chaosproxy.model.messages import Abort, End, RequestHead
from chaosproxy.model.vocabulary import Role
from chaosproxy.session import Arrived, Gone
from tests.security.flooding import ASKED, BEFORE_OUR_SETTINGS, Attack, opening
from tests.security.h2_frames import SETTINGS

Made = Callable[[str, Attack], Http2Session]


def client_of(_: str, attack: Attack) -> Http2Session:
    """A server's session; its client has asked for something, and begins to attack."""
    session = Http2Session(Role.SERVER)
    session.receive(PREFACE + frame(SETTINGS, 0, 0) + frame(SETTINGS, ACK, 0) + opening(1) + attack.first)
    session.outgoing()
    return session


def upstream_of(name: str, attack: Attack) -> Http2Session:
    """A client's session; its upstream has been asked for something, and begins to attack."""
    session = Http2Session(Role.CLIENT)
    session.receive(frame(SETTINGS, 0, 0) + (b"" if name in BEFORE_OUR_SETTINGS else frame(SETTINGS, ACK, 0)))
    for _ in range(ASKED):
        session.send(session.open(), [RequestHead(b"GET", b"/", authority=b"a", final=True), End()])
    if attack.first:
        session.receive(attack.first)
    session.outgoing()
    return session


def until_cut(session: Http2Session, attack: Attack, most: int = 100_000) -> tuple[int, set[str], bytes]:
    """How many of its parts came in, as what it went into the journal, the last that was written."""
    causes, written, count = set[str](), b"", 0
    for count, part in enumerate(attack.parts(), 1):
        for signal in session.receive(part):
            ends: Iterable[object] = signal.events if isinstance(signal, Arrived) else ()
            if isinstance(signal, Gone):
                ends = (signal.abort,)
            causes |= {one.cause for one in ends if isinstance(one, Abort)}
        written = b"".join(session.outgoing()) or written
        if session.closing is not None or count > attack.within or count >= most:
            break
    return count, causes, written
