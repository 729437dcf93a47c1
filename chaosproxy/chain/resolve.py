"""What an ending asked for becomes at a place, at a moment: the first of the list that is possible, else `abort`.

Must not know: how a session writes it, which fault asks.
"""

from chaosproxy.chain.actions import Finish, Reply
from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.stage import Stage
from chaosproxy.model.headers import first, replaced
from chaosproxy.model.messages import Abort, End, Event, Goaway, ResponseHead, Trailers
from chaosproxy.model.places import Framing, Manner, Peer, Scope

INTERNAL_ERROR = 0x2
LAST_ID = 2**31 - 1


def resolve(finish: Finish, out: Stage) -> tuple[Event, ...] | Reply | Goaway:
    """The events that end it towards the client, an answer instead, or a GOAWAY that this stream survives."""
    for ending in (*finish.endings, ABORT):
        if _possible(ending, out):
            return _made(ending, finish.cause, out)
    raise AssertionError("abort is always possible")


def _possible(ending: Ending, out: Stage) -> bool:
    match ending.kind:
        case "status":
            return out.head is None
        case "no_close_notify":
            return out.placed.context.tls
        case "clean":
            return _length_reached(out)
        case _:
            return True


def _length_reached(out: Stage) -> bool:
    head = out.head
    if not isinstance(head, ResponseHead):
        return False
    length = first(head.headers, b"content-length")
    if head.framing is not Framing.LENGTH or head.final or length is None:
        return True
    out_span = out.span
    if out_span is not None:
        out_span.settle()
    return out.bytes >= int(length)


def _made(ending: Ending, cause: str, out: Stage) -> tuple[Event, ...] | Reply | Goaway:
    context = out.placed.context
    stream = Scope.STREAM
    connection = Scope.CONNECTION
    match ending.kind:
        case "clean":
            head = out.head
            assert isinstance(head, ResponseHead)
            kind = first(head.headers, b"content-type") or b""
            if kind.startswith(b"application/grpc") and context.protocol == "h2":
                return (Trailers(((b"grpc-status", b"0"),)), End())
            return (End(),)
        case "status":
            return answer(ending.status, ending.headers, ending.body, context.request.method)
        case "fin":
            return (Abort(cause, Peer.PROXY, connection, Manner.FIN),)
        case "rst":
            return (Abort(cause, Peer.PROXY, connection, Manner.RESET),)
        case "no_close_notify":
            return (Abort(cause, Peer.PROXY, connection, Manner.NO_CLOSE_NOTIFY),)
        case "fin_mid_chunk":
            return (Abort(cause, Peer.PROXY, stream, Manner.MID_CHUNK, INTERNAL_ERROR),)
        case "silence":
            return (Abort(cause, Peer.PROXY, stream, Manner.SILENCE),)
        case "stream":
            return (Abort(cause, Peer.PROXY, stream, Manner.RESET, ending.code),)
        case "goaway":
            last = {"0": 0, "first": context.first_stream, "current": context.stream, "max": LAST_ID}[ending.last]
            if context.protocol == "h2" and context.stream <= last:
                return Goaway(ending.code, last)
            return (Abort(cause, Peer.PROXY, connection, Manner.GOAWAY, ending.code, last),)
        case _:
            return (Abort(cause, Peer.PROXY, stream, Manner.RESET, INTERNAL_ERROR),)


def answer(status: int, headers: tuple[tuple[bytes, bytes], ...], body: bytes, method: bytes) -> Reply:
    """An answer made here, framed by its length; no body where none may stand (RFC 9110 section 6.4.1)."""
    empty = status in (204, 304) or status < 200
    if not empty:
        headers = replaced(headers, b"content-length", b"%d" % len(body))
    final = empty or method == b"HEAD" or not body
    return Reply(ResponseHead(status, headers, framing=Framing.NONE if empty else Framing.LENGTH, final=final), body)
