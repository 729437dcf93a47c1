"""The journal as a file of JSON lines: one object per finished exchange, flushed at once.

A line is whole or absent, also on a full disk: after a failed write the file is cut back to its last line feed, the
loss is counted and said once, and writing is tried again with the next exchange.
Must not know: what a record means, who fills it.
"""

import contextlib
import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

from chaosproxy.errors import UsageError
from chaosproxy.journal.record import ExchangeRecord


def line(record: ExchangeRecord) -> str:
    """One line of JSON, without its line feed."""
    return as_line(record.as_json(), separators=(",", ":"))


def as_line(document: object, separators: tuple[str, str] | None = None) -> str:
    """JSON on one line of printable ASCII, in which nothing is an order to who runs a build (`##[error]`)."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=True, separators=separators)
    return text.replace("\x7f", "\\u007f").replace("##", "#\\u0023")


class JournalFile:
    """Writes each record it is called with. `lost` counts the lines that could not be written."""

    def __init__(self, path: Path, complain: Callable[[str], None]) -> None:
        """UsageError if the file cannot be opened for writing."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        if Path("/dev") not in path.parents:  # /dev/stdout is a link, and a fair place for a journal
            flags |= getattr(os, "O_NOFOLLOW", 0)
        try:
            self._file = os.open(path, flags, 0o600)
        except OSError as error:
            linked = error.errno == errno.ELOOP and path.is_symlink()
            reason = "a symbolic link is not followed; name the file itself" if linked else error.strerror
            raise UsageError(f"cannot write the journal {path}: {reason}") from error
        self._path = path
        self._complain = complain
        self._length = 0
        self.lost = 0

    def __call__(self, record: ExchangeRecord) -> None:
        data = line(record).encode("ascii") + b"\n"
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            if not self.lost:
                self._complain(f"journal {self._path}: {error.strerror}; exchanges are being lost")
            self.lost += 1
            # A pipe or a device cannot be cut back; a file can.
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._length)
                os.lseek(self._file, self._length, os.SEEK_SET)
            return
        self._length += len(data)

    def close(self) -> None:
        os.close(self._file)
