"""The latest finished exchanges: so many, and no more of their heads than that many would have.

A number alone bounds nothing: with a compression table a head of 64 KiB costs whoever sends it a few bytes (RFC 7541).
Must not know: who reads them.
"""

from collections import deque
from collections.abc import Iterator

from chaosproxy.journal.record import ExchangeRecord

EACH = 16 * 1024
"""Bytes of heads that an exchange may have, on the average."""
LEAST = 4 * 1024 * 1024
"""Bytes that there is room for in any case."""
FIELD = 200
"""Bytes that a field costs beside its text."""


class Kept:
    """A ring of the latest `limit` (None = all). The latest is kept whatever it is, unless nothing is."""

    def __init__(self, limit: int | None) -> None:
        self._records: deque[tuple[ExchangeRecord, int]] = deque()
        self._limit = limit
        self._size = 0

    def add(self, record: ExchangeRecord) -> None:
        """The oldest go, as far as it takes."""
        limit, records = self._limit, self._records
        if limit is None:
            records.append((record, 0))
            return
        size = _size(record)
        records.append((record, size))
        self._size += size
        most = max(LEAST, limit * EACH)
        while len(records) > limit or (self._size > most and len(records) > 1):
            self._size -= records.popleft()[1]

    def clear(self) -> None:
        self._records.clear()
        self._size = 0

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[ExchangeRecord]:
        """Oldest first."""
        return (record for record, _ in self._records)


def _size(record: ExchangeRecord) -> int:
    request = record.request
    fields = [*request.headers, *record.response.headers]
    text = sum([len(name) + len(value) for name, value in fields])
    return text + len(request.path) + len(request.query) + FIELD * len(fields)
