"""Lines to whoever reads them, without ever waiting for it: a pipe whose reader has stopped, a terminal that is held.

What is not taken at once is kept, up to ROOM, and written by a thread that is there only as long as somebody is slow. What is
more is left out, a line whole or not at all, and counted. Must not know: what a line says.
"""

import contextlib
import os
import select
import stat
import threading
import time
from collections import deque
from pathlib import Path

from chaosproxy.embedded.unread import close_pipe

ROOM = 1024 * 1024
"""Bytes of lines that wait for a reader."""
PART = 4096
"""A pipe that is said to be writable takes so much without waiting (PIPE_BUF of Linux; elsewhere it is no more)."""

LOOK = 0.1
"""Seconds between looks whether a reader that is waited for is waited for no more."""


class Outlet:
    """One descriptor, which stays its owner's."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        # Of a file on a disk there is no reader, and no system can tell whether it would wait.
        self._read = os.name == "posix" and not stat.S_ISREG(os.fstat(descriptor).st_mode)
        # A terminal that is said to be writable may take one byte and wait with the second.
        self._by_thread = self._read and os.isatty(descriptor)
        self._changed = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._writing = False
        """There is a thread."""
        self._over = False
        self._failed: OSError | None = None
        self.lost = 0
        """Lines that were left out and of which no OSError has told."""

    def write(self, line: bytes) -> None:
        """A line, as soon as its reader takes it. OSError if there is none any more, or no room on a device."""
        with self._changed:
            if self._failed is not None:
                error, self._failed = self._failed, None
                raise error
            rest = line if self._waiting or self._over or self._by_thread else self._at_once(line)
            if not rest:
                return
            if self._over or (self._waiting and self._size + len(line) > ROOM):
                self.lost += 1
                return
            self._waiting.append(rest)
            self._size += len(rest)
            self._start()

    def finish(self, within: float) -> None:
        """Wait so many seconds for a slow reader, and two looks; what it has not taken then is lost. The descriptor may be
        closed now."""
        with self._changed:
            if self._waiting:
                self._start()
            self._changed.wait_for(lambda: not self._writing, within)
            if self._waiting:
                self._over = True
                self._lose()
                self._changed.wait_for(lambda: not self._writing, 2 * LOOK)  # it sees that; on a terminal it may not

    def close_pipe(self, descriptor: int, path: Path) -> int:
        """Close it, which is of the named pipe there, for reading too; how many lines nobody can read any more."""
        return close_pipe(descriptor, path)

    def _at_once(self, line: bytes) -> bytes:
        """What is left of it."""
        done = 0
        with contextlib.suppress(BlockingIOError):  # whom we share it with has made it so
            while done < len(line) and (not self._read or _takes(self.descriptor, 0)):
                done += os.write(self.descriptor, line[done : done + PART] if self._read else line[done:])
        return line[done:]

    def _start(self) -> None:
        """The thread, if there is none; where no thread can be had the lines wait for the next one to try again."""
        if self._writing:
            return
        own = self.descriptor
        with contextlib.suppress(OSError):  # no descriptor is left: its owner's will do
            own = os.dup(own)  # the owner may close its own while we write, and a connection get the number
        self._writing = True
        try:
            threading.Thread(target=self._go_on, args=(own,), name="chaosproxy output", daemon=True).start()
        except RuntimeError:
            self._end(own)

    def _end(self, own: int) -> None:
        if own != self.descriptor:
            os.close(own)
        self._writing = False
        self._changed.notify_all()

    def _go_on(self, own: int) -> None:
        """The thread. Nothing is locked while it waits: a terminal may take years."""
        while part := self._next(own):
            if not _takes(own, LOOK):
                continue
            written, failed = 0, None
            try:
                written = os.write(own, part)
            except BlockingIOError:
                time.sleep(LOOK)
            except OSError as error:
                failed = error
            self._put(written, failed)

    def _next(self, own: int) -> bytes:
        """Nothing at the end."""
        with self._changed:
            if self._waiting:
                return self._waiting[0][:PART]
            self._end(own)
            return b""

    def _put(self, written: int, failed: OSError | None) -> None:
        """So much of the first line is written."""
        with self._changed:
            if not self._waiting:  # nobody waits any more
                return
            if failed is not None:
                self._failed = failed
                self._lose()
                return
            self._size -= written
            line = self._waiting.popleft()
            if written < len(line):
                self._waiting.appendleft(line[written:])

    def _lose(self) -> None:
        self.lost += len(self._waiting)
        self._waiting.clear()
        self._size = 0


def _takes(descriptor: int, within: float) -> bool:
    """Whether a pipe takes PART bytes now, or within so many seconds. True too where it will fail, or no answer is known."""
    watch = select.poll()
    watch.register(descriptor, select.POLLOUT)
    return bool(watch.poll(within * 1000))


def outlets_of(*streams: object) -> list[Outlet | None]:
    """Those of stdout and stderr; one for both where both lead to one place. None where a stream is no descriptor, as under
    a test."""
    found: list[Outlet | None] = []
    for stream in streams:
        try:
            descriptor: int = stream.fileno()  # type: ignore[attr-defined] # whoever has none is answered so
            same = (one for one in found if one is not None and os.path.sameopenfile(one.descriptor, descriptor))
            found.append(next(same, None) or Outlet(descriptor))
        except (AttributeError, OSError, ValueError):
            found.append(None)
    return found
