"""The journal as a file of JSON lines: one object per finished exchange, flushed at once.

A line is whole or absent, also on a full disk: after a failed write the file is cut back to its last line feed, the
loss is counted and said once, and writing is tried again with the next exchange. What is no file on a disk, as a pipe, is
written as its reader takes it, and nobody waits for that. Must not know: what a record means, who fills it.
"""

import contextlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from chaosproxy import files
from chaosproxy.errors import UsageError
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.units import counted

LAST = 0.3
"""Seconds for the reader of a pipe at the end."""


def line(record: ExchangeRecord) -> str:
    """One line of JSON, without its line feed."""
    return as_line(record.as_json(), separators=(",", ":"))


def as_line(document: object, separators: tuple[str, str] | None = None) -> str:
    """JSON on one line of printable ASCII, in which nothing is an order to who runs a build (`##[error]`)."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=True, separators=separators)
    return text.replace("\x7f", "\\u007f").replace("##", "#\\u0023")


class Outlet(Protocol):
    """Lines to a reader who may be slow."""

    lost: int
    """Those that were left out."""

    def write(self, line: bytes) -> None:
        """OSError if there is no reader any more."""
        ...

    def finish(self, within: float) -> None:
        """Wait so many seconds for the reader."""
        ...

    def close_pipe(self, descriptor: int, path: Path) -> int:
        """Close it, which is of the named pipe there, for reading too; how many lines nobody can read any more."""
        ...


class JournalFile:
    """Writes each record it is called with."""

    def __init__(
        self, path: Path, complain: Callable[[str], None], outlet: Callable[[int], Outlet] | None = None
    ) -> None:
        """UsageError if the file cannot be opened for writing. `outlet` writes to what is no file on a disk, and waits for
        nobody; without one its reader is waited for."""
        try:
            # Opening a named pipe for writing alone waits for a reader.
            self._kept = path.is_fifo() and not files.is_our_own(path)
            access = os.O_RDWR if self._kept else os.O_WRONLY
            # At the end, wherever that is: somebody may have cut the file off meanwhile, to start anew.
            self._file = files.create(path, access | os.O_APPEND, mode=0o600)
        except OSError as error:
            raise UsageError(f"cannot write the journal {path}: {error.strerror}") from error
        on_a_disk = stat.S_ISREG(os.fstat(self._file).st_mode)
        self._outlet = None if outlet is None or on_a_disk else outlet(self._file)
        self._path = path
        self._complain = complain
        self._lost = 0
        self._unread = 0
        """Lines that were left in a named pipe."""
        self._torn = False
        """It ends in half a line, which could not be cut off."""

    @property
    def lost(self) -> int:
        """How many lines could not be written, or went where nobody reads them."""
        return self._lost + self._unread + (self._outlet.lost if self._outlet is not None else 0)

    def __call__(self, record: ExchangeRecord) -> None:
        data = line(record).encode("ascii") + b"\n"
        try:
            if self._outlet is not None:
                self._outlet.write(data)
            else:
                self._append(data)
        except OSError as error:
            self._lose(error)

    def _append(self, data: bytes) -> None:
        """All of it, or nothing."""
        data = b"\n" + data if self._torn else data
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError:
            with contextlib.suppress(OSError):
                end = os.fstat(self._file).st_size - written
                os.ftruncate(self._file, end)
                os.lseek(self._file, end, os.SEEK_SET)  # for /dev/stdout, which may not write at the end by itself
                written = 0
            self._torn = self._torn or written > 0
            raise
        self._torn = False

    def _lose(self, error: OSError) -> None:
        if not self._lost:
            self._complain(f"journal {self._path}: {error.strerror}; exchanges are being lost")
        self._lost += 1

    def close(self) -> None:
        """Nothing more comes. What a disk says only now, as one over a network may, is said and counted."""
        if self._outlet is not None:
            self._outlet.finish(LAST)
        try:
            if self._outlet is not None and self._kept:
                self._unread = self._outlet.close_pipe(self._file, self._path)
            else:
                os.close(self._file)
        except OSError as error:
            self._lose(error)
        unread = self._unread + (self._outlet.lost if self._outlet is not None else 0)
        if unread:
            self._complain(f"journal {self._path}: {counted(unread, 'exchange')} lost, which nobody read")
