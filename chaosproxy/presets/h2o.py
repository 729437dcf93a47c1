"""h2o's `proxy.reverse.url`: the head waits for the first byte of the body, and some truncated answers look whole.

A chunked answer whose connection was closed before its last chunk is whole to the client. What was reset, or took too long, ends
over HTTP/1 with what is no chunk, so that every parser complains, and with RST_STREAM(PROTOCOL_ERROR) over HTTP/2. Over HTTP/1 it
does not see that the client has left before it writes. What a client does not read is taken from the server all the same.
Must not know: how faults work.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration
from chaosproxy.presets.preset import Plain, Source, preset, those
from chaosproxy.presets.words import FRAMES_ANEW, H1, Proxy, answer, beside, limits

_BROKEN: Plain = {"stream": "PROTOCOL_ERROR"}


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class H2o22(Proxy):
    """Debian 12's."""

    name: ClassVar[str] = "h2o-2.2"
    about: ClassVar[str] = (
        "h2o 2.2 with `proxy.reverse.url`: the head comes with the first event; a chunked answer that the server broke off looks "
        "whole."
    )
    measured: ClassVar[str] = (
        "h2o 2.2.5 (Debian 12): bursts, the head, `proxy.timeout.io`, endings of the server, clients that leave."
    )
    not_measured: ClassVar[str] = "The default of `proxy.timeout.io` was not waited for."
    sources: ClassVar[tuple[Source, ...]] = (
        beside("h2o 2.2.5"),
        Source("proxy_timeout_io", "h2o documentation, proxy directives, `proxy.timeout.io`: 30000 ms"),
    )

    proxy_timeout_io: Duration = 30.0
    """`proxy.timeout.io`, the longest silence of the server (h2o counts in milliseconds). Default 30s."""

    def faults(self) -> list[Plain]:
        return those(
            [
                {"broken_end": {"then": "clean", "when": "fin", "if": {"framing": "chunked"}}},
                limits([answer(502, "I/O timeout", "text/plain; charset=utf-8"), _BROKEN], idle=self.proxy_timeout_io),
                {"client_abort": {"mode": "on_next_write", "half_close": "serve", "if": H1}},
                {"broken_end": {"then": "clean", "if": {"framing": "close_delimited"}}},
                {"broken_end": [answer(502, "I/O error (head)", "text/plain; charset=utf-8"), _BROKEN]},
                FRAMES_ANEW,
                {"chunk_syntax": {"on_abort": "\r\n1\r\n"}},
                {"hold_head": "first_byte"},
                {"absorb": {}},
                {"headers": {"set": {"Server": "h2o/2.2.5"}}},
            ]
        )
