"""HAProxy, whose kernel holds small events back for 200 ms unless it is told otherwise.

An answer in chunks, or with a length, goes to a client over HTTP/1 with MSG_MORE: what does not fill a segment waits, the head
too, and leaves 200 ms after the first byte that waits, each chunk still by itself. `option http-no-delay` ends that; over HTTP/2
it never happens, nor with answers that end with their connection, which stay so. That the server broke off is hidden from
clients over HTTP/2 by 2.6, not by 2.8. The server's connection is reset where it is not needed any more; that the client has
left is seen at the next write, but with `option abortonclose`, or in 2.8 where it was an RST_STREAM.
Must not know: how faults work.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.model.units import Duration, Size
from chaosproxy.presets.preset import Plain, Source, given, preset, those
from chaosproxy.presets.words import H1, H2, Proxy, answer, beside, broken, limits

_PAGE = "<html><body><h1>{0}</h1>\n{1}\n</body></html>\n"
_LATE = answer(504, _PAGE.format("504 Gateway Time-out", "The server didn't respond in time."), "text/html")
_BROKEN = answer(
    502, _PAGE.format("502 Bad Gateway", "The server returned an invalid or incomplete response."), "text/html"
)
_MANUAL = "HAProxy Configuration Manual, section 4.2, "


@dataclass(frozen=True, slots=True, kw_only=True)
class HAProxy(Proxy):
    """What both versions have in common."""

    broken: ClassVar[tuple[object, ...]]
    """How an answer that broke off ends for a client over HTTP/2."""
    flush: ClassVar[str]
    """When its encoder is flushed."""
    unread: ClassVar[tuple[object, ...]]
    """How it ends for a client that does not read."""
    resets: ClassVar[str]
    """What an RST_STREAM of the client does."""
    measured: ClassVar[str] = (
        "bursts of small events, the segment at an MSS of 1460, framings, `http-no-delay`, compression, `timeout server`, "
        "`timeout client`, endings of the server, clients that leave, `abortonclose`, `httpclose`"
    )
    not_measured: ClassVar[str] = (
        "On the loopback interface a segment has 65,483 bytes: "
        "`segment: 65483` is what one sees there. A client over HTTP/2 that does not read gets an END_STREAM from 2.6 after "
        "`timeout client`, here an RST_STREAM."
    )
    sources: ClassVar[tuple[Source, ...]] = (
        beside("HAProxy 2.6.12 and 2.8.25"),
        Source("timeout_server", _MANUAL + "`timeout server`: the inactivity of the server, 504 before the head"),
        Source("http_no_delay", _MANUAL + "`option http-no-delay`: for protocols that need every piece at once"),
        Source("abortonclose", _MANUAL + "`option abortonclose`"),
        Source("compression_algo", _MANUAL + "`compression algo`, `compression type`"),
    )

    timeout_server: Duration | None = None
    """`timeout server`, the longest silence of the server. HAProxy has no default, and warns where it is not set."""
    timeout_client: Duration | None = None
    """`timeout client`, the longest time in which the client takes nothing of what there is for it; it does not run while it
    only waits. HAProxy has no default, and warns where it is not set."""
    http_no_delay: bool = False
    """`option http-no-delay`: what is there is sent at once. Default false."""
    abortonclose: bool = False
    """`option abortonclose`: that the client has closed is seen at once, and ends the request. Default false."""
    httpclose: bool = False
    """`option httpclose`: the client's connection ends behind each answer. Default false."""
    compression_algo: Literal["gzip", "deflate"] | None = None
    """`compression algo`. 2.6 flushes each block when the next one comes, so that an event is late by one; 2.8 at once. Default:
    none."""
    compression_type: tuple[str, ...] = ()
    """`compression type`, the media types that are compressed. Default: all of them."""
    segment: Size = 1448
    """No setting of HAProxy's: what a segment of TCP holds on the client's path. Default 1448, an Ethernet's."""

    def faults(self) -> list[Plain]:
        types = {"content_type": list(self.compression_type)} if self.compression_type else None
        return those(
            [
                {"client_abort": {"then": "rst"}},
                limits([_LATE, "abort"], idle=self.timeout_server),
                {"broken_end": {"then": ["clean"], "if": {"framing": "close_delimited"}}},
                *broken(_BROKEN, ["abort"], self.broken),
                *([] if self.abortonclose else self._unnoticed()),
                {"compress": given(coding=self.compression_algo, flush=self.flush, if_=types)}
                if self.compression_algo
                else None,
                {"headers": {"case": "lower"}},
                {"framing": {"connection": "close", "if": H1}} if self.httpclose else None,
                None if self.http_no_delay else {"cork": {"after": "200ms", "segment": self.segment, "if": H1}},
                limits(self.unread, blocked=self.timeout_client),
            ]
        )

    def _unnoticed(self) -> list[Plain]:
        """Of the client's leaving it hears at the next write; over HTTP/2 it may read that a stream was reset."""
        late = {"mode": "on_next_write", "half_close": "serve"}
        return [
            {"client_abort": {**late, "if": H1}},
            {"client_abort": {**late, "rst_stream": self.resets, "if": H2}},
        ]


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class HAProxy26(HAProxy):
    """Debian 12's."""

    name: ClassVar[str] = "haproxy-2.6"
    about: ClassVar[str] = (
        "HAProxy 2.6 with a `bind` and a `server`: small events come every 200 ms over HTTP/1, and at once over HTTP/2, where "
        "an answer that the server broke off looks whole."
    )
    measured: ClassVar[str] = f"HAProxy 2.6.12 (Debian 12): {HAProxy.measured}."
    broken: ClassVar[tuple[object, ...]] = ("end_stream",)
    unread: ClassVar[tuple[object, ...]] = ("abort",)
    flush: ClassVar[str] = "one_behind"
    resets: ClassVar[str] = "as_mode"


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class HAProxy28(HAProxy):
    """A newer one."""

    name: ClassVar[str] = "haproxy-2.8"
    about: ClassVar[str] = (
        "HAProxy 2.8 with a `bind` and a `server`: small events come every 200 ms over HTTP/1, and at once over HTTP/2, where "
        "an answer that the server broke off ends with RST_STREAM(CANCEL)."
    )
    measured: ClassVar[str] = f"HAProxy 2.8.25: {HAProxy.measured}."
    broken: ClassVar[tuple[object, ...]] = ({"stream": "CANCEL"},)
    unread: ClassVar[tuple[object, ...]] = broken
    flush: ClassVar[str] = "sync"
    resets: ClassVar[str] = "propagate"
