"""Where a task waits for the layer below or for time to pass, until somebody lets it look again.

Must not know: what it looks for.
"""

from collections.abc import Awaitable, Callable

import trio


class Waiting:
    """Mostly one task; the last writer of a connection may still be here when its end begins to wait."""

    def __init__(self) -> None:
        self._scopes: list[trio.CancelScope] = []
        self._closed = False

    async def on(self, below: Callable[[], Awaitable[object]] | None) -> None:
        """Until `below` returns, if there is anything to wait for, or a ring. trio.ClosedResourceError once closed."""
        if not self._closed:
            with trio.CancelScope() as scope:
                self._scopes.append(scope)
                try:
                    await (trio.sleep_forever if below is None else below)()
                finally:
                    self._scopes.remove(scope)
        if self._closed:
            raise trio.ClosedResourceError("closed while somebody waited")

    def ring(self) -> None:
        """Let it look again."""
        for scope in self._scopes:
            scope.cancel()

    def close(self) -> None:
        """Nobody waits here any more."""
        self._closed = True
        self.ring()
