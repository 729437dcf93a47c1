"""What an exchange needs of the proxy that has made it. Must not know: what an exchange does."""

from typing import TYPE_CHECKING, Protocol

from chaosproxy.proxy.alarm import Alarm

if TYPE_CHECKING:
    from chaosproxy.proxy.exchange import Exchange


class House(Protocol):
    """The proxy, as an exchange sees it."""

    alarm: Alarm

    def finished(self, exchange: "Exchange") -> None:
        """Journal it."""
        ...

    def bug(self, exchange: "Exchange", error: Exception) -> None:
        """Report an exception that should not have been."""
        ...
