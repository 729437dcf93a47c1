"""What is left in a named pipe at the end: nobody will have it, unless somebody has the pipe open to read.

Must not know: what a line says.
"""

import contextlib
import os
import select
from pathlib import Path

_PIECE = 65536


def close_pipe(descriptor: int, path: Path) -> int:
    """Close the last descriptor that we have of the pipe; how many lines were in it that nobody can read any more. It must be
    open to read too, which has kept the lines until now."""
    try:
        writing = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:  # its name is gone, or no descriptor left: what is in it cannot be known
        os.close(descriptor)
        return 0
    try:
        same = os.path.sameopenfile(writing, descriptor)
        os.close(descriptor)
        return _lines(path) if same and not _has_reader(writing) else 0
    finally:
        os.close(writing)


def _has_reader(writing: int) -> bool:
    watch = select.poll()
    watch.register(writing, 0)
    return not any(event & (select.POLLERR | select.POLLHUP) for _, event in watch.poll(0))


def _lines(path: Path) -> int:
    """A line of which half was read is one that nobody has."""
    count = 0
    with contextlib.suppress(OSError):
        reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while piece := pipe.read(_PIECE):
                count += piece.count(b"\n")
    return count
