"""The journal of a run: finished exchanges in memory, and whoever wants to hear of each.

Must not know: files, terminals; they are listeners.
"""

from collections.abc import Callable

from chaosproxy.journal.kept import Kept
from chaosproxy.journal.record import ExchangeRecord

Listener = Callable[[ExchangeRecord], None]


class Journal:
    """Keeps the latest `limit` finished exchanges, fewer where their heads are large (None = all); `dropped` counts those
    let go."""

    def __init__(self, limit: int | None = None) -> None:
        self._records = Kept(limit)
        self._listeners: list[Listener] = []
        self.total = 0

    def listen(self, listener: Listener) -> None:
        """Call `listener` with each exchange as it finishes. It must not raise, nor wait."""
        self._listeners.append(listener)

    def add(self, record: ExchangeRecord) -> None:
        """A finished exchange."""
        self.total += 1
        self._records.add(record)
        for listener in self._listeners:
            listener(record)

    @property
    def dropped(self) -> int:
        """Finished exchanges that are no longer kept. The listeners have heard of them."""
        return self.total - len(self._records)

    @property
    def exchanges(self) -> list[ExchangeRecord]:
        """The finished exchanges still kept, oldest first."""
        return list(self._records)
