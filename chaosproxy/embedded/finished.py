"""The finished exchanges, as any thread may read them and wait for them.

Must not know: Trio, what an exchange is.
"""

import threading

from chaosproxy.journal.kept import Kept
from chaosproxy.journal.record import ExchangeRecord


class Finished:
    """Filled by the proxy's thread: the latest `limit`. A record in it does not change any more."""

    def __init__(self, limit: int) -> None:
        self._changed = threading.Condition()
        self._records = Kept(limit)
        self._total = 0
        self._closed = False
        self._before = 0

    def __call__(self, record: ExchangeRecord) -> None:
        """An exchange has finished: the journal's listener."""
        with self._changed:
            if self.counts(record):
                self._total += 1
                self._records.add(record)
            self._changed.notify_all()

    def clear(self, before: int) -> None:
        """Forget them, and the running ones, up to that number."""
        with self._changed:
            self._before = before
            self._total = 0
            self._records.clear()

    def counts(self, record: ExchangeRecord) -> bool:
        """It has not been forgotten."""
        return record.id > self._before

    def close(self) -> None:
        """No more will come: whoever waits is woken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def records(self) -> list[ExchangeRecord]:
        """Those so far that are kept, oldest first; a copy."""
        with self._changed:
            return list(self._records)

    @property
    def total(self) -> int:
        """How many there have been, those let go included."""
        with self._changed:
            return self._total

    @property
    def dropped(self) -> int:
        """How many were let go to make room for later ones."""
        with self._changed:
            return self._total - len(self._records)

    def wait(self, count: int, timeout: float) -> bool:
        """Until there have been `count`, at most `timeout` seconds, and no longer than more can come; whether they are there."""
        with self._changed:
            self._changed.wait_for(lambda: self._total >= count or self._closed, timeout)
            return self._total >= count
