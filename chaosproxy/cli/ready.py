"""The ready file: written whole when all listeners accept, removed at exit."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from chaosproxy import files
from chaosproxy.errors import UsageError


def check(path: Path | None, what: str = "the ready file") -> None:
    """UsageError if it cannot be written there; before anything is begun for it."""
    if path and not os.access(path.absolute().parent, os.W_OK):
        raise UsageError(f"cannot write {what} {path}: no such directory, or not writable")
    try:
        linked = path is not None and files.is_refused_link(path)
    except OSError as error:
        raise UsageError(f"cannot write {what} {path}: {error.strerror}") from error
    if linked:
        raise UsageError(f"cannot write {what} {path}: {files.LINKED}")


@contextlib.contextmanager
def ready_file(path: Path | None, urls: list[str], ca: Path | None = None) -> Iterator[Callable[[], None]]:
    """Yields what writes the file, whole at once; removes it at the end. What one that was killed has left is gone first."""
    part = None if path is None else path.with_name(path.name + ".part")

    def announce() -> None:
        if path is None or part is None:
            return
        ready = {"url": urls[0], "urls": urls, "admin": None, "pid": os.getpid(), "ca": str(ca) if ca else None}
        try:
            files.write(path, [json.dumps(ready) + "\n"])
        except OSError as error:
            raise UsageError(f"cannot write the ready file {path}: {error.strerror}") from error

    _remove(path)
    try:
        yield announce
    finally:
        _remove(path, part)


def _remove(*paths: Path | None) -> None:
    """Those that are there; a directory that has been taken away, or made read-only, is no reason to fail."""
    for path in paths:
        with contextlib.suppress(OSError):
            if path is not None:
                path.unlink()
