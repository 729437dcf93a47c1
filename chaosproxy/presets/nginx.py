"""nginx as a reverse proxy: whether it delays a stream is decided by how the server frames its answer.

`proxy_buffering on` does not delay an answer in chunks: each read of it is passed on, only the head waits for the first one. An
answer that ends with its connection, or has a length, waits until a buffer of 4 KiB is full. Up to 1.29.6 nginx asks in HTTP/1.0
unless it is told otherwise, so that most servers answer without chunks: that is how the same few lines of configuration delay
the tokens of one installation and not those of another. `X-Accel-Buffering: no` in the answer turns the buffers off.
Must not know: how faults work.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from chaosproxy.model.units import Duration, Size, Within, show_duration, show_size, size
from chaosproxy.presets.preset import Plain, Preset, Source, Switch, given, preset, those
from chaosproxy.presets.words import FRAMES_ANEW, H1, answer

_PAGE = """\
<html>
<head><title>{said}</title></head>
<body>
<center><h1>{said}</h1></center>
<hr><center>{server}</center>
</body>
</html>
"""
_HINT = "x-accel-buffering"
_BUFFERS = re.compile(r" *(\d{1,6}) +(\S+) *", re.ASCII)
_DOCS = "https://nginx.org/en/docs/http/"
_MODULE = f"{_DOCS}ngx_http_proxy_module.html#"
_REAL = "nginx 1.22.1 and 1.31.3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nginx(Preset):
    """What all versions have in common."""

    server: ClassVar[str]
    """What its Server field says, where it tells its version."""
    sources: ClassVar[Sequence[Source]] = (
        Source("proxy_buffering, and the framing of the answer", _REAL, "measured", "2026-11-30"),
        Source("the first buffer shares its room with the head", _REAL, "measured", "2026-11-30"),
        Source("the head of an answer over HTTP/1 waits for the first of its body", _REAL, "measured", "2026-11-30"),
        Source("gzip with and without proxy_buffering", _REAL, "measured", "2026-11-30"),
        Source(
            "proxy_read_timeout, up to 300 ms less; what waits in a buffer then is lost",
            _REAL,
            "measured",
            "2026-11-30",
        ),
        Source("send_timeout", _REAL, "measured", "2026-11-30"),
        Source("the ends of an answer that broke off", _REAL, "measured", "2026-11-30"),
        Source("proxy_ignore_client_abort, clients that leave or half close", _REAL, "measured", "2026-11-30"),
        Source("X-Accel-Buffering", _REAL, "measured", "2026-11-30"),
        Source("proxy_http_version", _MODULE + "proxy_http_version", says="1.1 since 1.29.7, 1.0 before"),
        Source("proxy_max_temp_file_size", _MODULE + "proxy_max_temp_file_size", says="1024m; 0 writes no file"),
        Source("proxy_request_buffering", _MODULE + "proxy_request_buffering"),
        Source("gzip_types, gzip_comp_level, gzip_vary", _DOCS + "ngx_http_gzip_module.html"),
        Source("postpone_output, send_timeout, server_tokens", _DOCS + "ngx_http_core_module.html"),
    )
    not_measured: ClassVar[str] = (
        "Left out: `proxy_connect_timeout`; `gzip_min_length` and `gzip_proxied`; what nginx's own `Connection: keep-alive` and its "
        "order of fields add to a head, and a Date where the server says none; the cache. What waits in a temporary file waits in "
        "memory here."
    )

    proxy_buffering: Switch = "on"
    """Whether what the server sends may wait in buffers. The server decides it for its answer by `X-Accel-Buffering: no` or
    `yes`. Default on."""
    proxy_buffer_size: Size = 4096
    """The first buffer, which the head shares. Default 4k, a page of memory (8k where pages are larger)."""
    proxy_buffers: str = "8 4k"
    """How many further buffers of which size; a chunk that does not fit one comes late by its last part. Default `8 4k`."""
    proxy_max_temp_file_size: Size = 1024 * 1024 * 1024
    """How much of what the client does not read is taken from the server beyond the buffers. 0: nothing. Default 1024m."""
    proxy_http_version: Literal["1.0", "1.1"] = "1.1"
    """The version in which the server is asked. Default 1.1; before 1.29.7 1.0, in which servers have no chunks."""
    proxy_read_timeout: Duration = 60.0
    """The longest time between two reads from the server, less up to 300 ms by which a timer is not moved. Default 60s."""
    proxy_ignore_client_abort: Switch = "off"
    """Whether the request to the server goes on when its client has left; that is then noticed at the next write. Default off."""
    proxy_request_buffering: Switch = "on"
    """Whether a request is read whole before the server is asked, with its length. Default on."""
    send_timeout: Duration = 60.0
    """The longest time between two writes to the client, in which it takes nothing. Default 60s."""
    postpone_output: Size = 1460
    """0: the head of an answer that may wait in buffers is sent at once. Else, over HTTP/1, with the first of its body.
    Default 1460."""
    gzip: Switch = "off"
    """Whether answers are compressed for who takes it. With `proxy_buffering on` nothing is flushed before a block is full, or
    the answer ends; with `off` each read is. Default off."""
    gzip_types: tuple[str, ...] = ("text/html",)
    """Media types that are compressed besides text/html; `*` is any. Default text/html."""
    gzip_comp_level: Annotated[int, Within(1, 9)] = 1
    """The level of compression. Default 1."""
    gzip_vary: Switch = "off"
    """Whether `Vary: Accept-Encoding` is added to what may be compressed. Default off."""
    server_tokens: Switch = "on"
    """Whether the Server field, and error pages, tell the version. Default on."""

    def faults(self) -> list[Plain]:
        return those([*self._asking(), *self._reading(), *self._coding(), *self._writing()])

    def alone(self) -> Plain:
        return {"upstream": {"protocol": "http/1.1", "host": "upstream"}}

    def problems(self) -> list[tuple[str, str]]:
        found = []
        if self._buffers is None:
            found.append(("proxy_buffers", "expected a number and a size: 8 4k"))
        if self.proxy_buffer_size == 0:
            found.append(("proxy_buffer_size", "a buffer has at least one byte"))
        return found

    @property
    def _buffers(self) -> tuple[int, int] | None:
        """How many, and of which size; None if it says neither."""
        found = _BUFFERS.fullmatch(self.proxy_buffers)
        try:
            count, each = (int(found[1]), size(found[2])) if found else (0, 0)
        except ValueError:
            return None
        return (count, each) if count and each else None

    @property
    def _waits(self) -> Plain:
        """The condition for an answer that may wait in buffers."""
        return {"without_headers": {_HINT: "no"}} if self.proxy_buffering == "on" else {"headers": {_HINT: "yes"}}

    @property
    def _passes(self) -> Plain:
        """The condition for one that may not."""
        return {"headers": {_HINT: "no"}} if self.proxy_buffering == "on" else {"without_headers": {_HINT: "yes"}}

    def _asking(self) -> list[Plain | None]:
        """What the server sees of the request, nearest to it first."""
        return [
            {"framing": {"http": "1.0", "way": "request"}} if self.proxy_http_version == "1.0" else None,
            {"hold_head": {"until": "end", "content_length": True, "way": "request"}}
            if self.proxy_request_buffering == "on"
            else None,
        ]

    def _reading(self) -> list[Plain | None]:
        """The event pipe: a limit on the server, and buffers."""
        count, each = self._buffers or (1, 1)
        limit = show_duration(self.proxy_read_timeout)
        sizes = [self.proxy_buffer_size, each] if each != self.proxy_buffer_size else self.proxy_buffer_size
        unframed = ["close_delimited", "content_length"]
        lost = {"on_abort": "drop_on_rst"}
        return [
            # Its own giving up is to the buffers what a reset is: what is in them is lost.
            {
                "timeout": {
                    "first_byte": limit,
                    "between_bytes": limit,
                    "lazy": "300ms",
                    "then": [self._page(504, "504 Gateway Time-out"), "rst"],
                }
            },
            {"buffer": {"bytes": sizes, "counts_head": True, **lost, "if": {"framing": unframed, **self._waits}}},
            {"buffer": {"bytes": each, "holds": "rest", **lost, "if": {"framing": "chunked", **self._waits}}},
            {"absorb": {"bytes": show_size(count * each + self.proxy_max_temp_file_size), "if": self._waits}},
            {"broken_end": [self._page(502, "502 Bad Gateway"), "abort"]},
        ]

    def _coding(self) -> list[Plain | None]:
        if self.gzip == "off":
            return []
        types = list(dict.fromkeys(["text/html", *(word for one in self.gzip_types for word in one.split())]))
        how: Plain = {"level": self.gzip_comp_level, **given(vary=None if self.gzip_vary == "on" else False)}
        return [
            {"compress": {"coding": "gzip", "flush": flush, **how, "if": {"content_type": types, **condition}}}
            for flush, condition in (("end", self._waits), ("sync", self._passes))
        ]

    def _writing(self) -> list[Plain | None]:
        """The write filter, and what becomes of a client that does not read or that leaves."""
        held = {"until": "first_byte", "on_abort": "flush", "if": {**H1, **self._waits}}
        return [
            {"hold_head": held} if self.postpone_output else None,
            FRAMES_ANEW,
            {"headers": {"set": {"Server": self._said}, "remove": ["x-accel-*"]}},
            {"timeout": {"blocked": show_duration(self.send_timeout), "then": {"stream": "PROTOCOL_ERROR"}}},
            {"client_abort": {"mode": "on_next_write", "half_close": "serve"}}
            if self.proxy_ignore_client_abort == "on"
            else None,
        ]

    @property
    def _said(self) -> str:
        return self.server if self.server_tokens == "on" else "nginx"

    def _page(self, status: int, said: str) -> Plain:
        return answer(status, _PAGE.format(said=said, server=self._said), "text/html", Server=self._said)


_MEASURED = (
    "bursts of small and large events by framing, `proxy_buffering`, `proxy_buffers`, `postpone_output` and gzip; the head; "
    "`proxy_read_timeout` before the head and in mid-stream; `send_timeout`; endings of the server; clients that leave, half "
    "close and do not read, with and without `proxy_ignore_client_abort`; each over HTTP/1.1 and HTTP/2."
)


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Nginx122(Nginx):
    """Debian 12's."""

    name: ClassVar[str] = "nginx-1.22"
    about: ClassVar[str] = (
        "nginx 1.22 with `proxy_pass` and nothing else: it asks in HTTP/1.0, so that most servers answer without chunks, and of "
        "such an answer passes on 4 KiB at a time."
    )
    measured: ClassVar[str] = f"nginx 1.22.1 (Debian 12): {_MEASURED}"
    server: ClassVar[str] = "nginx/1.22.1"

    proxy_http_version: Literal["1.0", "1.1"] = "1.0"
    """The version in which the server is asked. Default 1.0, in which servers have no chunks."""


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Nginx131(Nginx):
    """Of 2026, from 1.29.7 on with another default."""

    name: ClassVar[str] = "nginx-1.31"
    about: ClassVar[str] = (
        "nginx 1.31 with `proxy_pass` and nothing else: an answer in chunks passes as it is read, one with a length 4 KiB at a "
        "time."
    )
    measured: ClassVar[str] = f"nginx 1.31.3: {_MEASURED}"
    server: ClassVar[str] = "nginx/1.31.3"
