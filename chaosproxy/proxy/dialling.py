"""How a proxy reaches an upstream; handed in, so that it may be over sockets or over links. Must not know: who dials."""

from collections.abc import Awaitable, Callable

from chaosproxy.proxy.address import UpstreamAddress
from chaosproxy.wire.transport import Transport

Wrap = Callable[[Transport], Transport]
Dial = Callable[[UpstreamAddress, tuple[str, ...], Wrap], Awaitable[Transport]]
