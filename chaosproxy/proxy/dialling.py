"""How a proxy reaches an upstream; handed in, so that it may be over sockets or over links. Must not know: who dials."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from chaosproxy.proxy.address import UpstreamAddress
from chaosproxy.wire.transport import Transport

Wrap = Callable[[Transport], Transport]
Dial = Callable[[UpstreamAddress, tuple[str, ...], Wrap], Awaitable[Transport]]


@dataclass(frozen=True, slots=True)
class Wiring:
    """What the proxy is built from."""

    upstreams: tuple[UpstreamAddress, ...]
    dial: Dial
    """`dial(address, protocols offered by ALPN, wrap)` connects, wraps the bare transport, shakes hands where the address
    says so; UpstreamFault if not."""
