"""What must come of each cell: by state, event and the two versions of HTTP.

From RFC 9110, 9112 and 9113, from the reference of the scenario language ("Endings"), and from what the journal promises;
not from what happens. Must not know: how the proxy is built.
"""

from dataclasses import dataclass, replace

from tests.security.matrix.events import Event
from tests.security.matrix.states import State

H2 = "h2"
End = tuple[str, str, str | None]
CLEAN: End = ("upstream", "clean", None)
LEFT = "left"
"""The client itself has: what it still sees is no whole answer."""
LATER = frozenset({"stalled", "blocked"})
"""What stands behind data that is not let through yet comes when that does."""
BEFORE = frozenset({"upload", "dialling", "waiting"})
"""The client has no head."""
CANCELLED = {"h1": "fin", "h2": "stream:CANCEL"}
"""How an upstream that nobody wants any more is told."""
ENDED = {"h1": "fin", "h2": "stream:INTERNAL_ERROR"}
"""`abort`, as a client sees it."""


@dataclass(frozen=True)
class Expected:
    """Of one cell."""

    client: str
    """What the client has seen: status, whole or cut, and how it ended."""
    upstream: str | None
    """What the upstream has seen; None: it has ended it itself."""
    end: End | None
    """by, how, cause; None: there is no exchange in the journal."""
    upstream_end: End | None
    at_once: bool = False
    """When the event comes, not when everything goes on."""


def makes_sense(state: State, event: Event, client: str, upstream: str) -> bool:
    """Whether that can happen there."""
    if state.phase == "tunnel" and client != upstream:
        return False  # 501: a tunnel is not translated
    if (event.kind == "h2 client" and client != H2) or (event.kind == "h2 upstream" and upstream != H2):
        return False
    connected = state.key == "idle" or state.phase not in ("none", "dialling", "over")
    match event.key:
        case "reset" | "fin" | "stream" | "goaway" | "goaway refused" | "stopped":
            if event.key == "stopped" and state.phase == "dialling":
                return True
            needs_stream = event.key in ("stream", "goaway refused")
            return connected and not (needs_stream and state.phase == "none")
        case "client stream":
            return state.phase not in ("none", "over")
        case "client goaway":
            return state.key not in ("connected", "handshake", "half a head")
        case "term" | "second term":
            return state.key != "handshake"  # the listener's: on sockets
    return not (event.kind == "bug" and state.phase in ("none", "over"))


def upstreams(state: State, event: Event) -> int:
    """Two, where the exchange is to have one that no other has a connection to, or that is to fail alone."""
    return 2 if event.kind == "upstream" or state.phase == "dialling" else 1


def shared(state: State, event: Event, client: str) -> bool:
    """Whether the other exchange is on the same connection of the client."""
    return (
        client == H2 and event.kind != "client" and state.key not in ("connected", "handshake", "half a head", "ending")
    )


def natural(state: State, client: str, upstream: str) -> Expected:
    """Nothing has happened."""
    if state.phase == "over":
        left = CANCELLED[upstream]
        return Expected("200 cut fin", left, ("proxy", "fin", "cut"), ("proxy", left, "cut"), at_once=True)
    status = 101 if state.phase == "tunnel" and client == "h1" else 200
    return Expected(f"{status} whole", "answered", CLEAN, CLEAN)


def expected(state: State, event: Event, client: str, upstream: str) -> Expected:
    """The rule."""
    usual = natural(state, client, upstream)
    if state.phase == "over":
        return usual  # nothing changes what has ended
    if event.kind == "client" or event.key == "client stream":
        return _left(state, event, client, upstream, usual)
    if event.kind == "bug":
        return _proxy_ends(state, client, upstream, "internal")
    if event.kind == "dial" or event.key == "killed":
        unreachable = _unreachable(state, event, upstream)
        if unreachable is not None:
            return unreachable
    match event.key:
        case "killed" | "reset":
            return _upstream_ended(state, client, upstream, "rst", usual)
        case "fin":
            return _upstream_ended(state, client, upstream, "fin", usual)
        case "stream":
            return _upstream_ended(state, client, upstream, "stream:ENHANCE_YOUR_CALM", usual)
        case "goaway refused" if (
            state.phase != "waiting"
        ):  # what was not taken is asked elsewhere (RFC 9113 section 6.8)
            return _upstream_ended(state, client, upstream, "goaway:NO_ERROR", usual)
        case "term" | "second term" if state.phase == "none":
            return Expected("nothing fin", "not asked", None, None)
        case "second term":
            return _proxy_ends(state, client, upstream, "shutdown")
    return usual


