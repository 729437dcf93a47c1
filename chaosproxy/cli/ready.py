"""The ready file: written whole when all listeners accept, removed at exit.

Rules: one that another process has left is gone before anything is begun, so that nobody waits for that; at exit only what
we have written ourselves is removed.
"""

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from chaosproxy import files
from chaosproxy.errors import UsageError

_FIELDS = {"url", "urls", "admin", "pid", "ca"}
_MOST = 1024 * 1024
"""Bytes of a ready file, with room to spare."""


def check(path: Path | None, what: str = "the ready file") -> None:
    """UsageError if it cannot be written there; before anything is begun for it."""
    if path and not files.is_our_own(path) and not os.access(path.absolute().parent, os.W_OK):
        raise UsageError(f"cannot write {what} {path}: no such directory, or not writable")
    try:
        linked = path is not None and files.is_refused_link(path)
    except OSError as error:
        raise UsageError(f"cannot write {what} {path}: {error.strerror}") from error
    if linked:
        raise UsageError(f"cannot write {what} {path}: {files.LINKED}")


def check_ready(path: Path | None) -> None:
    """`check`; and what a process that was killed has left there is taken away."""
    check(path)
    if path is not None and _is_one(_content(path)):
        _remove(path)


@contextlib.contextmanager
def ready_file(path: Path | None, urls: list[str], ca: Path | None = None) -> Iterator[Callable[[], None]]:
    """Yields what writes the file, whole at once; removes it at the end, if it is still that one."""
    ready = {"url": urls[0], "urls": urls, "admin": None, "pid": os.getpid(), "ca": str(ca) if ca else None}
    text = json.dumps(ready) + "\n"

    def announce() -> None:
        if path is None:
            return
        try:
            files.write(path, [text])
        except OSError as error:
            raise UsageError(f"cannot write the ready file {path}: {error.strerror}") from error

    try:
        yield announce
    finally:
        if path is not None and _holds(path, text.encode()):
            _remove(path)


def _content(path: Path) -> bytes:
    """Empty where there is no regular file, or none that can be read, or one of our own descriptors."""
    try:
        return b"" if path.is_symlink() or files.is_our_own(path) else files.read(path, _MOST)
    except OSError:
        return b""


def _holds(path: Path, content: bytes) -> bool:
    """Whether that is what stands there; without a look at a file of another size, however little memory is left."""
    try:
        found = path.lstat()
        return stat.S_ISREG(found.st_mode) and found.st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False


def _is_one(content: bytes) -> bool:
    try:
        ready = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(ready, dict) and ready.keys() == _FIELDS


def _remove(path: Path) -> None:
    """A directory that has been taken away, or made read-only, is no reason to fail."""
    with contextlib.suppress(OSError):
        path.unlink()
