"""What a change comes from, and the setting that mends it, machine by machine.

Rules: pure; who the hop is decides only where its bursts leave it open. Must not know: how the change was found, how it
is told.
"""

from enum import StrEnum

from chaosproxy.diagnose.change import Change, Trouble
from chaosproxy.diagnose.makers import Maker
from chaosproxy.diagnose.signature import Kind


class Cause(StrEnum):
    """What breaks a stream."""

    BUFFER = "buffer"
    WHOLE = "whole answer gathered"
    COMPRESSION = "compression without a flush"
    BEHIND = "compression one event behind"
    CORK = "cork of 200 ms"
    INTERVAL = "flush interval"
    NAGLE = "Nagle's algorithm"
    LUMPS = "lumps"
    CUT = "answer cut"
    REFUSED = "another answer"
    SILENT = "no answer"
    STALLS = "answer stalls"
    LOSES = "events lost"


CORK, NAGLE = (0.17, 0.26), (0.03, 0.055)
_LINUX = "its sockets need TCP_NODELAY, and no TCP_CORK or MSG_MORE"

MENDS: dict[tuple[Cause, Maker], str] = {
    (Cause.BUFFER, Maker.NGINX): "nginx: `proxy_buffering off;` in this location, or `X-Accel-Buffering: no` in the "
    "application's answer; `proxy_http_version 1.1;` lets it pass chunks on as they come, too",
    (Cause.BUFFER, Maker.CADDY): "Caddy: `flush_interval -1` in `reverse_proxy`",
    (Cause.BUFFER, Maker.TRAEFIK): "Traefik: no `buffering` middleware on this route, `flushInterval: -1` in the service",
    (Cause.BUFFER, Maker.APACHE): "Apache: `ProxyPass ... flushpackets=on`",
    (Cause.BUFFER, Maker.SQUID): "Squid: `read_ahead_gap` does not help; send streams past it",
    (Cause.BUFFER, Maker.APPLICATION): "the application: write and flush each event by itself, without a buffered writer "
    "or a middleware that gathers",
    (Cause.BUFFER, Maker.UNKNOWN): "no response buffering on this route (nginx: `proxy_buffering off;`, Caddy: "
    "`flush_interval -1`); where it honours it, `X-Accel-Buffering: no` in the application's answer",
    (Cause.WHOLE, Maker.LIGHTTPD): "lighttpd: `server.stream-response-body = 1` (or 2)",
    (Cause.WHOLE, Maker.VARNISH): "Varnish: `set beresp.do_stream = true;`, or `return (pipe);` for streams",
    (Cause.WHOLE, Maker.TRAEFIK): "Traefik: no `buffering` middleware on this route",
    (Cause.WHOLE, Maker.CADDY): "Caddy: `flush_interval -1` in `reverse_proxy`",
    (Cause.WHOLE, Maker.API_GATEWAY): "the gateway: switch response streaming on for this integration, or go past it",
    (Cause.WHOLE, Maker.CLOUDFRONT): "the function or gateway behind it: response streaming",
    (Cause.WHOLE, Maker.APPLICATION): "the application: no middleware that reads the whole body (one that joins "
    "`response.body_iterator`, or measures its length), and a streaming response in the first place",
    (Cause.WHOLE, Maker.UNKNOWN): "switch the streaming of responses on at this hop (lighttpd: `server.stream-response-body`, "
    "Varnish: `beresp.do_stream`, Traefik: no `buffering` middleware, a gateway: response streaming); in an application: no middleware that reads the whole "
    "body",
    (Cause.COMPRESSION, Maker.NGINX): "nginx: leave this type out of `gzip_types` (`gzip off;` in the location), or "
    "`proxy_buffering off;`, with which it flushes after each read",
    (Cause.COMPRESSION, Maker.HAPROXY): "HAProxy: leave this type out of `compression type`",
    (Cause.COMPRESSION, Maker.CADDY): "Caddy: leave this type out of `encode` (newer versions flush each event)",
    (Cause.COMPRESSION, Maker.VARNISH): "Varnish: `set beresp.do_gzip = false;` for streams",
    (Cause.COMPRESSION, Maker.APPLICATION): "the application: leave the stream's type out of its GZip middleware "
    "(Starlette's leaves out `text/event-stream` by itself in new versions, and no other stream), or flush the coder "
    "after each event",
    (Cause.COMPRESSION, Maker.UNKNOWN): "do not compress this type at this hop, or flush the coder after each event "
    "(`Cache-Control: no-transform` from the server, where it is honoured)",
    (Cause.BEHIND, Maker.HAPROXY): "HAProxy: leave this type out of `compression type`",
    (Cause.BEHIND, Maker.UNKNOWN): "do not compress this type at this hop (HAProxy: leave it out of `compression type`)",
    (Cause.CORK, Maker.HAPROXY): "HAProxy: `option http-no-delay`",
    (Cause.CORK, Maker.UNKNOWN): f"HAProxy: `option http-no-delay`; another machine: {_LINUX}",
    (Cause.INTERVAL, Maker.CADDY): "Caddy: `flush_interval -1` in `reverse_proxy`",
    (Cause.INTERVAL, Maker.TRAEFIK): "Traefik: `responseForwarding.flushInterval: -1` in the service",
    (Cause.INTERVAL, Maker.UNKNOWN): "its flush interval (Caddy: `flush_interval -1`, Traefik: "
    "`responseForwarding.flushInterval: -1`, Go's ReverseProxy: `FlushInterval: -1`)",
    (Cause.NAGLE, Maker.UNKNOWN): _LINUX,
    (Cause.LUMPS, Maker.UNKNOWN): "no response buffering, no compression, a flush after each event",
    (Cause.CUT, Maker.NGINX): "nginx: `proxy_read_timeout`, `send_timeout`",
    (Cause.CUT, Maker.HAPROXY): "HAProxy: `timeout server`, `timeout client`",
    (Cause.CUT, Maker.APACHE): "Apache: `ProxyTimeout`",
    (Cause.CUT, Maker.ENVOY): "Envoy: the route's `timeout` (15 s to the end of the answer by default), `stream_idle_timeout`",
    (Cause.CUT, Maker.UNKNOWN): "its limits on silence and on the whole answer; a heartbeat from the server "
    "keeps the first of them",
    (Cause.REFUSED, Maker.UNKNOWN): "its route to the one inside, and what it wants of a request",
    (Cause.SILENT, Maker.UNKNOWN): "its route to the one inside; nothing of the answer came through in the time",
    (Cause.STALLS, Maker.UNKNOWN): "what it waits for: a buffer that this answer does not fill, a limit on its rate, a "
    "connection that it has forgotten; its log tells",
    (Cause.LOSES, Maker.UNKNOWN): "it ends the answer cleanly though not all of it has come; the end of its "
    "upstream's answer should be the end of its own",
}  # fmt: skip
"""The setting, by what is wrong and whose the hop is."""

