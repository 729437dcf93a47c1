"""Where a task waits for the layer below or for time to pass, until somebody lets it look again.

Must not know: what it looks for.
"""

from collections.abc import Awaitable, Callable

import trio


class Waiting:
    """One task at a time waits here."""

    def __init__(self) -> None:
        self._scope: trio.CancelScope | None = None
        self._closed = False

    async def on(self, below: Callable[[], Awaitable[object]] | None) -> None:
        """Until `below` returns, if there is anything to wait for, or a ring. trio.ClosedResourceError once closed."""
        if not self._closed:
            with trio.CancelScope() as self._scope:
                await (trio.sleep_forever if below is None else below)()
            self._scope = None
        if self._closed:
            raise trio.ClosedResourceError("closed while somebody waited")

    def ring(self) -> None:
        """Let it look again."""
        if self._scope is not None:
            self._scope.cancel()

    def close(self) -> None:
        """Nobody waits here any more."""
        self._closed = True
        self.ring()
