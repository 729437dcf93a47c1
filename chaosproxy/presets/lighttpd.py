"""lighttpd's mod_proxy, which has all of an answer before it begins, unless it is told to stream.

With `server.stream-response-body = 0`, its default, head and body come at the end with a Content-Length: that of what has come,
so that nobody sees that the server broke off. With 1 or 2 each event passes as it is read, and what broke off looks broken over
HTTP/1 and whole over HTTP/2. Short of a Content-Length the FIN comes some seconds late over HTTP/1: the connection waits to be
used again. There, too, it does not see that the client has left.
Must not know: how faults work.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.model.units import Duration
from chaosproxy.presets.preset import Plain, Source, preset, those
from chaosproxy.presets.words import FRAMES_ANEW, H1, H2, Proxy, answer, beside, limits

_DOCUMENTS = "lighttpd documentation, "


def _page(status: str) -> str:
    return (
        '<?xml version="1.0" encoding="iso-8859-1"?>\n'
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"\n'
        '         "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">\n'
        f" <head>\n  <title>{status}</title>\n </head>\n <body>\n  <h1>{status}</h1>\n </body>\n</html>\n"
    )


def _failed(status: str) -> Plain:
    return answer(int(status[:3]), _page(status), "text/html")


_FAILED = _failed("500 Internal Server Error")
_SIZED = "content_length"
_UNKNOWN: Plain = {"framing": ["chunked", "close_delimited"]}
_WAITS = "5s"
"""`server.max-keep-alive-idle`, for which a connection waits whose answer is short of its length."""
_SPARING = 2
"""The mode in which the server has to wait for a client that does not read."""
_LATER = 2.0
"""Seconds that `read-timeout` takes longer than it says, at least."""


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Lighttpd14(Proxy):
    """Debian 12's."""

    name: ClassVar[str] = "lighttpd-1.4"
    about: ClassVar[str] = (
        "lighttpd 1.4 with mod_proxy: the whole answer comes at its end, with a Content-Length, also where the server broke off."
    )
    measured: ClassVar[str] = (
        "lighttpd 1.4.69 (Debian 12): bursts with `server.stream-response-body` 0, 1 and 2, `read-timeout` of 1 to 5 s (it takes 2 "
        "to 3 s longer), endings of the server, clients that leave."
    )
    not_measured: ClassVar[str] = (
        "mod_deflate. `read-timeout` is checked once a second; here it takes exactly 2 s longer than it says. The Date of an answer "
        "that has none is left out, and so are the seconds for which a connection stays open behind a whole answer. With 0 a silence "
        "in mid-stream becomes a 404 behind the real one, here a 500."
    )
    sources: ClassVar[tuple[Source, ...]] = (
        beside("lighttpd 1.4.69"),
        Source(
            "stream_response_body",
            _DOCUMENTS + "`server.stream-response-body`: 0 buffers, 1 streams, 2 streams with little memory",
        ),
        Source("read_timeout", _DOCUMENTS + "mod_proxy, backend option `read-timeout`"),
    )

    stream_response_body: Literal[0, 1, 2] = 0
    """`server.stream-response-body`: 0 has all of it first, 1 and 2 do not. Default 0."""
    read_timeout: Duration | None = None
    """`read-timeout` of the backend, the longest silence of the server. Its default is left out here."""

    def faults(self) -> list[Plain]:
        idle = None if self.read_timeout is None else self.read_timeout + _LATER
        whole = self.stream_response_body == 0
        return those(
            [
                {"framing": {"connection": "close", "way": "request"}},
                {"broken_end": {"then": "clean", "if": _UNKNOWN}} if whole else None,
                limits([_failed("504 Gateway Timeout"), "abort"], idle=idle),
                {"client_abort": {"mode": "ignore" if whole else "on_next_write", "half_close": "serve", "if": H1}},
                *(self._whole() if whole else []),
                {"absorb": {}} if self.stream_response_body < _SPARING else None,
                {"broken_end": {"then": [_FAILED, "end_stream"], "if": H2}},
                {"broken_end": {"then": "abort", "when": "fin", "delay": _WAITS, "if": {**H1, "framing": _SIZED}}},
                {"broken_end": {"then": [_FAILED, "abort"], "if": H1}},
                FRAMES_ANEW,
                {"headers": {"add": {"Accept-Ranges": "bytes"}}} if whole else None,
                {"headers": {"add": {"Server": "lighttpd/1.4.69"}, "if": {"without_headers": {"server": "*"}}}},
            ]
        )

    def _whole(self) -> list[Plain]:
        """All of it is there before it begins, or it does not begin; but what had a length begins with what there is."""
        held = {"until": "end", "content_length": True}
        return [
            {"hold_head": {**held, "on_abort": "flush", "if": {"framing": _SIZED}}},
            {"hold_head": {**held, "if": _UNKNOWN}},
        ]
