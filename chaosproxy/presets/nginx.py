"""nginx, as `proxy_pass` alone sets it up: what it does to an answer is decided by how the server frames it.

`proxy_buffering on` does not delay a chunked answer: each read of it is passed on. An answer that ends with its connection, or
with its length, waits until a buffer is full. Up to 1.29.6 nginx asks in HTTP/1.0 unless it is told otherwise, so that most
servers answer without chunks: that is how the same configuration delays a stream on one machine and not on another.
Must not know: how faults work.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration, Size, show_duration
from chaosproxy.presets.preset import Plain, Preset, Switch, given, preset, those

PAGE = """\
<html>
<head><title>504 Gateway Time-out</title></head>
<body>
<center><h1>504 Gateway Time-out</h1></center>
<hr><center>{server}</center>
</body>
</html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nginx(Preset):
    """What all versions have in common."""

    server: ClassVar[str]
    """What its Server field says."""

    proxy_buffering: Switch = "on"
    """Whether what the server sends may wait in buffers. The server decides it for its answer by `X-Accel-Buffering: no` or
    `yes`. Default on."""
    proxy_buffer_size: Size = 4096
    """The first buffer, which the head shares. Default 4k, a page of memory (8k where pages are larger)."""
    proxy_read_timeout: Duration = 60.0
    """The longest time between two reads from the server. Default 60s."""
    proxy_ignore_client_abort: Switch = "off"
    """Whether the request to the server goes on when its client has left; that is then noticed at the next write. Default off."""

    def faults(self) -> list[Plain]:
        late = {"status": 504, "headers": {"Content-Type": "text/html"}, "body": PAGE.format(server=self.server)}
        whole: Plain = {"x-accel-buffering": "no"}
        return those(
            [
                {"timeout": {"idle": show_duration(self.proxy_read_timeout), "then": [late, "abort"]}},
                {
                    "buffer": given(
                        bytes=self.proxy_buffer_size,
                        if_={"framing": ["close_delimited", "content_length"], "without_headers": whole},
                    )
                }
                if self.proxy_buffering == "on"
                else None,
                {"hold_head": {"until": "first_byte", "if": {"protocol": "http/1.1", "without_headers": whole}}}
                if self.proxy_buffering == "on"
                else None,
                {"headers": {"set": {"Server": self.server}, "remove": ["x-accel-*"]}},
                {"client_abort": {"mode": "on_next_write", "half_close": "serve"}}
                if self.proxy_ignore_client_abort == "on"
                else None,
            ]
        )

    def alone(self) -> Plain:
        return {"upstream": {"protocol": "http/1.1", "host": "upstream"}}


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Nginx122(Nginx):
    """Debian 12's."""

    name: ClassVar[str] = "nginx-1.22"
    about: ClassVar[str] = (
        "nginx 1.22 with `proxy_pass` and nothing else: an answer without chunks waits until 4 KiB of it have come, a chunked "
        "one passes as it is read."
    )
    measured: ClassVar[str] = "nginx 1.22.1 (Debian 12)."
    server: ClassVar[str] = "nginx/1.22.1"


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Nginx131(Nginx):
    """Of 2026, from 1.29.7 on with another default."""

    name: ClassVar[str] = "nginx-1.31"
    about: ClassVar[str] = (
        "nginx 1.31 with `proxy_pass` and nothing else: a chunked answer passes as it is read, one with a length waits until "
        "4 KiB of it have come."
    )
    measured: ClassVar[str] = "nginx 1.31.3."
    server: ClassVar[str] = "nginx/1.31.3"
