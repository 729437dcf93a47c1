"""An upstream's answer that nobody waits for any more, and that nobody has told it not to give.

It is taken to its end and thrown away; then the connection is free again. Must not know: who asked, and why it was left.
"""

from collections.abc import Sequence

from chaosproxy.model.messages import Abort, Data, End, Event
from chaosproxy.proxy.upstream_connection import UpstreamConnection


class Orphan:
    """Hears one stream in the place of the exchange that has left it; its request is complete."""

    def __init__(self, connection: UpstreamConnection, stream: int) -> None:
        self._connection, self._stream = connection, stream

    def response_events(self, events: Sequence[Event], now: float) -> None:
        """Credited, so that it goes on."""
        if any(isinstance(event, End | Abort) for event in events):
            self._connection.release(self._stream)
        else:
            size = sum(len(event.payload) for event in events if isinstance(event, Data))
            self._connection.credit(self._stream, size, wants=True)

    def upstream_writable(self, now: float) -> None:
        """There is nothing to send."""

    def request_unwanted(self, now: float) -> None:
        """Nor would there be."""