_OTHERS: dict[Cause, tuple[str, ...]] = {
    Cause.BUFFER: ("a cache that fills before it serves",),
    Cause.WHOLE: (
        "a buffer larger than the answer: a longer stream (`--dense`) tells",
        "an application that does not stream, or a middleware in it that reads the body",
    ),
    Cause.COMPRESSION: ("a buffer behind the coder: without `Accept-Encoding` it would show as well",),
    Cause.CORK: (
        "a flush interval of 200 ms",
        "a buffer that this stream happens to fill in 200 ms: a stream of another pace (`--dense`) tells",
    ),
    Cause.INTERVAL: ("a buffer of bytes, if this server writes at an even pace: another pace tells",),
    Cause.NAGLE: ("a flush interval of 40 ms",),
    Cause.LUMPS: (
        "a buffer of bytes with events of uneven size",
        "a server that makes several events at a time, and a hop that has nothing to do with it",
    ),
    Cause.CUT: ("a limit of the hop inside, met only by this way", "a hop that has crashed or was reloaded"),
}


def cause_of(change: Change, maker: Maker) -> Cause:
    """Of a change that breaks streaming."""
    match change.kind:
        case Trouble.SILENT:
            return Cause.SILENT
        case Trouble.STALLS:
            return Cause.STALLS
        case Trouble.REFUSED:
            return Cause.REFUSED
        case Trouble.BROKEN:
            return Cause.CUT
        case Trouble.LOSES:
            return Cause.LOSES
        case Trouble.BEHIND:
            return Cause.BEHIND
        case Kind.TIMED:
            return _timer(change.period)
        case _ if change.coded:
            return Cause.COMPRESSION
        case Kind.SIZED:
            return Cause.BUFFER
        case Kind.WHOLE if maker is Maker.NGINX and not change.counted:
            return Cause.BUFFER  # it has no other way to gather: the answer is smaller than its buffers
        case Kind.WHOLE if maker is Maker.VARNISH and not change.counted:
            return Cause.COMPRESSION  # who fetches the whole knows its length; who unpacks for this client does not
        case Kind.WHOLE:
            return Cause.WHOLE
        case _:
            return Cause.LUMPS


def _timer(period: float) -> Cause:
    if CORK[0] <= period <= CORK[1]:
        return Cause.CORK
    return Cause.NAGLE if NAGLE[0] <= period <= NAGLE[1] else Cause.INTERVAL


def mend(cause: Cause, maker: Maker) -> str:
    """The setting."""
    return MENDS.get((cause, maker)) or MENDS[cause, Maker.UNKNOWN]


def others(cause: Cause) -> tuple[str, ...]:
    """What else looks like this."""
    return _OTHERS.get(cause, ())
