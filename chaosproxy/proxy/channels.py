"""A client's connection, as those use it who send an exchange's answer on it.

Must not know: exchanges, chains.
"""

from typing import Protocol

from chaosproxy.session import Session
from chaosproxy.wire.wire import Wire


class ClientChannel(Protocol):
    """The connection as the side that answers uses it."""

    session: Session
    blocked: bool
    broken: bool
    wire: Wire | None

    def write(self, data: bytes) -> bool: ...
    def flush(self, *, joined: bool = False) -> None: ...
    def release(self, stream: int) -> None: ...
    def resume(self) -> None: ...
    def dribble(self) -> None: ...
    def linger(self, seconds: float) -> None: ...


class ExchangeChannel(ClientChannel, Protocol):
    """The connection as the whole exchange uses it."""

    def beware(self, *, faulty: bool) -> None: ...
    def credit(self, stream: int, admitted: int, *, wants: bool) -> None: ...
    def deafen(self, stream: int) -> None: ...
    def hear(self, stream: int, now: float) -> None: ...
