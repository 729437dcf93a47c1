"""`tls`: the handshake goes wrong: the certificate is not one to be trusted, or the handshake does not go on.

Imitates a certificate that nobody has renewed, one for another name (a default host, a proxy in between), one of an authority
that the client does not know (a corporate proxy, a private CA), a server that takes the connection and has no time for
the handshake, and one that knows no ALPN (RFC 7301), so that HTTP/2 is never agreed on. A client that looks refuses the first
three, and nothing has been asked; one that was told not to look goes on.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import FOREVER, Action, Actions, Note, Pause
from chaosproxy.chain.connection_spec import NO_ALPN, ConnectionSpec, Flaw
from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.model.messages import Data
from chaosproxy.model.units import Duration, lasting

ROOM = 64 * 1024
_WORDS: dict[Flaw, str] = {
    "expired": "that has expired",
    "wrong_host": "for another host",
    "unknown_authority": "of an unknown authority",
}


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Tls(ConnectionSpec):
    """What clients see of the handshake, where the proxy listens under TLS. At least one of these; several flaws are those of
    one certificate."""

    name: ClassVar[str] = "tls"
    main: ClassVar[str | None] = "certificate"
    sides: ClassVar[frozenset[str]] = frozenset({"client"})

    certificate: Flaw | None = None
    """`expired`, `wrong_host` or `unknown_authority`: the same as `true` for one of these. With a certificate of your own
    (`--tls CERT:KEY`) what is shown in its place is of an unknown authority in any case, for only its own could sign it."""
    expired: bool = False
    """Its time was over yesterday. Default false."""
    wrong_host: bool = False
    """It names another host. Default false."""
    unknown_authority: bool = False
    """It is signed by an authority that nobody trusts. Default false."""
    alpn: bool = True
    """`false`: whatever protocols the client offers, none is chosen. It speaks HTTP/1.1 then, or gives up. Default true."""
    stall: Duration = 0.0
    """How long the handshake waits before the server's first byte; `forever` is allowed. Default 0."""

    @property
    def flaws(self) -> frozenset[str]:
        given: dict[str, bool] = {
            "expired": self.expired,
            "wrong_host": self.wrong_host,
            "unknown_authority": self.unknown_authority,
            NO_ALPN: not self.alpn,
        }
        return frozenset(flaw for flaw, is_given in given.items() if is_given or flaw == self.certificate)

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = super(Tls, self).problems()
        if not self.flaws and not self.stall:
            found.append(((), "nothing goes wrong; expected expired, wrong_host, unknown_authority, alpn or stall"))
        return found

    def start(self, context: Context) -> Fault:
        return RunningTls(self, context)


class RunningTls(Fault):
    """Awake until the server has begun to speak: whoever shakes hands shows the certificate."""

    capacity = ROOM

    def __init__(self, spec: Tls, context: Context) -> None:
        self._stall = spec.stall / context.speed
        said = [f"a certificate {_WORDS[flaw]}" for flaw in _WORDS if flaw in spec.flaws]
        if not spec.alpn:
            said.append("no protocol is chosen")
        if spec.stall:
            said.insert(0, f"the handshake stalls {lasting(spec.stall)}")
        self._said = ", ".join(said)
        if not context.tls:
            self.rest, self.unfired = FOREVER, "no TLS"

    def data(self, data: Data, now: float) -> Actions:
        pause: tuple[Action, ...] = (Pause(now + self._stall),) if self._stall else ()
        return (*pause, Note("fired", self._said), data, FOREVER)
