"""How an ending passes from one protocol to the other, and what the journal calls it.

Before the response head an upstream's RST_STREAM passes to an HTTP/2 client, everything else is a 502. After the head:
FIN short of its framing -> FIN, RST_STREAM(INTERNAL_ERROR); RST -> RST, RST_STREAM(INTERNAL_ERROR);
RST_STREAM(c) -> FIN, RST_STREAM(c). A whole HTTP/2 connection's end counts as RST_STREAM(INTERNAL_ERROR) for each stream.
Must not know: exchanges, connections, when an ending comes.
"""

from collections.abc import Sequence
from dataclasses import replace

from chaosproxy.chain.endings import Ending
from chaosproxy.journal.record import Ending as Ended
from chaosproxy.model.codes import CANCEL, INTERNAL_ERROR, REFUSED_STREAM, code_name
from chaosproxy.model.headers import Headers
from chaosproxy.model.messages import Abort, Data, End, Event, ResponseHead
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Scope

RACES = frozenset({"upstream:fin", "upstream:rst"})


def of_upstream(wanted: Sequence[Ending], cause: str, protocol: str) -> Abort:
    """How an upstream that nobody wants any more is told: the first of `wanted` that its protocol has a word for, else
    what gateways do, which is a FIN on HTTP/1 and RST_STREAM(CANCEL) on HTTP/2."""
    for ending in wanted:
        if ending.kind == "rst":
            return Abort(cause, Peer.PROXY, Scope.CONNECTION, Manner.RESET)
        if ending.kind == "fin":
            return Abort(cause, Peer.PROXY, Scope.CONNECTION, Manner.FIN)
        if ending.kind == "stream" and protocol == "h2":
            return Abort(cause, Peer.PROXY, Scope.STREAM, Manner.RESET, ending.code)
    return Abort(cause, Peer.PROXY, Scope.STREAM, Manner.RESET, CANCEL)


def is_stream_reset(abort: Abort) -> bool:
    """The upstream ended this one stream by RST_STREAM."""
    return abort.cause.startswith("upstream:stream:")


def passed_on(abort: Abort, *, upstream: str, client: str) -> Abort:
    """What an upstream's ending becomes towards a client, each side's protocol given."""
    if client == "h2":
        code = abort.code if is_stream_reset(abort) else INTERNAL_ERROR
        return replace(abort, scope=Scope.STREAM, manner=Manner.RESET, code=code)
    if upstream != "h2" and abort.manner is Manner.RESET and abort.scope is Scope.CONNECTION:
        return abort
    return replace(abort, scope=Scope.STREAM, manner=Manner.FIN)


def may_retry(abort: Abort, *, used: bool) -> bool:
    """Whether an upstream that ended so before any answer has not seen the request: an idle connection (`used` before)
    that closed just then, or a stream above a GOAWAY's last (RFC 9110 section 9.2.2, RFC 9113 section 6.8)."""
    if used and abort.manner in (Manner.FIN, Manner.RESET) and abort.cause in RACES:
        return True
    return abort.code == REFUSED_STREAM and abort.cause.startswith("upstream:goaway")


def by_upstream(abort: Abort, protocol: str) -> Ended:
    """How the journal tells the ending of an upstream's answer that is not whole."""
    if abort.cause == "connection":
        return Ended("proxy", how(abort, protocol), "connection")
    if abort.cause == "malformed":
        return Ended("proxy", "stream:PROTOCOL_ERROR" if protocol == "h2" else "fin", "malformed")
    return Ended("upstream", abort.cause.partition("upstream:")[2])


def how(abort: Abort, protocol: str, *, chunked: bool = False) -> str:
    """The journal's name of what an ending is on the wire of `protocol`."""
    if abort.manner is Manner.SILENCE:
        return "silence"
    if abort.scope is Scope.CONNECTION:
        if abort.manner is Manner.GOAWAY:
            return f"goaway:{code_name(abort.code)}" if protocol == "h2" else "fin"
        return {Manner.RESET: "rst", Manner.NO_CLOSE_NOTIFY: "no_close_notify"}.get(abort.manner, "fin")
    if protocol == "h2":
        return f"stream:{code_name(abort.code)}"
    if abort.manner is Manner.MID_CHUNK and chunked:
        return "fin_mid_chunk"
    return "fin"


_REASONS = {
    "upstream:fin": "the upstream closed the connection",
    "upstream:rst": "the upstream reset the connection",
    "upstream:unreachable": "the upstream cannot be reached",
    "malformed": "the upstream broke HTTP",
    "connection": "another exchange has ended the upstream's connection",
}


_FRAMES = {"stream": "RST_STREAM", "goaway": "GOAWAY"}


def reason(abort: Abort) -> str:
    """One line for the client about why there is no answer of the upstream."""
    said = _REASONS.get(abort.cause)
    if said is None:
        kind, _, code = abort.cause.removeprefix("upstream:").partition(":")
        said = f"the upstream sent {_FRAMES[kind]} with {code}" if kind in _FRAMES else abort.cause
    return f"{said}: {abort.detail}" if abort.detail else said


def refusal(abort: Abort) -> str:
    """One line for a client whose request is not served."""
    return f"the request is refused: {abort.detail or abort.cause}"


def own_answer(status: int, line: str, *, close: bool, bodiless: bool) -> list[Event]:
    """An answer of the proxy itself: one line of text, which says whose it is. `close` says so to an HTTP/1 client."""
    body = f"chaosproxy: {line}\n".encode("utf-8", "replace")
    headers: Headers = ((b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()))
    if close:
        headers += ((b"connection", b"close"),)
    head = ResponseHead(status, headers, framing=Framing.LENGTH, final=bodiless)
    return [head, End()] if bodiless else [head, Data(body), End()]
