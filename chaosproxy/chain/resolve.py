"""What an ending asked for becomes at a place, at a moment: the first of the list that is possible, else `abort`.

Must not know: how a session writes it, which fault asks.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from chaosproxy.chain.actions import Finish, Reply
from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.model.codes import INTERNAL_ERROR
from chaosproxy.model.headers import Headers, first, replaced
from chaosproxy.model.messages import Abort, Data, End, Event, Goaway, ResponseHead, Trailers, in_chunks
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Scope

if TYPE_CHECKING:
    from chaosproxy.chain.place import Place

LAST_ID = 2**31 - 1


def chosen(finish: Finish, out: "Place") -> Ending:
    """The first ending that is possible where `out` lets go towards the client."""
    return next((ending for ending in finish.endings if _possible(ending, out)), ABORT)


def breaks_in_chunk(finish: Finish, out: "Place") -> bool:
    """Whether it ends in the middle of a chunk that has been announced whole: on HTTP/1 with a chunked body."""
    if not isinstance(out.head, ResponseHead) or out.placed.context.protocol == "h2":
        return False
    return in_chunks(out.head) and chosen(finish, out).kind == "fin_mid_chunk"


def _possible(ending: Ending, out: "Place") -> bool:
    match ending.kind:
        case "status":
            return not out.passed_head and out.director.has_heads
        case "no_close_notify":
            return out.placed.context.tls
        case "clean":
            return out.passed_head and _length_reached(out)
        case "end_stream":
            return out.passed_head and out.placed.context.protocol == "h2"
        case _:
            return True


def _length_reached(out: "Place") -> bool:
    head = out.head
    assert isinstance(head, ResponseHead)
    length = first(head.headers, b"content-length")
    if head.framing not in (Framing.LENGTH, Framing.STREAM) or head.final or length is None:
        return True
    return out.let_go >= int(length)


def survives(ending: Ending, out: "Place") -> bool:
    """A GOAWAY whose last id leaves this stream alive."""
    context = out.placed.context
    return ending.kind == "goaway" and context.protocol == "h2" and context.stream <= _last(ending, out)


def _last(ending: Ending, out: "Place") -> int:
    context = out.placed.context
    return {"0": 0, "first": context.first_stream, "current": context.stream, "max": LAST_ID}[ending.last]


def made(ending: Ending, cause: str, out: "Place") -> tuple[Event, ...] | Reply:
    """The events that end it towards the client, or an answer instead."""
    context = out.placed.context
    stream, connection, proxy = Scope.STREAM, Scope.CONNECTION, Peer.PROXY
    match ending.kind:
        case "clean" | "end_stream":
            return _clean(ending, out)
        case "status":
            return answer(ending.status, ending.headers, ending.body, context.request.method)
        case "fin":
            return (Abort(cause, proxy, connection, Manner.FIN),)
        case "rst":
            return (Abort(cause, proxy, connection, Manner.RESET),)
        case "no_close_notify":
            return (Abort(cause, proxy, connection, Manner.NO_CLOSE_NOTIFY),)
        case "fin_mid_chunk":
            return (Abort(cause, proxy, stream, Manner.MID_CHUNK, INTERNAL_ERROR),)
        case "silence":
            return (Abort(cause, proxy, stream, Manner.SILENCE),)
        case "stream":
            return (Abort(cause, proxy, stream, Manner.RESET, ending.code),)
        case "goaway":
            last = _last(ending, out)
            if survives(ending, out):
                return (Goaway(ending.code, last),)
            return (Abort(cause, proxy, connection, Manner.GOAWAY, ending.code, last),)
        case _:
            return (Abort(cause, proxy, stream, Manner.RESET, INTERNAL_ERROR),)


def overtaking(event: Event) -> Event:
    """An Abort that waits for nothing in front of it."""
    if not isinstance(event, Abort):
        return event  # a clean end is one behind everything
    at_once = event.scope is Scope.STREAM and event.manner is Manner.RESET
    return replace(event, manner=Manner.AT_ONCE if at_once else event.manner, overtakes=True)


def _clean(ending: Ending, out: "Place") -> tuple[Event, ...]:
    head = out.head
    assert isinstance(head, ResponseHead)
    if ending.headers:
        return (Trailers(ending.headers), End())
    kind = first(head.headers, b"content-type") or b""
    if _has_status(kind) and out.placed.context.protocol == "h2":
        return (Trailers(((b"grpc-status", b"0"),)), End())  # a gRPC answer without its status is no clean one
    return (End(),)


def _has_status(content_type: bytes) -> bool:
    """Its trailers hold a status of gRPC; those of gRPC-Web stand in the body."""
    return content_type.startswith(b"application/grpc") and not content_type.startswith(b"application/grpc-web")


def answer(status: int, headers: Headers, body: bytes, method: bytes) -> Reply:
    """An answer made here, framed by its length; no body where none may stand (RFC 9110 section 6.4.1)."""
    empty = status in (204, 304)
    if not empty:
        headers = replaced(headers, b"content-length", b"%d" % len(body))
    final = empty or method == b"HEAD" or not body
    return Reply(ResponseHead(status, headers, framing=Framing.NONE if empty else Framing.LENGTH, final=final), body)


def events_of(reply: Reply) -> tuple[Event, ...]:
    """The whole answer, as it travels on."""
    if reply.body and not reply.head.final:
        return (reply.head, Data(reply.body), End())
    return (reply.head, End())
