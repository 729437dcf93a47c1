"""The finished exchanges, as any thread may read them and wait for them.

Must not know: Trio, what an exchange is.
"""

import threading

from chaosproxy.journal.record import ExchangeRecord


class Finished:
    """Filled by the proxy's thread. A record in it does not change any more."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._records: list[ExchangeRecord] = []
        self._closed = False
        self._before = 0

    def __call__(self, record: ExchangeRecord) -> None:
        """An exchange has finished: the journal's listener."""
        with self._changed:
            if self.counts(record):
                self._records.append(record)
            self._changed.notify_all()

    def clear(self, before: int) -> None:
        """Forget them, and the running ones, up to that number."""
        with self._changed:
            self._before = before
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
        """Those so far, oldest first; a copy."""
        with self._changed:
            return list(self._records)

    def wait(self, count: int, timeout: float) -> bool:
        """Until there are `count`, at most `timeout` seconds, and no longer than more can come; whether they are there."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._records) >= count or self._closed, timeout)
            return len(self._records) >= count
