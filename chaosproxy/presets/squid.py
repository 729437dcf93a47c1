"""Squid as an accelerator: it passes on what it reads, in chunks.

What broke off looks broken. That the client has left is seen at once, and a client that has closed its half has left.
Must not know: how faults work.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration
from chaosproxy.presets.preset import Plain, Source, preset, those
from chaosproxy.presets.words import FRAMES_ANEW, Proxy, answer, beside, limits

_LATER = 1.0
"""Seconds that `read_timeout` takes longer than it says, about."""
_HTML = "text/html;charset=utf-8"
_PAGE = "<!DOCTYPE html>\n<title>ERROR: The requested URL could not be retrieved</title>\n<p>{}</p>\n"


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Squid5(Proxy):
    """Debian 12's."""

    name: ClassVar[str] = "squid-5"
    about: ClassVar[str] = (
        "Squid 5 in front of a server: each event passes as it is read, and what broke off looks broken."
    )
    measured: ClassVar[str] = (
        "Squid 5.7 (Debian 12), `accel`, over HTTP/1: bursts, `read_timeout` of 2 s (it takes up to 1.4 s longer), endings of the "
        "server, clients that leave."
    )
    not_measured: ClassVar[str] = (
        "What is kept in the cache, and the default of `read_timeout`. It is checked once a second; here it takes 1 s longer. Squid speaks "
        "no HTTP/2 to clients: here a client may. Its own pages are longer."
    )
    sources: ClassVar[tuple[Source, ...]] = (
        beside("Squid 5.7"),
        Source("read_timeout", "squid.conf, `read_timeout`: 15 minutes"),
    )

    read_timeout: Duration = 900.0
    """The longest silence of the server. Default 15m."""

    def faults(self) -> list[Plain]:
        late, failed = answer(504, _PAGE.format("Read Timeout"), _HTML), answer(502, _PAGE.format("Read Error"), _HTML)
        return those(
            [
                limits([late, "abort"], idle=self.read_timeout + _LATER),
                {"broken_end": [failed, "abort"]},
                FRAMES_ANEW,
                {
                    "headers": {
                        "add": {
                            "X-Cache": "MISS from squid",
                            "X-Cache-Lookup": "MISS from squid:3128",
                            "Via": "1.1 squid (squid/5.7)",
                        }
                    }
                },
            ]
        )
