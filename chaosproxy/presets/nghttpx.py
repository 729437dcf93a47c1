"""nghttpx, the proxy of nghttp2: it passes on what it reads, framed as it came.

An answer that ends with its connection does so behind nghttpx, too. What broke off looks broken; that the client has left is seen
at once, and a client that has closed its half has left.
Must not know: how faults work.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration
from chaosproxy.presets.preset import Plain, Source, preset, those
from chaosproxy.presets.words import H1, Proxy, answer, beside, limits

_PAGE = "<!DOCTYPE html><title>{0}</title><h1>{0}</h1><footer>nghttpx</footer>"


def _failed(status: str) -> Plain:
    return answer(int(status[:3]), _PAGE.format(status), "text/html; charset=UTF-8")


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Nghttpx152(Proxy):
    """Debian 12's."""

    name: ClassVar[str] = "nghttpx-1.52"
    about: ClassVar[str] = (
        "nghttpx 1.52 with a backend: each event passes as it is read, and what broke off looks broken."
    )
    measured: ClassVar[str] = (
        "nghttpx 1.52.0 (Debian 12): bursts, framings, `--backend-read-timeout`, endings of the server, clients that leave."
    )
    not_measured: ClassVar[str] = "The default of `--backend-read-timeout` was not waited for."
    sources: ClassVar[tuple[Source, ...]] = (
        beside("nghttpx 1.52.0"),
        Source("backend_read_timeout", "nghttpx(1), `--backend-read-timeout`: 1m"),
    )

    backend_read_timeout: Duration = 60.0
    """`--backend-read-timeout`, the longest silence of the server. Default 1m."""

    def faults(self) -> list[Plain]:
        return those(
            [
                limits([_failed("504 Gateway Timeout"), "abort"], idle=self.backend_read_timeout),
                {"broken_end": [_failed("502 Bad Gateway"), "abort"]},
                {"framing": {"connection": "close", "if": {**H1, "status": 504}}},
                {"headers": {"set": {"Server": "nghttpx"}, "add": {"Via": "1.1 nghttpx"}}},
            ]
        )
