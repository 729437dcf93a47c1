"""What one read of an HTTP/2 upstream brings for several streams leaves in one write for each client's connection.

Rules: nothing waits longer than the read is handled, nor for time; what is sent to a connection meanwhile takes along
what waits there. Only little waits, for it is taken off the room of the connection's other streams.
Must not know: streams, what is sent.
"""

from typing import Protocol

MOST = 4096
"""Bytes that may wait for one connection."""


class Writer(Protocol):
    """A connection to a client."""

    def flush(self, *, joined: bool = False) -> None: ...


class Together:
    """The connections that are to be flushed behind the read."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: dict[Writer, int] = {}

    def add(self, connection: Writer, nbytes: int) -> None:
        """Its session has so much more to write."""
        waiting = self._waiting.get(connection, 0) + nbytes
        if waiting <= MOST:
            self._waiting[connection] = waiting
        else:
            self._waiting.pop(connection, None)
            connection.flush(joined=True)

    def flush(self) -> None:
        """The read has been handled."""
        for connection in self._waiting:
            connection.flush(joined=True)
