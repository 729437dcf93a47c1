"""The ready file: written whole when all listeners accept, removed at exit."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from chaosproxy.errors import UsageError


def check(path: Path | None, what: str = "the ready file") -> None:
    """UsageError if it cannot be written there; before anything is begun for it."""
    if path and not os.access(path.absolute().parent, os.W_OK):
        raise UsageError(f"cannot write {what} {path}: no such directory, or not writable")


@contextlib.contextmanager
def ready_file(path: Path | None, urls: list[str], ca: Path | None = None) -> Iterator[Callable[[], None]]:
    """Yields what writes the file, whole at once; removes it at the end."""

    def announce() -> None:
        if path is None:
            return
        ready = {"url": urls[0], "urls": urls, "admin": None, "pid": os.getpid(), "ca": str(ca) if ca else None}
        part = path.with_name(path.name + ".part")
        try:
            part.write_text(json.dumps(ready) + "\n")
            part.replace(path)
        except OSError as error:
            raise UsageError(f"cannot write the ready file {path}: {error.strerror}") from error

    try:
        yield announce
    finally:
        if path is not None:
            path.unlink(missing_ok=True)