def _left(state: State, event: Event, client: str, upstream: str, usual: Expected) -> Expected:
    """A client's leaving ends what runs, at once, and the upstream is told."""
    if event.key == "client stopped":
        return usual
    if state.phase == "none":
        return Expected(LEFT, "not asked", None, None, at_once=True)
    if state.phase == "tunnel" and client == "h1" and event.key != "client reset":
        # A half-close passes through, and the other way goes on to its own end: more cannot be told of one who is dead.
        return replace(usual, client=usual.client if event.key == "client fin" else LEFT, at_once=True)
    unread = client == "h1" and state.key == "blocked"  # who is killed with something unread sends RST (RFC 2525 2.17)
    how = {"client reset": "rst", "client fin": "fin", "client stream": "stream:CANCEL"}.get(
        event.key, "rst" if unread else "fin"
    )
    end = ("client", how, None)
    if state.phase == "dialling":
        return Expected(LEFT, "not asked", end, None, at_once=True)
    told = CANCELLED[upstream]
    return Expected(LEFT, _told(state, upstream), end, ("proxy", told, f"client:{how}"), at_once=True)


def _proxy_ends(state: State, client: str, upstream: str, cause: str) -> Expected:
    """Both sides are ended at once, as `abort` ends; of a tunnel over HTTP/1 the end is a FIN, whatever it comes from."""
    how = ENDED[client]
    end = ("proxy", how, cause)
    if state.phase == "tunnel" and client == "h1":
        seen = "101 whole"
    else:
        seen = f"{'nothing' if state.phase in BEFORE else '200 cut'} {how}"
    if state.phase == "dialling":
        return Expected(seen, "not asked", end, None, at_once=True)
    return Expected(seen, _told(state, upstream), end, ("proxy", CANCELLED[upstream], cause), at_once=True)


def _told(state: State, upstream: str) -> str:
    """What an upstream sees of it: that the other way of a tunnel has ended it cannot tell from its half-close."""
    return "answered" if state.phase == "tunnel" and upstream == "h1" else CANCELLED[upstream]


def _unreachable(state: State, event: Event, upstream: str) -> Expected | None:
    """502, where a connection is needed and cannot be had."""
    refused = Expected("502 whole", "not asked", ("proxy", "clean", "upstream:unreachable"), None)
    if state.phase == "dialling":
        return replace(refused, at_once=True)
    if event.key == "killed":
        return refused if state.phase == "none" else None
    if event.key == "certificate" and state.key == "handshake":
        return Expected("nothing open", "not asked", None, None)  # it is the client that does not trust ours
    asks_anew = state.key in ("connected", "handshake", "half a head")
    return refused if asks_anew and upstream == "h1" else None  # over HTTP/2 there is one, and it has room


def _upstream_ended(state: State, client: str, upstream: str, how: str, usual: Expected) -> Expected:
    """Before the head RST_STREAM passes to an HTTP/2 client, everything else is a 502. Behind it: FIN as FIN, RST as RST
    between HTTP/1 alone; a stream's end as a stream's; never a last chunk, never END_STREAM."""
    cause = f"upstream:{how}"
    own: End = ("upstream", how, None)
    if state.phase == "none":
        return usual  # an idle connection: the next request has another one
    if state.phase == "tunnel" and (client, how) == ("h1", "fin"):
        return replace(usual, upstream=None, at_once=True)  # one way of it; a client that is told so ends the other
    if state.phase in BEFORE:
        if client == H2 and how.startswith("stream:"):
            return Expected(f"nothing {how}", None, ("upstream", how, cause), own, at_once=True)
        return Expected("502 whole", None, ("proxy", "clean", cause), own, at_once=True)
    if client == H2:
        seen = how if how.startswith("stream:") else "stream:INTERNAL_ERROR"
    else:
        seen = "rst" if how == "rst" and upstream == "h1" else "fin"
    status = 101 if state.phase == "tunnel" and client == "h1" else 200
    said = f"{status} cut {seen}"
    return Expected(said, None, ("upstream", seen, cause), own, at_once=state.key not in LATER)
