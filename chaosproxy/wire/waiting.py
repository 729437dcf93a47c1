"""Where a task waits for the layer below or for time to pass, until somebody lets it look again.

Must not know: what it looks for.
"""

from collections.abc import Awaitable, Callable

import trio


class Waiting:
    """Mostly one task; the last writer of a connection may still be here when its end begins to wait. One at a time waits
    for what is below, which bears no second."""

    def __init__(self) -> None:
        self._scopes: list[trio.CancelScope] = []
        self._closed = False
        self._below_waits = False
        self._next = trio.lowlevel.ParkingLot()

    async def on(self, below: Callable[[], Awaitable[object]] | None) -> None:
        """Until `below` returns, if there is anything to wait for, or a ring. trio.ClosedResourceError once closed."""
        if not self._closed:
            with trio.CancelScope() as scope:
                self._scopes.append(scope)
                try:
                    await self._look(below)
                finally:
                    self._scopes.remove(scope)
        if self._closed:
            raise trio.ClosedResourceError("closed while somebody waited")

    async def _look(self, below: Callable[[], Awaitable[object]] | None) -> None:
        if below is None:
            await trio.sleep_forever()
            return
        while self._below_waits:
            await self._next.park()
        self._below_waits = True
        try:
            await below()
        finally:
            self._below_waits = False
            self._next.unpark()

    def ring(self) -> None:
        """Let it look again."""
        for scope in self._scopes:
            scope.cancel()

    def close(self) -> None:
        """Nobody waits here any more."""
        self._closed = True
        self.ring()
