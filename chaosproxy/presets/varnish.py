"""Varnish, whose streaming is a matter of two switches.

With `do_stream` each event passes as it is read; without it, or with `do_gzip`, nothing comes before the end. What the server
broke off looks broken over HTTP/1 and whole over HTTP/2, short of its Content-Length too. That the client has left is seen at the
next write; of what is fetched whole, never.
Must not know: how faults work.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration
from chaosproxy.presets.preset import Plain, Source, preset, those
from chaosproxy.presets.words import ABORTS, FRAMES_ANEW, GZIP, Proxy, answer, beside, broken, limits

_PAGE = """\
<!DOCTYPE html>
<html>
  <head>
    <title>503 Backend fetch failed</title>
  </head>
  <body>
    <h1>Error 503 Backend fetch failed</h1>
    <p>Backend fetch failed</p>
    <h3>Guru Meditation:</h3>
    <p>XID: 3</p>
    <hr>
    <p>Varnish cache server</p>
  </body>
</html>
"""
_FAILED = answer(503, _PAGE, "text/html; charset=utf-8", **{"Server": "Varnish", "Retry-After": "5"})
_MANUAL = "Varnish 7.1, vcl(7), "


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Varnish7(Proxy):
    """Debian 12's."""

    name: ClassVar[str] = "varnish-7"
    about: ClassVar[str] = (
        "Varnish 7 that passes: each event as it is read; what the server broke off looks whole to a client over HTTP/2."
    )
    measured: ClassVar[str] = (
        "Varnish 7.1.1 (Debian 12), answers that are passed or piped: bursts with `do_stream` and without, `do_gzip`, "
        "`first_byte_timeout` and `between_bytes_timeout`, endings of the server, clients that leave."
    )
    not_measured: ClassVar[str] = (
        "What is kept in the cache. Varnish writes each chunk's size with two zeros in front of it, but "
        "for the last. X-Varnish is always 2. The Date of an answer that has none is left out."
    )
    sources: ClassVar[tuple[Source, ...]] = (
        beside("Varnish 7.1.1"),
        Source("do_stream, do_gzip", _MANUAL + "`beresp.do_stream`, `beresp.do_gzip`"),
        Source("first_byte_timeout, between_bytes_timeout", "Varnish 7.1, varnishd(1): 60 s each"),
        Source("pipe", "Varnish 7.1, vcl-step(7): `pipe` passes bytes in both directions and looks at nothing"),
    )

    pipe: bool = False
    """`return (pipe);` in place of `return (pass);`: from there on bytes are passed and nothing else is done. Default false."""
    do_stream: bool = True
    """`beresp.do_stream`: whether it begins before it has all of it. Default true."""
    do_gzip: bool = False
    """`beresp.do_gzip`. Default false."""
    first_byte_timeout: Duration = 60.0
    """The longest time to the head of the answer. Default 60s."""
    between_bytes_timeout: Duration = 60.0
    """The longest silence behind it. Default 60s."""

    def faults(self) -> list[Plain]:
        if self.pipe:
            return [ABORTS]
        late = limits([_FAILED, "abort"], first_byte=self.first_byte_timeout, between_bytes=self.between_bytes_timeout)
        whole = not self.do_stream
        return those(
            [
                late,
                {
                    "client_abort": {
                        "mode": "ignore" if whole or self.do_gzip else "on_next_write",
                        "half_close": "serve",
                    }
                },
                {"compress": {"flush": "end"}} if self.do_gzip else None,
                {"hold_head": {"until": "end", "content_length": True}} if whole else None,
                *(self._plain() if self.do_gzip and not whole else []),
                {"absorb": {}} if self.do_stream else None,
                *broken(_FAILED, ["abort"], ["end_stream"]),
                FRAMES_ANEW,
                {"chunk_syntax": {"zeros": 2}},
                {"headers": {"set": {"X-Varnish": 2, "Age": 0, "Via": "1.1 varnish (Varnish/7.1)"}}},
            ]
        )

    def _plain(self) -> list[Plain]:
        """What is compressed is so in the cache, and a client that does not take it has it when it is whole, with its head."""
        plain: Plain = {"without_client_headers": {"accept-encoding": GZIP}}
        return [
            {"buffer": {"until_end": True, "on_abort": "drop", "if": plain}},
            {"hold_head": {"until": "first_byte", "on_abort": "flush", "if": plain}},
        ]
