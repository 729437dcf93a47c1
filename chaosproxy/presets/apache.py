"""Apache with mod_proxy_http, which flushes before it would have to wait.

Each event passes as it is read, the head at once, whatever `flushpackets` says: mod_proxy reads until there is nothing more, and
flushes then. An answer that broke off looks broken; a server that is silent too long is a 502, not a 504. That the client has
left is seen at the next write alone, over HTTP/2 too, and a client that has only closed its half is served to the end.
Must not know: how faults work.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration
from chaosproxy.presets.preset import Plain, Preset, Source, preset, those
from chaosproxy.presets.words import FRAMES_ANEW, answer, beside, limits

_PAGE = """\
<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">
<html><head>
<title>502 Proxy Error</title>
</head><body>
<h1>Proxy Error</h1>
<p>The proxy server received an invalid
response from an upstream server.<br />
The proxy server could not handle the request
<p>Reason: <strong>Error reading from remote server</strong></p></p>
</body></html>
"""
_FAILED = answer(502, _PAGE, "text/html; charset=iso-8859-1")


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Apache24(Preset):
    """Debian 12's, with mpm_event and mod_http2."""

    name: ClassVar[str] = "apache-2.4"
    about: ClassVar[str] = (
        "Apache 2.4 with `ProxyPass`: each event passes as it is read; of a client that has left the server hears when it next "
        "says something."
    )
    measured: ClassVar[str] = (
        "Apache 2.4.71 (Debian 12), mpm_event, mod_http2 with prior knowledge: bursts with `flushpackets` off, on and auto (there "
        "is no difference), framings, mod_deflate, `ProxyTimeout`, endings of the server, clients that leave."
    )
    not_measured: ClassVar[str] = (
        "Where data comes without a pause mod_proxy gathers more of it than one read brings. mod_deflate adds `Vary` to answers, "
        "too, that it does not compress; there is none here. The Date of an answer that has none is left out."
    )
    sources: ClassVar[tuple[Source, ...]] = (
        beside("Apache 2.4.71"),
        Source(
            "ProxyTimeout", "Apache HTTP Server 2.4, mod_proxy, `ProxyTimeout`: the value of `Timeout`, which is 60 s"
        ),
        Source("AddOutputFilterByType", "Apache HTTP Server 2.4, mod_deflate"),
    )

    ProxyTimeout: Duration = 60.0
    """The longest silence of the server. Default 60s, that of `Timeout`."""
    AddOutputFilterByType: tuple[str, ...] = ()
    """`AddOutputFilterByType DEFLATE ...`: the media types that mod_deflate compresses, flushed event by event. Default: none."""

    def faults(self) -> list[Plain]:
        types = list(self.AddOutputFilterByType)
        return those(
            [
                limits([_FAILED, "abort"], idle=self.ProxyTimeout),
                {"broken_end": [_FAILED, "abort"]},
                {"client_abort": {"mode": "on_next_write", "half_close": "serve"}},
                FRAMES_ANEW,
                {"compress": {"flush": "sync", "if": {"content_type": types}}} if types else None,
                {"headers": {"add": {"Server": "Apache/2.4.71 (Debian)"}, "if": {"without_headers": {"server": "*"}}}},
            ]
        )

    def alone(self) -> Plain:
        return {"upstream": {"protocol": "http/1.1", "host": "upstream"}}
